"""The module ``zarr.registry``: that of zarr-python, which has its codecs before they are requested."""

from __future__ import annotations

import functools
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__: list[str] = []

# In zarr-python, ``import zarr`` imports these modules, which register their classes.
_REGISTERING = ("zarr.codecs", "zarr.core.codec_pipeline", "zarr.core.buffer")


def extend(theirs: Any) -> None:
    """Make the functions that look for classes import the modules that register them."""
    for name, function in [*vars(theirs).items()]:
        if name.startswith("get_") and callable(function):
            setattr(theirs, name, _complete(function))


def _complete(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        for name in _REGISTERING:
            import_module(name)
        return function(*arguments, **options)

    return call
