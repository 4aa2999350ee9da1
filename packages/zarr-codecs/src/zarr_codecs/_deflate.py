"""What codecs of DEFLATE have in common, whichever library does the work.

libdeflate (the package ``deflate``) decompresses where it is installed, the standard
library otherwise.  Measured on one core with 64 KiB of an int32 random walk, level 5, in
microseconds: encoding 483 with libdeflate (17.6 kB), 1114 with zlib (19.0 kB);
decoding 48 with libdeflate, 64 with isal, 140 with zlib.
"""

from __future__ import annotations

import zlib
from abc import abstractmethod
from functools import cache, partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from zarr_core.extension import BytesToBytesCodec, ChunkDecodeError

from zarr_codecs import _streams

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from zarr_core.extension import Buffer

_MOST = 1032  # bytes that DEFLATE gives for one


class Container(NamedTuple):
    """What stands around a DEFLATE stream.

    Parameters
    ----------
    name : str
        The codec; for messages.
    wbits : int
        zlib's number for it, with a window of 32 KiB.
    levels : range
        Those that may be asked for; 0 stores the bytes as they are.
    several : bool
        Whether one may follow the other.
    """

    name: str
    wbits: int
    levels: range
    several: bool


GZIP = Container("gzip", 31, range(10), several=True)
"""RFC 1952; the levels of the specification's gzip codec."""

ZLIB = Container("numcodecs.zlib", 15, range(-1, 10), several=False)
"""RFC 1950; -1 is the library's default."""


class DeflateCodec(BytesToBytesCodec):
    """Compress with DEFLATE; those derived from it are data classes with a level."""

    __slots__ = ()

    level: int
    container: ClassVar[Container]

    def __post_init__(self) -> None:
        levels = self.container.levels
        if type(self.level) is not int or self.level not in levels:
            raise ValueError(
                f"level must be an integer from {levels[0]} to {levels[-1]}, not {self.level!r}"
            )

    @property
    def detects_damage(self) -> bool:
        """Whether streams carry a checksum: always."""
        return True

    @abstractmethod
    def encode(self, data: Buffer) -> Buffer:
        """Compress to one stream."""

    def decode_whole(self, data: Buffer, size: int) -> Buffer | None:
        """Decompress data that is exactly one sound stream of known size.

        Parameters
        ----------
        data : Buffer
            The encoded bytes.
        size : int
            Bytes that must come out, at least one; more is never allocated.

        Returns
        -------
        Buffer or None
            None if it is anything else, or no library can do it at once.
        """
        library = libdeflate()
        return None if library is None else library.decompressed(data, size, self.container)

    def pieces(self, data: Buffer) -> Iterator[bytes]:
        """Decompress any streams piece by piece."""
        name, wbits, _, several = self.container
        new = partial(zlib.decompressobj, wbits)
        return _streams.inflated(data, new, zlib.error, several, name)

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Decompress all streams."""
        name = self.container.name
        if decoded_size:
            if decoded_size > _MOST * len(data):
                raise ChunkDecodeError(
                    f"{len(data)} bytes of DEFLATE cannot hold {decoded_size} bytes", name
                )
            whole = self.decode_whole(data, decoded_size)
            if whole is not None:
                return whole
        return _streams.gather(self.pieces(data), decoded_size, name)

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Decompress all streams into memory of exactly the decoded size."""
        whole = self.decode_whole(data, len(out)) if len(out) else None
        if whole is None:
            _streams.fill(out, self.pieces(data), self.container.name)
        else:
            out[:] = whole


@cache
def libdeflate() -> ModuleType | None:
    """The module that works with libdeflate; None if that is not installed."""
    try:
        from zarr_codecs import libdeflate  # noqa: PLC0415 - lazy: optional
    except ImportError:
        return None
    return libdeflate
