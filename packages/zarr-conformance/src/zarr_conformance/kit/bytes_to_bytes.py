"""Codecs from bytes to bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from zarr_core.extension import BytesToBytesCodec, ExtensionDefinition

from zarr_conformance.kit.codec import CodecTests
from zarr_conformance.kit.examples import check_examples

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hypothesis.strategies import SearchStrategy


class BytesToBytesCodecTests(CodecTests):
    """Inherit from this to test a codec from bytes to bytes, such as a compressor.

    Examples
    --------
    >>> class TestXor(BytesToBytesCodecTests):
    ...     name = "acme.xor"
    ...     configurations = [{}, {"key": 7}]
    """

    def contents(self, configuration: Mapping[str, Any]) -> SearchStrategy[bytes]:
        """Bytes that a configuration encodes; by default of any length."""
        return st.builds(
            lambda part, times: part * times, st.binary(max_size=60), st.integers(0, 30)
        )

    def codecs(self, configuration: Mapping[str, Any], serializer: Any) -> list[Any]:
        return [serializer, ExtensionDefinition(self.name, configuration)]

    def arguments(self, configuration: Mapping[str, Any], serializer: Any) -> dict[str, Any]:
        return {
            "filters": None,
            "serializer": serializer,
            "compressors": [ExtensionDefinition(self.name, configuration)],
        }

    def test_content_round_trip(self, configuration: Mapping[str, Any]) -> None:
        """Decoding returns the encoded bytes, with and without a known decoded size."""
        codec = self._codec(configuration)

        def check(content: bytes) -> None:
            size = codec.encoded_size(len(content))
            for decoded_size in (None, len(content)):
                encoded = bytes(codec.encode(content, decoded_size))
                assert size is None or size == len(encoded), "encoded_size promises another size"
                assert bytes(codec.decode(encoded, decoded_size)) == content
            out = bytearray(b"\xee" * len(content))
            codec.decode_into(encoded, memoryview(out))
            assert out == content

        check_examples(check, self.contents(configuration), self.examples)

    def test_encode_accepts_buffers_and_does_not_change_them(
        self, configuration: Mapping[str, Any]
    ) -> None:
        """``bytes``, ``bytearray`` and ``memoryview`` are accepted and not changed."""
        codec = self._codec(configuration)

        def check(content: bytes) -> None:
            encoded = bytes(codec.encode(memoryview(content), len(content)))
            for kind in (bytes, bytearray, memoryview, lambda data: memoryview(bytearray(data))):
                source, stored = kind(content), kind(encoded)
                assert (
                    bytes(codec.decode(codec.encode(source, len(content)), len(content))) == content
                )
                assert bytes(source) == content, "encode changed what it was given"
                assert bytes(codec.decode(stored, len(content))) == content
                assert bytes(stored) == encoded, "decode changed what it was given"

        check_examples(check, self.contents(configuration), max(self.examples // 3, 3))

    def _codec(self, configuration: Mapping[str, Any]) -> BytesToBytesCodec:
        codec = self.make(configuration)
        assert isinstance(codec, BytesToBytesCodec)
        return codec
