"""Arrays with chunks of different lengths, with a custom chunk grid."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from zarr_core.chunk_key_encodings import DefaultEncoding
from zarr_core.codecs.bytes import BytesCodec
from zarr_core.errors import CodecChainError, MetadataValidationError
from zarr_core.extension import ChunkAxis, ChunkGrid, ExtensionDefinition


class Edges(ChunkAxis):
    def __init__(self, lengths, size):
        self.size = size
        self.starts = np.concatenate([[0], np.cumsum(lengths)])
        self.count = int(np.searchsorted(self.starts, size)) if size else 0

    def start(self, chunk):
        return int(self.starts[chunk])

    def length(self, chunk):
        return int(self.starts[chunk + 1] - self.starts[chunk])

    def chunk_of(self, element):
        return int(np.searchsorted(self.starts, element, "right")) - 1

    def chunks_of(self, elements):
        return np.searchsorted(self.starts, elements, "right") - 1


@dataclass(frozen=True)
class Differing(ChunkGrid):
    """Chunks of given lengths; resizing adds a chunk."""

    lengths: tuple

    @classmethod
    def from_definition(cls, definition):
        return cls(tuple(map(tuple, definition.configuration["lengths"])))

    def to_definition(self):
        return ExtensionDefinition("acme.differing", {"lengths": [list(x) for x in self.lengths]})

    def axes(self, shape):
        if len(shape) != len(self.lengths):
            raise ValueError(f"lengths for {len(self.lengths)} dimensions")
        if any(sum(part) < size for part, size in zip(self.lengths, shape, strict=True)):
            raise ValueError("the chunks do not cover the array")
        return tuple(Edges(part, size) for part, size in zip(self.lengths, shape, strict=True))

    def resized(self, shape):
        return Differing(
            tuple(
                (*part, size - sum(part)) if size > sum(part) else part
                for part, size in zip(self.lengths, shape, strict=True)
            )
        )


GIVEN = {"chunk_grid": {"acme.differing": Differing}}


def make(shape=(7, 6), lengths=((1, 4, 2), (3, 3)), **options):
    grid = {"name": "acme.differing", "configuration": {"lengths": lengths}}
    with zarr.override_extensions(GIVEN):
        return zarr.create_array(shape=shape, chunks=grid, dtype="i2", compressors=None, **options)


def test_a_grid_may_be_given_as_an_object():
    grid = Differing(((1, 4, 2), (3, 3)))
    array = zarr.open_array(shape=(7, 6), chunks=grid, mode="w", extensions=GIVEN)
    assert array.metadata.chunk_grid == make().metadata.chunk_grid
    with pytest.raises(ValueError, match="shards cannot be combined with a chunk grid"):
        zarr.open_array(shape=(7, 6), chunks=grid, shards=8, mode="w", extensions=GIVEN)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_reading_and_writing(data):
    array = make(fill_value=5)
    beside = np.full((7, 6), 5, "int16")
    for _ in range(3):
        index = data.draw(hnp.basic_indices((7, 6), allow_newaxis=True))
        array[index] = beside[index] = data.draw(st.integers(-5, 5))
        index = data.draw(hnp.basic_indices((7, 6)))
        np.testing.assert_array_equal(array[index], beside[index])
    rows = data.draw(hnp.arrays(np.intp, 4, elements=st.integers(-7, 6)))
    np.testing.assert_array_equal(array.oindex[rows, ::2], beside[rows, ::2])
    np.testing.assert_array_equal(array.vindex[rows, rows % 6], beside[rows, rows % 6])
    assert [row.tolist() for row in array] == beside.tolist()


def test_counts_and_blocks():
    array = make()
    array[...] = np.arange(42).reshape(7, 6)
    assert array.nchunks == array.nchunks_initialized == 6
    assert (array.cdata_shape, array.nbytes_stored()) == ((3, 2), 84)
    assert array.blocks[1, 1].tolist() == np.arange(42).reshape(7, 6)[1:5, 3:].tolist()
    assert array.info_complete()["Storage ratio"] == "1.0"
    assert array.shards is None
    assert array.chunks == array.read_chunk_sizes == array.write_chunk_sizes
    assert array.chunks == ((1, 4, 2), (3, 3))
    assert "chunks=(varied, varied)" in repr(array)
    assert array.info["Chunk shape"] == "(1, 4, 2) x (3, 3)"
    assert make(shape=(6, 5)).chunks == ((1, 4, 1), (3, 2))
    assert make(shape=(0, 5)).chunks == ((), (3, 2))


def test_lengths_of_chunks_that_are_all_alike():
    array = zarr.create_array(shape=(7, 6), chunks=(3, 4), dtype="int8")
    assert array.chunks == (3, 4)
    assert array.read_chunk_sizes == array.write_chunk_sizes == ((3, 3, 1), (4, 2))
    assert [list(axis.runs()) for axis in array.stored.axes] == [[(3, 3)], [(4, 2)]]
    assert zarr.create_array(shape=(6, 0), chunks=3, dtype="int8").read_chunk_sizes == ((3, 3), ())
    assert zarr.create_array(shape=(), dtype="int8").read_chunk_sizes == ()


@dataclass(frozen=True)
class OfThree(BytesCodec):
    """Supports chunks with a multiple of three elements."""

    def check(self, decoded):
        if decoded.size % 3:
            raise ValueError(f"{decoded.size} elements cannot be divided by 3")


def test_codecs_that_fit_some_chunks_only():
    given = {**GIVEN, "codec": {"acme.of_three": OfThree}}
    store = zarr.MemoryStore()

    def create(lengths, size, **options):
        grid = {"name": "acme.differing", "configuration": {"lengths": [lengths]}}
        return zarr.open_array(
            store, "w", shape=size, chunks=grid, dtype="i1", extensions=given, compressors=None,
            serializer="acme.of_three", **options,
        )  # fmt: skip

    for lengths in ((2, 3), (3, 3, 4), (3, 3, 4, 3)):
        with pytest.raises(CodecChainError, match="cannot be divided by 3"):
            create(lengths, sum(lengths))
        assert not list(store.list())
    array = create((3, 6), 9)
    before = store.get("zarr.json")
    for change in (lambda: array.resize(11), lambda: array.append([1, 2])):
        with pytest.raises(CodecChainError, match="cannot be divided by 3"):
            change()
        assert store.get("zarr.json") == before
        assert list(store.list()) == ["zarr.json"]
    array.append([1, 2, 3])
    assert array[...].tolist() == [0] * 9 + [1, 2, 3]
    # Mismatches are detected when the array is opened.
    document = json.loads(bytes(before))
    document["chunk_grid"]["configuration"]["lengths"] = [[4, 6]]
    store.set("zarr.json", json.dumps(document).encode())
    with pytest.raises(CodecChainError, match="zarr.json|/codecs"):
        zarr.open(store, extensions=given)


class Few(DefaultEncoding):
    """Supports the keys of a hundred chunks."""

    def check(self, counts):
        if max(counts, default=0) > 100:
            raise ValueError("there are keys for 100 chunks only")


def test_keys_for_some_chunks_only():
    options = {"dtype": "int8", "chunks": 1, "chunk_key_encoding": "acme.few"}
    given = {"chunk_key_encoding": {"acme.few": Few}}
    with pytest.raises(MetadataValidationError, match="/chunk_key_encoding.*100 chunks only"):
        zarr.open_array(shape=101, mode="w", extensions=given, **options)
    array = zarr.open_array(shape=99, mode="w", extensions=given, **options)
    for change in (lambda: array.resize(101), lambda: array.append([1, 2])):
        with pytest.raises(MetadataValidationError, match="100 chunks only"):
            change()
    assert zarr.open(array.store, extensions=given).shape == (99,)


def test_the_grid_changes_with_the_shape():
    array = make()
    beside = np.arange(42, dtype="int16").reshape(7, 6)
    array[...] = beside
    array.resize(9, 4)
    assert array.cdata_shape == (4, 2)
    assert array.metadata.chunk_grid.configuration["lengths"] == [[1, 4, 2, 2], [3, 3]]
    assert array[7:].tolist() == [[0] * 4] * 2
    array.append(beside[:3, :4])
    assert array.cdata_shape == (5, 2)
    assert array[9:].tolist() == beside[:3, :4].tolist()
    array.resize(3, 6)
    assert array[:, 4:].tolist() == [[0, 0]] * 3
    assert array[:, :4].tolist() == beside[:3, :4].tolist()
    again = zarr.open(array.store, extensions=GIVEN)
    assert again[...].tolist() == array[...].tolist()
    assert zarr.empty_like(array).metadata.chunk_grid == array.metadata.chunk_grid


def test_handles_that_do_not_know_of_each_other():
    """The stored grid is extended, not that of an outdated array object."""
    one = make(shape=(7,), lengths=((1, 4, 2),))
    other = zarr.open(one.store, extensions=GIVEN, mode="r+")
    one.append(np.arange(3, dtype="int16"))
    other.append(np.arange(9, dtype="int16"))
    one.append(np.arange(2, dtype="int16"))
    other.refresh()
    expected = [0] * 7 + [*range(3), *range(9), *range(2)]
    assert one[...].tolist() == other[...].tolist() == expected
    assert one.metadata.chunk_grid.configuration["lengths"] == [[1, 4, 2, 3, 9, 2]]


def test_a_grid_that_does_not_fit():
    for lengths, message in ((((1, 2),), "2 dim|1 dim"), (((1,), (3, 3)), "do not cover")):
        with pytest.raises(MetadataValidationError, match="/chunk_grid"):
            make(lengths=lengths)
        assert message


def test_the_lengths_of_a_huge_number_of_chunks_are_refused():
    array = zarr.create_array(shape=(10**9, 4), chunks=1, dtype="int8")
    for name in ("read_chunk_sizes", "write_chunk_sizes"):
        with pytest.raises(ValueError, match="1,000,000,000 x 4 chunks.*use chunks or shards"):
            getattr(array, name)
    assert array.chunks == (1, 1)
