"""Codecs from arrays to bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import (
    BufferByteReader,
    ExtensionDefinition,
    PartialDecodeCodec,
    PartialEncodeCodec,
)
from zarr_core.selection.projection import put, take

from zarr_conformance.kit.codec import CodecTests
from zarr_conformance.kit.examples import check_examples
from zarr_conformance.kit.selections import some_selections

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.engine.chain import PreparedCodecChain

    Array = np.ndarray[Any, Any]


class ArrayToBytesCodecTests(CodecTests):
    """Inherit from this to test a codec from arrays to bytes.

    Examples
    --------
    >>> class TestPacked(ArrayToBytesCodecTests):
    ...     name = "acme.packed"
    ...     data_types = ["bool"]
    """

    def codecs(self, configuration: Mapping[str, Any], serializer: Any) -> list[Any]:
        return [ExtensionDefinition(self.name, configuration)]

    def arguments(self, configuration: Mapping[str, Any], serializer: Any) -> dict[str, Any]:
        return {
            "filters": None,
            "serializer": ExtensionDefinition(self.name, configuration),
            "compressors": None,
        }

    def test_partial_decode_matches_full_decode(self, configuration: Mapping[str, Any]) -> None:
        """Partial decoding returns the same elements as full decoding."""

        def check(case: tuple[PreparedCodecChain, Array]) -> None:
            chain, chunk = case
            codec = chain.array_to_bytes
            if not isinstance(codec, PartialDecodeCodec):
                return
            if not codec.supports_partial(chain.decoded):
                return
            stored = _stored(codec.encode(chunk, chain.decoded))
            whole = np.asarray(chain.decode(stored))
            for selection in some_selections(chunk.shape):
                part = np.zeros(selection.shape, chunk.dtype)
                codec.partial_decode(BufferByteReader(stored), chain.decoded, selection, part)
                expected = np.asarray(take(whole, selection))
                assert self.same(part, expected), f"part {selection}"

        check_examples(check, self._cases(configuration), self.examples)

    def test_partial_encode(self, configuration: Mapping[str, Any]) -> None:
        """Partial encoding keeps the other elements; missing ones become the fill value."""

        def check(case: tuple[PreparedCodecChain, Array]) -> None:
            chain, chunk = case
            codec = chain.array_to_bytes
            if not isinstance(codec, PartialEncodeCodec):
                return
            if not codec.supports_partial(chain.decoded):
                return
            stored = _stored(codec.encode(chunk, chain.decoded))
            empty = np.full(chunk.shape, chain.decoded.fill_value, chunk.dtype)
            for before, reader in ((chunk, BufferByteReader(stored)), (empty, None)):
                for selection in some_selections(chunk.shape):
                    value = np.full(selection.shape, chunk.reshape(-1)[0], chunk.dtype)
                    expected = before.copy()
                    put(expected, selection, value)
                    changed = codec.partial_encode(reader, chain.decoded, selection, value)
                    decoded = np.asarray(chain.decode(_stored(changed)))
                    where = "in a chunk" if reader else "where nothing is stored"
                    assert self.same(decoded, expected), f"part {selection} {where}"

        check_examples(check, self._cases(configuration), max(self.examples // 3, 3))


def _stored(pieces: Any) -> bytes:
    assert pieces is not None, "encode gave None for a chunk that is to be kept"
    return b"".join(pieces) if isinstance(pieces, list | tuple) else bytes(pieces)
