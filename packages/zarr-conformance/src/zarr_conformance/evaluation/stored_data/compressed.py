"""Strict decoders of bytes -> bytes codecs, which also compare headers with the metadata."""

from __future__ import annotations

import bz2
import lzma
import struct
import zlib
from importlib import import_module
from typing import TYPE_CHECKING, Any

from zarr_conformance.checksum import checksum
from zarr_conformance.evaluation.stored_data.errors import StoredDataError

if TYPE_CHECKING:
    from collections.abc import Callable

_INCOMPRESSIBLE = 0.5
"""Data that zlib compresses to less than this fraction must not be stored uncompressed."""


_SMALL = 128  # bytes; compressors leave less as it is


def decode_gzip(data: bytes, level: int | None) -> bytes:
    """Decode gzip members (RFC 1952); level 0 stores blocks, another level compresses them."""
    decoded, members = b"", 0
    while data:
        if data[:2] != b"\x1f\x8b":
            at = "it begins with" if not members else "a member is followed by"
            raise StoredDataError(f"gzip: {at} {data[:2].hex()}, not with 1f8b")
        if data[3] & 0xE0:
            raise StoredDataError("gzip: a reserved flag is set")
        decoded_member, rest = _inflate(data, 31, "gzip")
        decoded += decoded_member
        if decoded_member:
            start = data[10 : len(data) - len(rest)]
            if not data[3]:  # without optional fields
                _check_level("gzip", level, start[0] >> 1 & 3, start, decoded_member)
        data, members = rest, members + 1
    if not members:
        raise StoredDataError("gzip: the chunk is empty")
    return decoded


def decode_zlib(data: bytes, level: int | None) -> bytes:
    """Decode a zlib stream (RFC 1950)."""
    decoded, rest = _inflate(data, 15, "zlib")
    if rest:
        raise StoredDataError(f"zlib: {len(rest)} bytes follow the stream")
    if decoded:
        _check_level("zlib", level, data[2] >> 1 & 3, data, decoded)
    return decoded


def _inflate(data: bytes, wbits: int, name: str) -> tuple[bytes, bytes]:
    unpacker = zlib.decompressobj(wbits)
    try:
        decoded = unpacker.decompress(data)
    except zlib.error as error:
        raise StoredDataError(f"{name}: {error}") from error
    if not unpacker.eof:
        raise StoredDataError(f"{name}: the stream is incomplete")
    return decoded, unpacker.unused_data


def _check_level(
    name: str, level: int | None, block_type: int, encoded: bytes, decoded: bytes
) -> None:
    """Compare the type of the first DEFLATE block with the level; 0 is stored (RFC 1951)."""
    if level == 0 and block_type != 0:
        raise StoredDataError(f"{name}: the level is 0, but the data is compressed")
    if level and len(encoded) > len(decoded) and _is_compressible(decoded):
        raise StoredDataError(f"{name}: the level is {level}, but the data is not compressed")


def _is_compressible(decoded: bytes) -> bool:
    if len(decoded) < _SMALL:
        return False
    return len(zlib.compress(decoded, 1)) < _INCOMPRESSIBLE * len(decoded)


# --- zstd ---

_MAGIC = b"\x28\xb5\x2f\xfd"


def decode_zstd(data: bytes, checked: bool | None) -> bytes:
    """Decode Zstandard frames (RFC 8878); compare whether they have a checksum."""
    decompress = import_module("numcodecs.zstd").decompress
    decoded = b""
    if not data:
        raise StoredDataError("zstd: the chunk is empty")
    while data:
        if 0x184D2A50 <= int.from_bytes(data[:4], "little") <= 0x184D2A5F:
            data = data[8 + int.from_bytes(data[4:8], "little") :]
            continue
        if data[:4] != _MAGIC:
            raise StoredDataError(f"zstd: {data[:4].hex()} where a frame begins")
        size, has_checksum = _zstd_frame(data)
        if checked is not None and has_checksum != checked:
            raise StoredDataError(
                f"zstd: checksum is {str(checked).lower()}, "
                f"but the frame has {'a' if has_checksum else 'no'} checksum"
            )
        try:
            decoded += bytes(decompress(data[:size]))
        except (RuntimeError, ValueError) as error:
            raise StoredDataError(f"zstd: {error}") from error
        data = data[size:]
    return decoded


def _zstd_frame(data: bytes) -> tuple[int, bool]:
    """Return the size of the frame at the start, and whether it has a checksum."""
    try:
        descriptor = data[4]
        if descriptor & 0x08:
            raise StoredDataError("zstd: a reserved bit is set")
        single, has_checksum = bool(descriptor & 0x20), bool(descriptor & 0x04)
        dictionary = (0, 1, 2, 4)[descriptor & 3]
        content = (1 if single else 0, 2, 4, 8)[descriptor >> 6]
        at = 5 + (not single) + dictionary + content
        last = False
        while not last:
            header = int.from_bytes(data[at : at + 3], "little")
            if len(data) < at + 3:
                raise IndexError
            last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
            at += 3 + (1 if kind == 1 else size)
        at += 4 if has_checksum else 0
        if at > len(data):
            raise IndexError
    except IndexError:
        raise StoredDataError("zstd: the frame is incomplete") from None
    return at, has_checksum


# --- blosc ---

