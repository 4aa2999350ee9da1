"""The regular chunk grid, and what codecs and key encodings of some chunks only permit.

tests/kit has the requirements of chunk grids and key encodings, and the examples of the
specification; tests/zarr-grids has arrays with chunks of different lengths.
"""

import json
from dataclasses import dataclass

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.chunk_grids import RegularGrid
from zarr_core.chunk_key_encodings import DefaultEncoding
from zarr_core.codecs.bytes import BytesCodec
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import CodecChainError, MetadataValidationError


def test_the_example_of_the_specification():
    grid = RegularGrid.from_definition(
        ExtensionDefinition("regular", {"chunk_shape": [5, 20, 400]})
    )
    axes = grid.axes((10, 200, 3000))
    assert tuple(axis.count for axis in axes) == (2, 10, 8)
    element, chunk = (7, 150, 900), (1, 7, 2)
    assert tuple(axis.chunk_of(index) for axis, index in zip(axes, element, strict=True)) == chunk
    within = [
        index - axis.start(number) for axis, index, number in zip(axes, element, chunk, strict=True)
    ]
    assert within == [2, 10, 100]
    # "Chunks at the border of an array always have the full chunk size"
    assert grid.chunk_shape(axes, (1, 9, 7)) == (5, 20, 400)


def test_a_chunk_beyond_the_integers_of_numpy():
    (axis,) = RegularGrid((2**70,)).axes((5,))
    assert axis.count == 1
    assert axis.chunks_of(np.array([0, 4])).tolist() == [0, 0]


def test_an_array_that_is_almost_too_long():
    (axis,) = RegularGrid((1,)).axes((2**63 - 1,))
    assert axis.count == 2**63 - 1
    assert axis.chunk_of(2**63 - 2) == 2**63 - 2


@pytest.mark.parametrize("lengths", [(0,), (2, 0), (-1,)])
def test_chunks_have_a_length(lengths):
    with pytest.raises(ValueError, match="at least 1"):
        RegularGrid(lengths)


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
    store = zarr.MemoryStore()
    given = {"codec": {"acme.of_three": OfThree}}
    options = {"dtype": "i1", "compressors": None, "serializer": "acme.of_three"}

    def create(*lengths):
        return zarr.open_array(
            store, "w", shape=sum(lengths), chunks=[lengths], extensions=given, **options
        )

    for lengths in ((2, 3), (3, 3, 4), (3, 3, 4, 3)):
        with pytest.raises(CodecChainError, match="cannot be divided by 3"):
            create(*lengths)
        assert not list(store.list())
    array = create(3, 6)
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
    document["chunk_grid"]["configuration"]["chunk_shapes"] = [[4, 6]]
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


def test_handles_that_do_not_know_of_each_other():
    """The stored grid is extended, not that of an outdated array object."""
    one = zarr.create_array(shape=7, chunks=[[1, 4, 2]], dtype="i2")
    other = zarr.open(one.store, mode="r+")
    one.append(np.arange(3, dtype="int16"))
    other.append(np.arange(9, dtype="int16"))
    one.append(np.arange(2, dtype="int16"))
    other.refresh()
    expected = [0] * 7 + [*range(3), *range(9), *range(2)]
    assert one[...].tolist() == other[...].tolist() == expected
    assert one.metadata.chunk_grid.configuration["chunk_shapes"] == [[1, 4, 2, 3, 9, 2]]
    assert one.chunks == ((1, 4, 2, 3, 9, 2),)
    assert "chunks=(varied,)" in repr(one)
    assert zarr.empty_like(one).metadata.chunk_grid == one.metadata.chunk_grid


def test_the_lengths_of_a_huge_number_of_chunks_are_refused():
    array = zarr.create_array(shape=(10**9, 4), chunks=1, dtype="int8")
    for name in ("read_chunk_sizes", "write_chunk_sizes"):
        with pytest.raises(ValueError, match="1,000,000,000 x 4 chunks.*use chunks or shards"):
            getattr(array, name)
    assert array.chunks == (1, 1)
