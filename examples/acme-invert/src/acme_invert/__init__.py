"""Codec ``acme.invert``: all bits of each byte inverted, in Python and in C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from zarr_core.extension import Buffer, BytesToBytesCodec

_INVERTED = bytes(255 - byte for byte in range(256))


@dataclass(frozen=True, slots=True)
class Invert(BytesToBytesCodec):
    """Invert all bits; its own inverse."""

    def encode(self, data: Buffer, decoded_size: int | None) -> bytes:
        return bytes(data).translate(_INVERTED)

    def decode(self, data: Buffer, decoded_size: int | None) -> bytes:
        return self.encode(data, decoded_size)

    def encoded_size(self, decoded_size: int) -> int:
        return decoded_size

    def __zarr_codec_v1__(self, decoded_size: int | None) -> Any:
        """Return the native form; None if it was not compiled."""
        try:
            from acme_invert import _invert
        except ImportError:
            return None
        return _invert.capsule()
