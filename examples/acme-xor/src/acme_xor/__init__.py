"""Codec ``acme.xor``: exclusive or of each byte with a key."""

from __future__ import annotations

from dataclasses import dataclass

from zarr_core.extension import Buffer, BytesToBytesCodec


@dataclass(frozen=True, slots=True)
class Xor(BytesToBytesCodec):
    """Exclusive or with a key; its own inverse.

    Parameters
    ----------
    key : int
        From 0 to 255.
    """

    key: int = 90

    def encode(self, data: Buffer, decoded_size: int | None) -> bytes:
        return bytes(data).translate(bytes(byte ^ self.key for byte in range(256)))

    def decode(self, data: Buffer, decoded_size: int | None) -> bytes:
        return self.encode(data, decoded_size)

    def encoded_size(self, decoded_size: int) -> int:
        return decoded_size
