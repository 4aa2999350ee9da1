"""Tests for codecs of all three kinds."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import strategies as st
from zarr_core.engine.chain import CodecChain, PreparedCodecChain
from zarr_core.extension import (
    ArrayRepresentation,
    ChunkDecodeError,
    Codec,
    ExtensionDefinition,
    Location,
    create_extension,
)

from zarr_conformance.kit import values
from zarr_conformance.kit.examples import check_examples
from zarr_conformance.kit.extension import ExtensionTests
from zarr_conformance.kit.junk import at_most, damaged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from hypothesis.strategies import SearchStrategy
    from zarr_core.extension import DataType

    Array = np.ndarray[Any, Any]

NUMBERS = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128", "r24",
)  # fmt: skip
"""The data types of the core specification."""


class CodecTests(ExtensionTests):
    """The common part of the three kinds of codecs; inherit from the class of one kind."""

    extension_point = "codec"
    may_be_left_out = True
    data_types: ClassVar[Sequence[Any]] = NUMBERS
    """Data types that the codec encodes: names, or definitions as in metadata."""

    lossless = True
    """Whether decoding returns exactly the encoded elements; otherwise override :meth:`same`."""

    working_memory: ClassVar[int] = 1 << 20
    """Bytes of memory that the codec can allocate in addition to the decoded chunk."""

    # --- what an author may override ---

    def data_types_of(self, configuration: Mapping[str, Any]) -> Sequence[Any]:
        """Data types that one configuration encodes; by default all of :attr:`data_types`."""
        return self.data_types

    def shapes(self, configuration: Mapping[str, Any]) -> SearchStrategy[tuple[int, ...]]:
        """Shapes of chunks that a configuration encodes."""
        return st.lists(st.integers(1, 5), max_size=3).map(tuple)

    def values(self, data_type: DataType, shape: tuple[int, ...]) -> SearchStrategy[Array]:
        """Chunks that the codec encodes; by default of any values at all."""
        return values.arrays(data_type, shape)

    def same(self, decoded: Array, original: Array) -> bool:
        """Whether the decoded elements are correct; lossy codecs override it with a tolerance."""
        return values.identical(decoded, original)

    # --- defined by the class of each kind of codec ---

    def codecs(self, configuration: Mapping[str, Any], serializer: Any) -> list[Any]:
        """The codec chain in which the codec is tested."""
        raise TypeError(f"{type(self).__name__} does not inherit from the class of a kind of codec")

    def chain(self, configuration: Mapping[str, Any], serializer: Any, ndim: int) -> CodecChain:
        """The codec chain, created, for chunks with this number of dimensions."""
        return CodecChain.of(*self.codecs(configuration, serializer), location=Location("kit"))

    def arguments(self, configuration: Mapping[str, Any], serializer: Any) -> dict[str, Any]:
        """The codec chain as arguments of ``create_array``."""
        raise TypeError(f"{type(self).__name__} does not inherit from the class of a kind of codec")

    def create(
        self, configuration: Mapping[str, Any], serializer: Any, **options: Any
    ) -> zarr.Array:
        """An array in memory with the codec chain."""
        return zarr.create_array(**options, **self.arguments(configuration, serializer))

    def make(self, configuration: Mapping[str, Any]) -> Any:
        """The codec as in an array, with parameters that depend on the chunk."""
        chains: list[PreparedCodecChain] = []
        check_examples(lambda case: chains.append(case[0]), self._cases(configuration), 1)
        return super().make(configuration).complete(chains[0].decoded)

    def written(self, made: Codec, configuration: Mapping[str, Any]) -> ExtensionDefinition:
        """The definition that is written into metadata."""
        return ExtensionDefinition(self.name, made.to_configuration())

    def array(self, configuration: Mapping[str, Any]) -> zarr.Array:
        """A small array in memory that uses the codec."""
        _, array = self._array(configuration, sharded=False)
        return array

    # --- tests ---

    def test_chunk_round_trip(self, configuration: Mapping[str, Any]) -> None:
        """Decoding returns the encoded elements, for all shapes, data types and byte orders."""

        def check(case: tuple[PreparedCodecChain, Array]) -> None:
            chain, chunk = case
            before = chunk.copy()
            encoded = _joined(chain.encode(chunk))
            assert values.identical(chunk, before), "encoding changed the chunk"
            kept = bytes(encoded)
            decoded = chain.decode(encoded)
            assert self.same(np.array(decoded), before), (decoded, before)
            assert encoded == kept, "decoding changed the encoded bytes"
            if chain.encoded_size is not None:
                assert len(encoded) == chain.encoded_size
            out = np.empty(chunk.shape, chunk.dtype)
            chain.decode_into(encoded, out)
            assert self.same(out, before), "decode_into gives something else"

        check_examples(check, self._cases(configuration), self.examples)

    def test_memory_layout_round_trip(self, configuration: Mapping[str, Any]) -> None:
        """Arrays can be non-contiguous or read-only."""

        def check(case: tuple[PreparedCodecChain, Array]) -> None:
            chain, chunk = case
            spread = np.zeros((2, *chunk.shape), chunk.dtype, order="F")[0, ...]
            spread[...] = chunk
            spread.flags.writeable = False
            for layout in (spread, np.array(chunk, order="F")):
                decoded = chain.decode(_joined(chain.encode(layout)))
                assert self.same(np.array(decoded), chunk)

        check_examples(check, self._cases(configuration), max(self.examples // 3, 3))

    def test_damaged_chunk_raises(self, configuration: Mapping[str, Any]) -> None:
        """Truncated, changed or missing bytes raise ChunkDecodeError or decode to a whole chunk."""

        def check(case: tuple[PreparedCodecChain, Array]) -> None:
            chain, chunk = case
            encoded = _joined(chain.encode(chunk))
            room = 16 * (chunk.nbytes + len(encoded)) + self.working_memory
            for what, data in damaged(encoded):
                with at_most(room, what):
                    try:
                        decoded = chain.decode(data)
                    except ChunkDecodeError as error:
                        if not _came_through(error):
                            continue
                        pytest.fail(f"{what}: the codec raised {error.reason}")
                assert decoded.shape == chunk.shape, what
                noticed = self.detects(chain) and what.startswith(("byte", "the first"))
                assert not noticed or self.same(decoded, chunk), (
                    f"{what} is not noticed, though detects_damage"
                )

        check_examples(check, self._cases(configuration), 3)

    def test_thread_safety(self, configuration: Mapping[str, Any]) -> None:
        """Several threads can encode and decode with one codec."""
        samples: list[tuple[PreparedCodecChain, Array]] = []
        check_examples(samples.append, self._cases(configuration), 8)

        def work(case: tuple[PreparedCodecChain, Array]) -> bool:
            chain, chunk = case
            return all(
                self.same(np.array(chain.decode(_joined(chain.encode(chunk)))), chunk)
                for _ in range(10)
            )

        with switching_often(), ThreadPoolExecutor(8) as pool:
            assert all(pool.map(work, samples * 4)), "chunks were mixed up between threads"

    def test_array_round_trip(self, configuration: Mapping[str, Any]) -> None:
        """Arrays are written and read, whole and in parts, also after they are opened again."""
        self._use(*self._array(configuration, sharded=False))

    def test_shard_round_trip(self, configuration: Mapping[str, Any]) -> None:
        """The codec works on the inner chunks of shards."""
        if find_spec("zarr_sharding") is None:
            pytest.skip("zarr-sharding is not installed: pip install zarr-sharding")
        original, array = self._array(configuration, sharded=True)
        self._use(original, array)

    # --- inside ---

    def detects(self, chain: PreparedCodecChain) -> bool:
        """Whether all damage of the stored bytes is detected."""
        return any(codec.detects_damage for codec in chain.bytes_to_bytes)

    def _cases(
        self, configuration: Mapping[str, Any]
    ) -> SearchStrategy[tuple[PreparedCodecChain, Array]]:
        @st.composite
        def cases(draw: Callable[[Any], Any]) -> tuple[PreparedCodecChain, Array]:
            named = draw(st.sampled_from(list(self.data_types_of(configuration))))
            data_type = create_data_type(named)
            shape = draw(self.shapes(configuration))
            serializer = draw(st.sampled_from(serializers(data_type)))
            decoded = ArrayRepresentation(
                shape, data_type, data_type.default_fill_value(), write_empty_chunks=True
            )
            chain = self.chain(configuration, serializer, len(shape))
            chunk: Array = draw(self.values(data_type, shape))
            return chain.complete(decoded).prepare(decoded), chunk

        return cases()

    def _array(self, configuration: Mapping[str, Any], sharded: bool) -> tuple[Array, zarr.Array]:
        """Values, and an array with 2 x 2 ... chunks that contains them; the last chunks are partial."""
        arrays: list[tuple[Array, zarr.Array]] = []

        def keep(case: tuple[tuple[int, ...], DataType, Any, Array]) -> None:
            chunk, data_type, serializer, original = case
            array = self.create(
                configuration,
                serializer,
                shape=original.shape,
                dtype=data_type.to_definition().to_json(),
                chunks=chunk,
                shards=tuple(2 * length for length in chunk) if sharded else None,
            )
            arrays.append((original, array))

        check_examples(keep, self._whole(configuration, 1 if sharded else 0), 5)
        return arrays[-1]

    def _whole(self, configuration: Mapping[str, Any], least: int) -> SearchStrategy[Any]:
        @st.composite
        def wholes(draw: Callable[[Any], Any]) -> Any:
            data_type = create_data_type(
                draw(st.sampled_from([*self.data_types_of(configuration)]))
            )
            chunk = draw(self.shapes(configuration).filter(lambda shape: len(shape) >= least))
            shape = tuple(2 * length + (length > 1) for length in chunk)
            serializer = draw(st.sampled_from(serializers(data_type)))
            return chunk, data_type, serializer, draw(self.values(data_type, shape))

        return wholes()

    def _use(self, original: Array, array: zarr.Array) -> None:
        array[...] = original
        again = zarr.open_array(array.store, mode="r+")
        assert self.same(np.asarray(again[...]), original)
        if not self.lossless or not original.ndim:
            return
        for part in _parts(original.shape):
            assert self.same(np.asarray(again[part]), original[part]), f"part {part}"
        changed = original.copy()
        for part in _parts(original.shape):
            changed[part] = original[(slice(0, 1), *part[1:])]
            again[part] = changed[part]
            assert self.same(np.asarray(array[...]), changed), f"after writing {part}"


def create_data_type(named: Any) -> DataType:
    """A data type by its name or definition."""
    data_type = create_extension("data_type", ExtensionDefinition.from_json(named), Location("kit"))
    assert data_type is not None
    made: DataType = data_type
    return made


def serializers(data_type: DataType) -> list[Any]:
    """Definitions of array -> bytes codecs that fit a data type, in both byte orders if any."""
    default = data_type.default_serializer()
    if default.name != "bytes":
        return [default]
    if not data_type.has_byte_order:
        return [ExtensionDefinition("bytes")]
    return [ExtensionDefinition("bytes", {"endian": order}) for order in ("little", "big")]


@contextmanager
def switching_often() -> Iterator[None]:
    """Switch threads a thousand times as often as usual, to detect race conditions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _came_through(error: ChunkDecodeError) -> bool:
    """Whether this is another exception of the codec, which the engine has wrapped."""
    cause = error.__cause__
    return cause is not None and error.reason == f"{type(cause).__name__}: {cause}"


def _joined(pieces: Any) -> bytes:
    assert pieces is not None, "encode gave None for a chunk that is to be kept"
    return b"".join(pieces) if isinstance(pieces, list | tuple) else bytes(pieces)


def _parts(shape: tuple[int, ...]) -> Iterator[tuple[slice, ...]]:
    """Some parts of an array: one element, some rows, with and without steps, all but the edge."""
    yield tuple(slice(length // 2, length // 2 + 1) for length in shape)
    yield tuple(slice(0, None, 2) for _ in shape)
    yield tuple(slice(length // 3, length - length // 3) for length in shape)
    yield (slice(None), *(slice(-1, None) for _ in shape[1:]))
