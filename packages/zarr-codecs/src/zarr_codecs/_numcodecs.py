"""The compressors of numcodecs, imported when the first chunk needs them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from zarr_core.extension import CodecError

if TYPE_CHECKING:
    from zarr_core.extension import Buffer


@cache
def _blosc() -> Any:
    try:
        import numcodecs.blosc as blosc  # noqa: PLC0415 - lazy: numcodecs takes long to import
    except Exception as error:  # numcodecs imports much, which may fail in any way
        raise _unusable("blosc", error) from error
    # With threads of its own c-blosc takes a lock for the whole process, and
    # our chunks would wait for each other.
    blosc.use_threads = False
    return blosc


@cache
def _zstd() -> Any:
    try:
        import numcodecs.zstd as zstd  # noqa: PLC0415 - lazy: numcodecs takes long to import
    except Exception as error:  # numcodecs imports much, which may fail in any way
        raise _unusable("zstd", error) from error
    return zstd


def _unusable(name: str, error: Exception) -> CodecError:
    return CodecError(
        f"the codec {name!r} needs numcodecs, which cannot be imported "
        f"({type(error).__name__}: {error}). Repair or reinstall numcodecs."
    )


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
