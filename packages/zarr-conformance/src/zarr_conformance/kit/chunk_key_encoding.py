"""Chunk key encodings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import zarr_core as zarr
from hypothesis import strategies as st
from zarr_core.extension import ChunkKeyEncoding, ExtensionDefinition, check_key

from zarr_conformance.kit.examples import check_examples
from zarr_conformance.kit.extension import ExtensionTests

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hypothesis.strategies import SearchStrategy


class ChunkKeyEncodingTests(ExtensionTests):
    """Inherit from this to test a chunk key encoding.

    Examples
    --------
    >>> class TestHashed(ChunkKeyEncodingTests):
    ...     name = "acme.hashed"
    ...     configurations = [{}, {"digits": 3}]
    """

    extension_point = "chunk_key_encoding"

    def dimensions(self, configuration: Mapping[str, Any]) -> range:
        """Numbers of dimensions that a configuration supports."""
        return range(5)

    def chunks(self, configuration: Mapping[str, Any]) -> SearchStrategy[tuple[int, ...]]:
        """Grid coordinates of chunks."""
        number = st.integers(0, 12) | st.integers(0, 2**53)
        return st.sampled_from(self.dimensions(configuration)).flatmap(
            lambda ndim: st.tuples(*[number] * ndim)
        )

    def array(self, configuration: Mapping[str, Any]) -> zarr.Array:
        """A small array in memory with the encoding."""
        ndim = max(n for n in self.dimensions(configuration) if n < 4)
        return zarr.create_array(
            shape=(3,) * ndim,
            chunks=(2,) * ndim,
            dtype="int16",
            compressors=None,
            chunk_key_encoding=ExtensionDefinition(self.name, configuration),
        )

    def test_encoding_equality(self, configuration: Mapping[str, Any]) -> None:
        """Encodings with the same configuration are equal."""
        one: Any = self.make(configuration)
        assert isinstance(one, ChunkKeyEncoding)
        assert one == self.make(configuration)
        other: object = self.name
        assert one != other

    def test_decode_inverts_encode(self, configuration: Mapping[str, Any]) -> None:
        """Keys are valid for stores, and ``decode`` returns the chunk that was encoded."""
        encoding = self.make(configuration)

        def check(chunk: tuple[int, ...]) -> None:
            key = encoding.encode(chunk)
            check_key(key)
            assert encoding.encode(chunk) == key
            assert encoding.decode(key, len(chunk)) == chunk

        check_examples(check, self.chunks(configuration), self.examples * 4)

    def test_keys_are_unique(self, configuration: Mapping[str, Any]) -> None:
        """Two chunks have different keys, and no key is a directory of another."""
        encoding = self.make(configuration)
        for ndim in self.dimensions(configuration):
            chunks = list(np.ndindex(*(13 if ndim == 1 else 4,) * min(ndim, 3)))
            chunks = [chunk + (0,) * (ndim - len(chunk)) for chunk in chunks]
            keys = {encoding.encode(chunk): chunk for chunk in chunks}
            assert len(keys) == len(chunks), f"chunks of {ndim} dimensions share keys"
            folders = {key[:at] for key in keys for at, sign in enumerate(key) if sign == "/"}
            assert not folders & keys.keys(), "a key is a folder of another"

    def test_decode_rejects_other_keys(self, configuration: Mapping[str, Any]) -> None:
        """``decode`` returns None for keys that ``encode`` does not return."""
        encoding = self.make(configuration)
        for ndim in self.dimensions(configuration):
            key = encoding.encode((1,) * ndim)
            others = [
                "zarr.json", ".zarray", "c/x", "c//0", "c/00", "c/-1", "c/+1", "c/1_0", " c/0",
                "c/0/0/0/0/0/0/0/0/0", "\u0661", "c/\u0661", f"{key}/", f"{key}x", f"x{key}",
                f"{key}/0", key[:-1], key.replace("1", "01", 1), key.replace("1", "-1", 1), "",
                key.replace("/", "."), key.replace(".", "/"), key.replace("1", "1e3", 1),
                key.replace("1", "\u00b2", 1), key.replace("1", "9" * 5000, 1), f" {key}",
            ]  # fmt: skip
            for other in others:
                self._is_exact(encoding, other, ndim)

        def check(text: str) -> None:
            for ndim in self.dimensions(configuration):
                self._is_exact(encoding, text, ndim)

        check_examples(check, st.text("c0123./-x", max_size=12), self.examples * 2)

    def _is_exact(self, encoding: ChunkKeyEncoding, key: str, ndim: int) -> None:
        decoded = encoding.decode(key, ndim)
        assert decoded is None or (len(decoded) == ndim and encoding.encode(decoded) == key), (
            f"{key!r} is taken for the key of {decoded}"
        )

    def test_affixes_match_encode(self, configuration: Mapping[str, Any]) -> None:
        """``affixes`` and ``encode`` produce the same keys."""
        encoding = self.make(configuration)

        def check(chunk: tuple[int, ...]) -> None:
            affixes = encoding.affixes(len(chunk))
            if affixes is not None:
                before, between = affixes
                assert before + between.join(map(str, chunk)) == encoding.encode(chunk)

        check_examples(check, self.chunks(configuration), self.examples * 2)

    def test_array_round_trip(self, configuration: Mapping[str, Any]) -> None:
        """Chunks are stored under the keys of the encoding only."""
        array = self.array(configuration)
        array[...] = 7
        encoding = self.make(configuration)
        chunks = list(np.ndindex(*(2,) * array.ndim))
        assert set(array.store.list()) - {"zarr.json"} == {encoding.encode(c) for c in chunks}
        again = zarr.open_array(array.store, mode="r+")
        assert (np.asarray(again[...]) == 7).all()
        if array.ndim:
            again.resize((1,) * array.ndim)
            assert set(array.store.list()) - {"zarr.json"} == {encoding.encode((0,) * array.ndim)}
