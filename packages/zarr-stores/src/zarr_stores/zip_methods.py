"""How values are compressed in zip archives.

Specification: PKWARE APPNOTE 6.3, sections 4.4.5 and 5.8 (LZMA).
"""

from __future__ import annotations

import importlib
import struct
import zlib
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED

from zarr_core.extension import StoreError, StoreReadError

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

__all__ = ["METHODS", "check_method", "decompress", "most_bytes"]

METHODS = {ZIP_STORED: "", ZIP_DEFLATED: "zlib", ZIP_BZIP2: "bz2", ZIP_LZMA: "lzma"}
"""Methods that are read and written, each with the module for it."""

# A bit of deflated data stands for at most 258 bytes in 2 bits: a ratio of 1032.
_DEFLATE_LIMIT = 1032
_LEAST_DICTIONARY = 1 << 12
_FAILURES = (zlib.error, OSError, EOFError, ValueError, struct.error)


def check_method(method: int, place: object) -> None:
    """Refuse a method in which values cannot be written.

    Raises
    ------
    StoreError
        If it is none, or this Python lacks the module for it.
    """
    if method not in METHODS:
        raise StoreError(
            "compression must be ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2 or ZIP_LZMA", store=place
        )
    if METHODS[method]:
        try:
            importlib.import_module(METHODS[method])
        except ImportError as error:
            raise StoreError(f"this Python was built without {METHODS[method]}", place) from error


def most_bytes(method: int, compressed_size: int) -> int | None:
    """How many bytes can come of so many; None where it is not worth saying."""
    return (compressed_size + 1) * _DEFLATE_LIMIT if method == ZIP_DEFLATED else None


def decompress(method: int, data: Buffer, length: int, size: int) -> bytes:
    """The beginning of a value.

    Parameters
    ----------
    method : int
        A method that compresses.
    data : Buffer
        All of the compressed value.
    length : int
        How many bytes of the value to make; no more are.
    size : int
        How many it has, by the directory.

    Raises
    ------
    StoreReadError
        If that cannot be done.
    """
    if not length:
        return b""
    try:
        module: Any = importlib.import_module(METHODS[method])
    except ImportError as error:
        raise StoreReadError(f"this Python was built without {METHODS[method]}") from error
    try:
        if method == ZIP_DEFLATED:
            made: bytes = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, length)
        elif method == ZIP_BZIP2:
            made = module.BZ2Decompressor().decompress(data, length)
        else:
            made = _of_lzma(module, memoryview(data), length, size)
    except (*_FAILURES, getattr(module, "LZMAError", zlib.error)) as error:
        raise StoreReadError(f"damaged archive: {error}") from error
    if len(made) != length:
        raise StoreReadError("damaged archive: the entry is shorter than it says")
    return made


def _of_lzma(lzma: Any, data: memoryview, length: int, size: int) -> bytes:
    """Of LZMA without a container: version, length of the properties (5), these, the data."""
    _, count, properties, dictionary = struct.unpack_from("<HHBL", data)
    if count != 5 or properties >= 9 * 5 * 5:
        raise ValueError("the properties of LZMA are none")
    rest, lc = divmod(properties, 9)
    pb, lp = divmod(rest, 5)
    # More than all bytes of the value is never looked back at, whatever is claimed.
    dictionary = max(_LEAST_DICTIONARY, min(dictionary, size))
    one = {"id": lzma.FILTER_LZMA1, "dict_size": dictionary, "lc": lc, "lp": lp, "pb": pb}
    decompressor = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[one])
    made: bytes = decompressor.decompress(data[9:], length)
    return made
