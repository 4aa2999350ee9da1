"""Codecs from arrays to arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ArrayToArrayCodec, ExtensionDefinition
from zarr_core.selection.projection import take

from zarr_conformance.kit.codec import CodecTests
from zarr_conformance.kit.examples import check_examples
from zarr_conformance.kit.selections import some_selections

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.engine.chain import PreparedCodecChain

    Array = np.ndarray[Any, Any]


class ArrayToArrayCodecTests(CodecTests):
    """Inherit from this to test a codec from arrays to arrays, such as a filter.

    Examples
    --------
    >>> class TestNegate(ArrayToArrayCodecTests):
    ...     name = "acme.negate"
    ...     data_types = ["int16", "float32"]
    """

    def codecs(self, configuration: Mapping[str, Any], serializer: Any) -> list[Any]:
        return [ExtensionDefinition(self.name, configuration), serializer]

    def arguments(self, configuration: Mapping[str, Any], serializer: Any) -> dict[str, Any]:
        return {
            "filters": [ExtensionDefinition(self.name, configuration)],
            "serializer": serializer,
            "compressors": None,
        }

    def test_encode_matches_encoded_representation(self, configuration: Mapping[str, Any]) -> None:
        """``encode`` returns the shape and data type of ``encoded_representation``."""

        def check(case: tuple[PreparedCodecChain, Array]) -> None:
            chain, chunk = case
            if not chain.array_to_array:  # a memory layout may need none
                return
            codec = chain.array_to_array[0]
            promised = codec.encoded_representation(chain.decoded)
            encoded = codec.encode(chunk, chain.decoded)
            assert encoded.shape == promised.shape
            assert encoded.dtype == promised.data_type.numpy_dtype
            assert promised.fill_value.shape == ()
            assert promised.fill_value.dtype == promised.data_type.numpy_dtype
            before = encoded.copy()
            codec.decode(encoded, chain.decoded)
            assert encoded.tobytes() == before.tobytes(), "decode changed what it was given"

        check_examples(check, self._cases(configuration), self.examples)

    def test_partial_selection_matches_whole_array(self, configuration: Mapping[str, Any]) -> None:
        """``encoded_part`` selects the same elements of the encoded chunk."""

        def check(case: tuple[PreparedCodecChain, Array]) -> None:
            chain, chunk = case
            if not chain.array_to_array:  # as above
                return
            codec = chain.array_to_array[0]
            assert isinstance(codec, ArrayToArrayCodec)
            for selection in some_selections(chunk.shape):
                part = np.zeros(selection.shape, chunk.dtype)
                moved = codec.encoded_part(selection, part)
                if moved is None:
                    continue
                inner, view = moved
                view[...] = take(np.asarray(codec.encode(chunk, chain.decoded)), inner)
                expected = take(chunk, selection)
                assert self.same(part, np.asarray(expected)), f"part {selection}"

        check_examples(check, self._cases(configuration), self.examples)
