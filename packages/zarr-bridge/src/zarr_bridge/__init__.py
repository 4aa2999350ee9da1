"""Extensions and stores of zarr-python in zarr-core, and extensions of zarr-core in zarr-python."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zarr_bridge.zarr_python_codecs import adapt_to_zarr_python

__all__ = ["adapt_to_zarr_python"]


def __getattr__(name: str) -> Any:
    # zarr-python takes long to import, and entry points import this package.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from zarr_bridge import zarr_python_codecs

    return getattr(zarr_python_codecs, name)
