"""Base class of the codecs that add a checksum."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from zarr_core.extension import BytesToBytesCodec, ChecksumError, ChunkDecodeError

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

_SIZE = 4


class ChecksumCodec(BytesToBytesCodec):
    """Store the bytes with a little-endian checksum of 32 bits."""

    __slots__ = ()

    name: ClassVar[str]

    @abstractmethod
    def checksum(self, data: Buffer) -> int:
        """Return the checksum of the bytes."""

    @property
    def at_start(self) -> bool:
        """Whether the checksum precedes the bytes."""
        return False

    @property
    def detects_damage(self) -> bool:
        """Whether a checksum is stored: always True."""
        return True

    def encoded_size(self, decoded_size: int) -> int:
        """Return the decoded size plus 4 bytes."""
        return decoded_size + _SIZE

    def encode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Add the checksum."""
        checksum = (self.checksum(data) & 0xFFFFFFFF).to_bytes(_SIZE, "little")
        return b"".join((checksum, data) if self.at_start else (data, checksum))

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Verify the checksum; return a view of ``data`` without it."""
        size = len(data) - _SIZE
        if size < 0:
            raise ChunkDecodeError(
                f"{len(data)} bytes are too few for a checksum of {_SIZE} bytes", self.name
            )
        if decoded_size is not None and size != decoded_size:
            raise ChunkDecodeError(f"decodes to {size} bytes instead of {decoded_size}", self.name)
        view = memoryview(data)
        stored, content = view[size:], view[:size]
        if self.at_start:
            stored, content = view[:_SIZE], view[_SIZE:]
        expected, actual = int.from_bytes(stored, "little"), self.checksum(content) & 0xFFFFFFFF
        if expected != actual:
            raise ChecksumError(
                f"the stored checksum is {expected:#010x}, but the bytes have {actual:#010x}",
                self.name,
            )
        return content

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Verify the checksum and copy the content."""
        out[:] = self.decode(data, len(out))
