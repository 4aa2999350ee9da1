"""Zstandard contexts that each thread reuses, if ``zstandard`` is installed.

numcodecs creates a context for every call, which for a small chunk takes longer
than the compression.  Measured on one core, in microseconds, numcodecs and a
reused context: 2 KiB decoding 21 and 4, encoding 23 and 9; 64 KiB decoding 64 and
51, encoding 187 and 176; for 1 MiB numcodecs is faster because it decodes in place.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

SMALL = 1 << 17
"""Largest size in bytes for which a reused context is faster; it also limits its memory."""


@cache
def _library() -> Any:
    try:
        import zstandard  # optional dependency
    except ImportError:
        return None
    return zstandard


class _Contexts(threading.local):
    """Contexts of a thread; only one thread at a time may use a context."""

    decompressor: Any = None
    compressor: Any = None
    settings: tuple[int, bool] | None = None


_contexts = _Contexts()


def compress(data: Buffer, level: int, checksum: bool) -> bytes | None:
    """Compress to one frame; return None if the library is not installed."""
    library = _library()
    if library is None:
        return None
    if _contexts.settings != (level, checksum):
        _contexts.compressor = library.ZstdCompressor(level=level, write_checksum=checksum)
        _contexts.settings = (level, checksum)
    return _contexts.compressor.compress(data)  # type: ignore[no-any-return]  # bytes


def decompress_frame(data: Buffer) -> bytes | None:
    """Decompress data that is exactly one valid frame with a declared size other than 0.

    Parameters
    ----------
    data : Buffer
        The encoded bytes.  The declared size is allocated, so the caller must compare
        it with the expected size first.

    Returns
    -------
    bytes or None
        None if the data is anything else, or the library is not installed.
    """
    library = _library()
    if library is None:
        return None
    if _contexts.decompressor is None:
        _contexts.decompressor = library.ZstdDecompressor()
    try:
        whole: bytes = _contexts.decompressor.decompress(data, allow_extra_data=False)
    except library.ZstdError:
        return None
    # The library does not check what follows a header that declares 0 bytes.
    return whole or None
