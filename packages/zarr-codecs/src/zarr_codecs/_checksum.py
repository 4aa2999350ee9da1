"""What all codecs that add a checksum have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from zarr_core.extension import BytesToBytesCodec, ChecksumError, ChunkDecodeError

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

_SIZE = 4


class ChecksumCodec(BytesToBytesCodec):
    """Store the bytes with a checksum of 32 bits in little endian."""

    __slots__ = ()

    name: ClassVar[str]

    @abstractmethod
    def checksum(self, data: Buffer) -> int:
        """The checksum of bytes."""

    @property
    def at_start(self) -> bool:
        """Whether it stands before the bytes."""
        return False

    @property
    def detects_damage(self) -> bool:
        """Whether there is a checksum: always."""
        return True

    def encoded_size(self, decoded_size: int) -> int:
        """Four bytes more."""
        return decoded_size + _SIZE

    def encode(self, data: Buffer) -> Buffer:
        """Add the checksum."""
        checksum = (self.checksum(data) & 0xFFFFFFFF).to_bytes(_SIZE, "little")
        return b"".join((checksum, data) if self.at_start else (data, checksum))

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Verify the checksum; gives a view of ``data`` without it."""
        size = len(data) - _SIZE
        if size < 0:
            raise ChunkDecodeError(
                f"{len(data)} bytes; the checksum alone takes {_SIZE}", self.name
            )
        if decoded_size is not None and size != decoded_size:
            raise ChunkDecodeError(f"decodes to {size} bytes instead of {decoded_size}", self.name)
        view = memoryview(data)
        stored, content = view[size:], view[:size]
        if self.at_start:
            stored, content = view[:_SIZE], view[_SIZE:]
        expected, found = int.from_bytes(stored, "little"), self.checksum(content) & 0xFFFFFFFF
        if expected != found:
            raise ChecksumError(
                f"the stored checksum is {expected:#010x}, that of the bytes {found:#010x}",
                self.name,
            )
        return content

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Verify the checksum, and copy the bytes beside it."""
        out[:] = self.decode(data, len(out))
