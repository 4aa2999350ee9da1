"""Codec classes for encodings of Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from zarr_core.extension import Buffer, BytesToBytesCodec, ChunkDecodeError, Provider

if TYPE_CHECKING:
    from codecs import CodecInfo
    from collections.abc import Callable


@dataclass(frozen=True)
class EncodingCodec(BytesToBytesCodec):
    """A codec without configuration; a subclass sets the encoding."""

    encoding: ClassVar[CodecInfo]

    def encode(self, data: Buffer, decoded_size: int | None) -> bytes:
        return self._converted(self.encoding.encode, data)

    def decode(self, data: Buffer, decoded_size: int | None) -> bytes:
        # Sizes are not checked first: the output of these decoders is never larger than the input.
        try:
            return self._converted(self.encoding.decode, data)
        except ValueError as error:  # binascii.Error is one
            raise ChunkDecodeError(f"is not encoded as {self.encoding.name}: {error}") from error

    def _converted(self, convert: Callable[..., Any], data: Buffer) -> bytes:
        converted: bytes = convert(bytes(data), "strict")[0]
        return converted


def codec_of(provider: Provider, found: Callable[[], CodecInfo]) -> type[EncodingCodec]:
    """Create the codec for a provider, on first use."""
    title = provider.name.removeprefix("python.").title()
    return type(f"{title}Codec", (EncodingCodec,), {"encoding": found()})