BLOSC_SHUFFLES = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}
_BLOSC_FORMATS = {"blosclz": 0, "lz4": 1, "lz4hc": 1, "snappy": 2, "zlib": 3, "zstd": 4}
_BLOSC_MIN = 128  # bytes; less are never compressed


def blosc_shuffle(number: Any, typesize: int) -> int:
    """Return the shuffle for a number in version 2; -1 depends on the size of an element."""
    if isinstance(number, bool) or number not in (-1, 0, 1, 2):
        raise StoredDataError(f"blosc: shuffle is {number!r}, not a number")
    return int(number) if number != -1 else 2 if typesize == 1 else 1


def decode_blosc(
    data: bytes, cname: str, clevel: int, shuffle: int, typesize: int, blocksize: int
) -> bytes:
    """Decode a Blosc frame; compare its header with the parameters.

    ``shuffle`` is 0, 1 (bytes) or 2 (bits).
    """
    if len(data) < 16:
        raise StoredDataError("blosc: the frame is shorter than its header")
    version, _, flags, stored_typesize, nbytes, stored_blocksize, cbytes = struct.unpack(
        "<BBBBIII", data[:16]
    )
    if cbytes != len(data):
        raise StoredDataError(f"blosc: the header has {cbytes} bytes, the chunk {len(data)}")
    if version != 2:
        raise StoredDataError(f"blosc: version {version} of the format")
    shuffles = (flags & 1) | (flags >> 1 & 2)
    if shuffles != shuffle:
        raise StoredDataError(f"blosc: the shuffle is {shuffles} instead of {shuffle}")
    if shuffle and 0 < typesize < 256 and stored_typesize != typesize:
        raise StoredDataError(f"blosc: the typesize is {stored_typesize} instead of {typesize}")
    if flags >> 5 != _BLOSC_FORMATS[cname] and not flags & 2:
        raise StoredDataError(f"blosc: the compressor is {flags >> 5}, not {cname}")
    decoded = _blosc_decompress(data)
    if len(decoded) != nbytes:
        raise StoredDataError(f"blosc: {len(decoded)} bytes instead of {nbytes}")
    if nbytes >= _BLOSC_MIN:
        is_copy = bool(flags & 2)
        if clevel == 0 and not is_copy:
            raise StoredDataError("blosc: clevel is 0, but the data is compressed")
        # At low levels, some compressors give up early.
        if clevel >= 5 and is_copy and _is_compressible(decoded):
            raise StoredDataError(f"blosc: clevel is {clevel}, but the data is not compressed")
        # For other compressors, c-blosc adapts the given size.
        exact = cname == "zstd" and clevel and blocksize % max(typesize, 1) == 0
        if exact and _BLOSC_MIN <= blocksize <= nbytes and stored_blocksize != blocksize:
            raise StoredDataError(
                f"blosc: the blocksize is {stored_blocksize} instead of {blocksize}"
            )
    return decoded


def _blosc_decompress(data: bytes) -> bytes:
    try:
        return bytes(import_module("numcodecs.blosc").decompress(data))
    except (RuntimeError, ValueError) as error:
        raise StoredDataError(f"blosc: {error}") from error


# --- checksums ---


def decode_crc32c(data: bytes) -> bytes:
    """Verify and remove a CRC-32C, which follows the data in little-endian order."""
    if len(data) < 4 or int.from_bytes(data[-4:], "little") != checksum(data[:-4]):
        raise StoredDataError("crc32c: the last four bytes are not the checksum")
    return data[:-4]


def _leading(name: str, function: Callable[[bytes], int]) -> Callable[[bytes], bytes]:
    def decode(data: bytes) -> bytes:
        if len(data) < 4 or int.from_bytes(data[:4], "little") != function(data[4:]):
            raise StoredDataError(f"{name}: the first four bytes are not the checksum")
        return data[4:]

    return decode


decode_crc32 = _leading("crc32", zlib.crc32)
decode_adler32 = _leading("adler32", zlib.adler32)


# --- further compressors of version 2 ---


def decode_lz4(data: bytes) -> bytes:
    """Decode an LZ4 block after its size of four bytes, as in numcodecs."""
    size = int.from_bytes(data[:4], "little")
    try:
        decoded = bytes(import_module("numcodecs.lz4").decompress(data))
    except (RuntimeError, ValueError) as error:
        raise StoredDataError(f"lz4: {error}") from error
    if len(data) < 4 or len(decoded) != size:
        raise StoredDataError(f"lz4: {len(decoded)} bytes instead of {size}")
    return decoded


def decode_bz2(data: bytes, level: int | None) -> bytes:
    """Decode a bzip2 stream, whose fourth byte is the level."""
    try:
        decoded = bz2.decompress(data)
    except (OSError, ValueError) as error:
        raise StoredDataError(f"bz2: {error}") from error
    if level is not None and data[3:4] != str(level).encode():
        raise StoredDataError(f"bz2: the level is {data[3:4]!r} instead of {level}")
    return decoded


def decode_lzma(data: bytes, parameters: dict[str, Any]) -> bytes:
    """Decode the container that ``format`` names."""
    container = parameters.get("format", lzma.FORMAT_XZ)
    raw = container == lzma.FORMAT_RAW
    try:
        return lzma.decompress(data, container, filters=parameters["filters"] if raw else None)
    except (lzma.LZMAError, ValueError, KeyError) as error:
        raise StoredDataError(f"lzma: {error}") from error
