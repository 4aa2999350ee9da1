"""Functions of optional distributions, loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

COPY_NAMES = ("convert", "copy", "copy_all", "copy_store", "move", "rename")
"""Names of ``zarr_core`` that zarr-transfer provides."""


def copy_function(
    name: str, module: str = "zarr_transfer", shown: str | None = None
) -> Callable[..., Any]:
    """Return a function of zarr-transfer, or a function that raises an error if it is missing.

    ``shown`` is the name for the error, if different.
    """
    try:
        import_module("zarr_transfer")
    except ModuleNotFoundError as error:
        if error.name != "zarr_transfer":
            raise

        def missing(*_: Any, **__: Any) -> Any:
            raise ModuleNotFoundError(
                f"{shown or name} needs zarr-transfer, which is not installed: pip install zarr-transfer",
                name="zarr_transfer",
            )

        missing.__name__ = missing.__qualname__ = name
        missing.__doc__ = f"Raise ``ModuleNotFoundError``: {name} needs zarr-transfer."
        return missing
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found
