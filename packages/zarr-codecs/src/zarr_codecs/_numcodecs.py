"""Interface to numcodecs; the only module that imports it, on first use."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from zarr_core.extension import CodecError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from zarr_core.extension import JSON, Buffer


_COUNT = 4  # bytes of the number of elements of variable length
_BATCH = 1 << 12  # elements of variable length that are encoded at once, in the cache


@cache
def _library() -> Any:
    try:
        import numcodecs  # slow to import
        import numcodecs.fletcher32
        import numcodecs.jenkins
        import numcodecs.registry
    except Exception as error:  # its many dependencies may raise anything
        raise CodecError(
            "cannot import numcodecs, which the codec requires "
            f"({type(error).__name__}: {error}). Repair or reinstall numcodecs."
        ) from error
    # With its own threads c-blosc takes a lock for the whole process, and chunks
    # would wait for each other.
    library: Any = numcodecs
    library.blosc.use_threads = False
    return library


@cache
def _vlen(name: str) -> Any:
    return getattr(_library(), name)()


# --- compressors ---


def blosc_libraries() -> list[str]:
    """Return the names of the compressors in this build of c-blosc."""
    return _library().blosc.list_compressors()  # type: ignore[no-any-return]  # list of str


def blosc_compress(
    data: Buffer, cname: str, clevel: int, shuffle: int, blocksize: int, typesize: int
) -> bytes:
    """Compress to one Blosc frame; ``shuffle`` is 0 (none), 1 (bytes) or 2 (bits)."""
    arguments: list[Any] = [data, cname.encode(), clevel, shuffle, blocksize]
    if release() >= (0, 16):
        arguments.append(typesize)
    elif len(data) % typesize == 0:
        from numpy import frombuffer

        arguments[0] = frombuffer(data, f"V{typesize}")  # whose item size is taken
    return _library().blosc.compress(*arguments)  # type: ignore[no-any-return]  # bytes


@cache
def release() -> tuple[int, ...]:
    """Return the release of numcodecs; 0.15 is the newest that zarr-python 2 accepts."""
    return tuple(int(part) for part in _library().__version__.split(".") if part.isdecimal())


def blosc_decompress(data: Buffer, out: memoryview | None = None) -> Buffer:
    """Decompress one Blosc frame with a validated header, into ``out`` if it is given."""
    return _library().blosc.decompress(data, out)  # type: ignore[no-any-return]  # bytes or out


def zstd_compress(data: Buffer, level: int, checksum: bool) -> bytes:
    """Compress to one Zstandard frame that declares its content size."""
    return _library().zstd.compress(data, level, checksum)  # type: ignore[no-any-return]  # bytes


def zstd_decompress(data: Buffer, out: memoryview | None = None) -> Buffer:
    """Decompress Zstandard frames with a validated structure, into memory of exactly their size."""
    return _library().zstd.decompress(data, out)  # type: ignore[no-any-return]  # bytes or out


def lz4_compress(data: Buffer, acceleration: int) -> bytes:
    """Compress to the decoded size in four bytes, followed by one LZ4 block."""
    return _library().lz4.compress(data, acceleration)  # type: ignore[no-any-return]  # bytes


def lz4_decompress(data: Buffer, out: memoryview | None = None) -> Buffer:
    """Decompress an LZ4 block that follows its size, which is validated and not 0.

    ``out`` is memory of exactly that size.
    """
    return _library().lz4.decompress(data, out)  # type: ignore[no-any-return]  # bytes or out


# --- checksums ---


def fletcher32(data: Buffer) -> int:
    """Return the Fletcher checksum of HDF5."""
    if not len(data):
        return 0  # numcodecs does not accept empty data
    sealed = _library().fletcher32.Fletcher32().encode(data)
    return int.from_bytes(sealed[-4:], "little")


def jenkins_lookup3(data: Buffer, initval: int) -> int:
    """Return the "lookup3" hash of Bob Jenkins."""
    return _library().jenkins.jenkins_lookup3(data, initval)  # type: ignore[no-any-return]  # int


# --- elements of variable length ---


def vlen_encode(name: str, elements: np.ndarray[Any, Any]) -> Buffer:
    """Encode strings or bytes with ``VLenUTF8`` or ``VLenBytes``; TypeError for other elements."""
    encode = _vlen(name).encode
    flat = elements.reshape(-1)
    parts: list[Buffer] = [len(flat).to_bytes(_COUNT, "little")]
    for start in range(0, len(flat), _BATCH):
        # Objects: numcodecs converts other elements twice.  A copy: it requires writable memory.
        batch = flat[start : start + _BATCH].astype(object)
        parts.append(memoryview(encode(batch))[_COUNT:])
    return b"".join(parts)


def vlen_decode(name: str, data: Buffer) -> np.ndarray[Any, Any]:
    """Decode strings or bytes with a validated number of elements.

    numcodecs compares every length with the remaining data, so it never allocates
    more than the data can fill.
    """
    return _vlen(name).decode(data)  # type: ignore[no-any-return]  # one dimension, objects


# --- any codec ---


def has_codec(identifier: str) -> bool:
    """Return whether numcodecs has a codec with this ``id``, or an entry point for it."""
    registry = _library().registry
    return identifier in registry.codec_registry or identifier in registry.entries


def get_codec(configuration: Mapping[str, JSON]) -> Any:
    """Return the codec of numcodecs for a configuration for which :func:`has_codec` is true."""
    return _library().get_codec(dict(configuration))
