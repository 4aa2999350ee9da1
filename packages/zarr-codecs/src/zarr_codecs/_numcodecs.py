"""The one door to numcodecs, imported when a chunk first needs it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from zarr_core.extension import CodecError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from zarr_core.extension import JSON, Buffer


@cache
def _library() -> Any:
    try:
        import numcodecs  # noqa: PLC0415 - lazy: it takes long to import
        import numcodecs.fletcher32  # noqa: PLC0415 - as above
        import numcodecs.jenkins  # noqa: PLC0415 - as above
        import numcodecs.registry  # noqa: PLC0415 - as above
    except Exception as error:  # numcodecs imports much, which may fail in any way
        raise CodecError(
            "the codec needs numcodecs, which cannot be imported "
            f"({type(error).__name__}: {error}). Repair or reinstall numcodecs."
        ) from error
    # With threads of its own c-blosc takes a lock for the whole process, and
    # our chunks would wait for each other.
    library: Any = numcodecs
    library.blosc.use_threads = False
    return library


@cache
def _blosc() -> Any:
    return _library().blosc


@cache
def _zstd() -> Any:
    return _library().zstd


@cache
def _lz4() -> Any:
    return _library().lz4


@cache
def _vlen(name: str) -> Any:
    return getattr(_library(), name)()


# --- compressors ---


def blosc_libraries() -> list[str]:
    """Names of the compressors that this build of c-blosc contains."""
    return _blosc().list_compressors()  # type: ignore[no-any-return]  # list of str


def blosc_compress(
    data: Buffer, cname: str, clevel: int, shuffle: int, blocksize: int, typesize: int
) -> bytes:
    """Compress to one Blosc frame; ``shuffle`` is 0 (none), 1 (bytes) or 2 (bits).

    Raises
    ------
    ValueError, RuntimeError
        If c-blosc lacks the compressor, or fails.
    """
    return _blosc().compress(  # type: ignore[no-any-return]  # bytes
        data, cname.encode(), clevel, shuffle, blocksize, typesize
    )


def blosc_decompress(data: Buffer, out: memoryview | None = None) -> Buffer:
    """Decompress one Blosc frame, whose header was checked before.

    Parameters
    ----------
    data : Buffer
        The frame.
    out : memoryview, optional
        Memory of the size that the header declares; fresh memory if not given.

    Raises
    ------
    RuntimeError
        If c-blosc cannot decompress it.
    """
    return _blosc().decompress(data, out)  # type: ignore[no-any-return]  # bytes or out


def zstd_compress(data: Buffer, level: int, checksum: bool) -> bytes:
    """Compress to one Zstandard frame that declares its content size."""
    return _zstd().compress(data, level, checksum)  # type: ignore[no-any-return]  # bytes


def zstd_decompress(data: Buffer, out: memoryview | None = None) -> Buffer:
    """Decompress Zstandard frames, whose structure was checked before.

    Parameters
    ----------
    data : Buffer
        The frames.
    out : memoryview, optional
        Memory of exactly the size of the content; fresh memory if not given.

    Raises
    ------
    RuntimeError, ValueError
        If they cannot be decompressed, or not to that size.
    """
    return _zstd().decompress(data, out)  # type: ignore[no-any-return]  # bytes or out


def lz4_compress(data: Buffer, acceleration: int) -> bytes:
    """Compress to the size in four bytes, then one LZ4 block."""
    return _lz4().compress(data, acceleration)  # type: ignore[no-any-return]  # bytes


def lz4_decompress(data: Buffer, out: memoryview | None = None) -> Buffer:
    """Decompress an LZ4 block after its size, which was checked before and is not 0.

    Parameters
    ----------
    data : Buffer
        Size and block.
    out : memoryview, optional
        Memory of exactly that size; fresh memory if not given.

    Raises
    ------
    RuntimeError, ValueError
        If it cannot be decompressed, or not to that size.
    """
    return _lz4().decompress(data, out)  # type: ignore[no-any-return]  # bytes or out


# --- checksums ---


def fletcher32(data: Buffer) -> int:
    """The Fletcher checksum of HDF5."""
    if not len(data):
        return 0  # of nothing, which numcodecs does not take
    sealed = _library().fletcher32.Fletcher32().encode(data)
    return int.from_bytes(sealed[-4:], "little")


def jenkins_lookup3(data: Buffer, initval: int) -> int:
    """The "lookup3" hash of Bob Jenkins."""
    return _library().jenkins.jenkins_lookup3(data, initval)  # type: ignore[no-any-return]  # int


# --- elements of variable length ---


def vlen_encode(name: str, elements: np.ndarray[Any, Any]) -> Buffer:
    """Encode strings or bytes by ``VLenUTF8`` or ``VLenBytes``.

    Raises
    ------
    TypeError
        If an element is something else.
    """
    if not elements.flags.writeable:
        # numcodecs asks for memory that may be written to, and does not write.
        elements = elements.view()
        try:
            elements.flags.writeable = True
        except ValueError:  # which is nobody's to write
            elements = elements.copy()
    return _vlen(name).encode(elements)  # type: ignore[no-any-return]  # bytearray


def vlen_decode(name: str, data: Buffer) -> np.ndarray[Any, Any]:
    """Decode strings or bytes; the number of elements was checked before.

    numcodecs compares every length with what is left of the data, so no more
    is allocated than there is.

    Raises
    ------
    ValueError
        If the data is cut short, or is no UTF-8.
    """
    return _vlen(name).decode(data)  # type: ignore[no-any-return]  # one dimension, objects


# --- any codec ---


def knows(identifier: str) -> bool:
    """Whether numcodecs has a codec of this ``id``, or finds one by an entry point."""
    registry = _library().registry
    return identifier in registry.codec_registry or identifier in registry.entries


def any_codec(configuration: Mapping[str, JSON]) -> Any:
    """Make the codec of numcodecs that a configuration of version 2 describes.

    Parameters
    ----------
    configuration : mapping
        With ``id``, which numcodecs :func:`knows`.
    """
    return _library().get_codec(dict(configuration))
