"""What Python registers as an encoding, as a class of codecs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from zarr_core.extension import Buffer, BytesToBytesCodec, ChunkDecodeError, Provider

if TYPE_CHECKING:
    from codecs import CodecInfo
    from collections.abc import Callable


@dataclass(frozen=True)
class EncodingCodec(BytesToBytesCodec):
    """A codec without configuration; a subclass says which encoding it is."""

    encoding: ClassVar[CodecInfo]

    def encode(self, data: Buffer) -> bytes:
        return self._converted(self.encoding.encode, data)

    def decode(self, data: Buffer, decoded_size: int | None) -> bytes:
        # No check of sizes beforehand: of these encodings none makes more bytes than it is given.
        try:
            return self._converted(self.encoding.decode, data)
        except ValueError as error:  # binascii.Error is one
            raise ChunkDecodeError(f"is not encoded as {self.encoding.name}: {error}") from error

    def _converted(self, convert: Callable[..., Any], data: Buffer) -> bytes:
        converted: bytes = convert(bytes(data), "strict")[0]
        return converted


def codec_of(provider: Provider, found: Callable[[], CodecInfo]) -> type[EncodingCodec]:
    """The codec for what the target of a provider names; called when it is first used."""
    title = provider.name.removeprefix("python.").title()
    return type(f"{title}Codec", (EncodingCodec,), {"encoding": found()})
