"""Modules that are those of zarr-python if it is installed, else those of this package."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

SUBSTITUTED_MODULES: Mapping[str, tuple[str, ...]] = {
    "zarr.codecs": ("codecs",),
    "zarr.codecs.numcodecs": ("codecs_numcodecs",),
    "zarr.core.buffer": ("buffer",),
    "zarr.core.dtype": ("data_types",),
    "zarr.core.metadata": ("metadata",),
    "zarr.core.sync": ("sync",),
    "zarr.dtype": ("data_types",),
    "zarr.testing": (),  # pytest loads it as a plugin if zarr-python is installed
}
"""Modules that describe arrays, with the modules of this package that replace them."""


def is_zarr_python_used() -> bool:
    """Return whether the modules that describe arrays are those of zarr-python."""
    zarr = sys.modules.get("zarr")
    return bool(getattr(zarr, "__zarr_python__", None))


def zarr_python_version() -> str | None:
    """Return the version of zarr-python if its modules are used."""
    from importlib.metadata import version  # slow to import

    return version("zarr") if is_zarr_python_used() else None


def interface_module(name: str) -> Any:
    """Return a module of :data:`SUBSTITUTED_MODULES`: of zarr-python, or of this package."""
    if is_zarr_python_used():
        return import_module(name)
    return import_module(f"zarr_compat.{SUBSTITUTED_MODULES[name][0]}")
