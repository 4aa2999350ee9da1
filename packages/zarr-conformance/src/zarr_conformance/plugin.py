"""A plugin of pytest that puts every case to an implementation in Python.

``pytest --zarr-conformance module:AdapterClass`` makes every case a test.  Without the option
it does nothing, and loads nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Say what the plugin takes."""
    group = parser.getgroup("zarr-conformance")
    group.addoption(
        "--zarr-conformance",
        metavar="MODULE:CLASS",
        help="put the cases of zarr-conformance to this adapter, each case a test",
    )
    group.addoption(
        "--zarr-conformance-only",
        action="append",
        default=[],
        metavar="TEXT",
        help="only cases with this id, or whose ids or clauses have it in them",
    )
    group.addoption(
        "--zarr-conformance-baseline",
        metavar="FILE",
        help="failures that are known (TOML): tests that have to fail",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Become active if there is an adapter."""
    if config.getoption("zarr_conformance"):
        made = import_module("zarr_conformance.plugin_cases").Cases(config)
        config.pluginmanager.register(made, "zarr-conformance-cases")
