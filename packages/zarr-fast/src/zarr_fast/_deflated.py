"""What codecs of DEFLATE have in common, whichever library does the work."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from zarr_core.extension import BytesToBytesCodec, ChunkDecodeError

from zarr_fast import _streams

if TYPE_CHECKING:
    from collections.abc import Iterator

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

    @abstractmethod
    def decode_whole(self, data: Buffer, size: int) -> Buffer | None:
        """Decompress data that is exactly one sound stream of known size; None if it is not.

        Never more than ``size`` bytes may be allocated.
        """

    @abstractmethod
    def pieces(self, data: Buffer) -> Iterator[bytes]:
        """Decompress any streams piece by piece."""

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Decompress all streams."""
        if decoded_size is None:
            return b"".join(self.pieces(data))
        name = self.container.name
        if decoded_size > _MOST * len(data):
            raise ChunkDecodeError(
                f"{len(data)} bytes of DEFLATE cannot hold {decoded_size} bytes", name
            )
        whole = self.decode_whole(data, decoded_size) if decoded_size else None
        if whole is None:
            whole = bytearray(decoded_size)
            _streams.fill(memoryview(whole), self.pieces(data), name)
        return whole

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Decompress all streams into memory of exactly the decoded size."""
        whole = self.decode_whole(data, len(out)) if len(out) else None
        if whole is None:
            _streams.fill(out, self.pieces(data), self.container.name)
        else:
            out[:] = whole
