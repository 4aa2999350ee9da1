"""A pytest plugin that runs the cases with a Python implementation.

With ``pytest --zarr-conformance module:AdapterClass`` every case is a test.  Without the option,
nothing is imported.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("zarr-conformance")
    group.addoption(
        "--zarr-conformance",
        metavar="MODULE:CLASS",
        help="run the cases of zarr-conformance as tests, with this adapter",
    )
    group.addoption(
        "--zarr-conformance-only",
        action="append",
        default=[],
        metavar="TEXT",
        help="only cases with this text in their id or clauses",
    )
    group.addoption(
        "--zarr-conformance-baseline",
        metavar="FILE",
        help="known failures (TOML), which are expected to fail",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Activate the plugin if an adapter is passed."""
    if config.getoption("zarr_conformance"):
        cases = import_module("zarr_conformance.plugin_cases").Cases(config)
        config.pluginmanager.register(cases, "zarr-conformance-cases")
