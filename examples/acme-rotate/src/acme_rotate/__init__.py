"""Codec ``acme.rotate``: the bits of each byte rotated, in Python and in Cython."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from zarr_core.extension import Buffer, BytesToBytesCodec


@dataclass(frozen=True, slots=True)
class Rotate(BytesToBytesCodec):
    """Rotate the bits of each byte to the left.

    Parameters
    ----------
    bits : int
        By how many, from 0 to 7.
    """

    bits: int = 1

    def encode(self, data: Buffer, decoded_size: int | None) -> bytes:
        return bytes(data).translate(_table(self.bits))

    def decode(self, data: Buffer, decoded_size: int | None) -> bytes:
        return bytes(data).translate(_table(8 - self.bits))

    def encoded_size(self, decoded_size: int) -> int:
        return decoded_size

    def __zarr_codec_v1__(self, decoded_size: int | None) -> Any:
        """Return the native form; None if it was not compiled."""
        try:
            compiled = import_module("acme_rotate._rotate")
        except ImportError:
            return None
        return compiled.capsule(self.bits)


def _table(bits: int) -> bytes:
    return bytes((byte << bits | byte >> (8 - bits)) & 255 for byte in range(256))
