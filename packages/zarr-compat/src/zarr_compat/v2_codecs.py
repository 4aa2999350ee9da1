"""Codecs of numcodecs, which zarr-python 2 has in the module ``zarr``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

__all__: list[str] = []

_NAMES = "AsType BZ2 Blosc Delta FixedScaleOffset GZip LZ4 LZMA Quantize Zlib Zstd"


def extend(module: ModuleType) -> None:
    """Add the classes of numcodecs to the module."""
    import numcodecs

    vars(module).update({name: getattr(numcodecs, name) for name in _NAMES.split()})
