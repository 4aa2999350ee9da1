"""Compression methods of zip archives.

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

__all__ = ["FAILURES", "METHODS", "check_method", "decompress", "max_decompressed_size"]

METHODS = {ZIP_STORED: "", ZIP_DEFLATED: "zlib", ZIP_BZIP2: "bz2", ZIP_LZMA: "lzma"}
"""Supported methods, each with its Python module."""

# Two bits of deflated data expand to at most 258 bytes: a ratio of 1032.
_DEFLATE_LIMIT = 1032
_LEAST_DICTIONARY = 1 << 12
FAILURES = (zlib.error, OSError, EOFError, ValueError, struct.error)
"""Errors of the modules for damaged data."""


def check_method(method: int, location: object) -> None:
    """Raise an error if a compression method is not supported.

    Raises
    ------
    StoreError
        If the method is unknown, or this Python was built without its module.
    """
    if method not in METHODS:
        raise StoreError(
            "compression must be ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2 or ZIP_LZMA", store=location
        )
    if METHODS[method]:
        try:
            importlib.import_module(METHODS[method])
        except ImportError as error:
            raise StoreError(
                f"this Python was built without {METHODS[method]}", location
            ) from error


def max_decompressed_size(method: int, compressed_size: int) -> int | None:
    """Return the maximum decompressed size; None if there is no useful limit."""
    return (compressed_size + 1) * _DEFLATE_LIMIT if method == ZIP_DEFLATED else None


def decompress(method: int, data: Buffer, length: int, size: int) -> bytes:
    """Decompress the start of a value.

    Parameters
    ----------
    method : int
        Compression method, not ``ZIP_STORED``.
    data : Buffer
        The whole compressed value.
    length : int
        Number of bytes to decompress.
    size : int
        Size of the value in the central directory.

    Raises
    ------
    StoreReadError
        If the data is damaged, or this Python was built without the module of the method.
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
            made = _decompress_lzma(module, memoryview(data), length, size)
    except (*FAILURES, getattr(module, "LZMAError", zlib.error)) as error:
        raise StoreReadError(f"damaged archive: {error}") from error
    if len(made) != length:
        raise StoreReadError("damaged archive: the entry is shorter than its size")
    return made


def _decompress_lzma(lzma: Any, data: memoryview, length: int, size: int) -> bytes:
    """Decompress LZMA: version, length of the properties (5), properties, data."""
    _, count, properties, dictionary = struct.unpack_from("<HHBL", data)
    if count != 5 or properties >= 9 * 5 * 5:
        raise ValueError("the LZMA properties are not valid")
    rest, lc = divmod(properties, 9)
    pb, lp = divmod(rest, 5)
    # The dictionary is never larger than the value; a false size must not allocate memory.
    dictionary = max(_LEAST_DICTIONARY, min(dictionary, size))
    one = {"id": lzma.FILTER_LZMA1, "dict_size": dictionary, "lc": lc, "lp": lp, "pb": pb}
    decompressor = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[one])
    made: bytes = decompressor.decompress(data[9:], length)
    return made
