"""The chunk grid ``rectilinear``: its text, its axes, and all that an array can do with it."""

import json
import pickle
import subprocess
import sys
import time
from itertools import pairwise

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from zarr_core.errors import (
    CodecChainError,
    ExtensionConfigurationError,
    MetadataValidationError,
    UnknownExtensionError,
)
from zarr_core.extension import ExtensionDefinition, create_extension
from zarr_grids.rectilinear import RectilinearGrid

LARGEST = 2**63 - 1


def definition(shapes):
    return ExtensionDefinition("rectilinear", {"kind": "inline", "chunk_shapes": shapes})


def grid_of(*shapes):
    return RectilinearGrid.from_definition(definition(list(shapes)))


def made(shape, shapes, dtype="int32", **options):
    options.setdefault("compressors", None)
    return zarr.create_array(shape=shape, chunks=definition(shapes), dtype=dtype, **options)


def edges(axis):
    starts = [axis.start(chunk) for chunk in range(axis.count)]
    return [(start, start + axis.length(chunk)) for chunk, start in enumerate(starts)]


# --- the text ---


@pytest.mark.parametrize(
    ("shape", "written"),
    [
        ([10, 10, 10, 5], [[10, 3], 5]),
        ([[10, 2], 10, [10, 1], 5, 5], [[10, 4], [5, 2]]),
        ([[7, 1]], [7]),
        ([3, 1, 3], [3, 1, 3]),
        ([], []),
        (7, 7),
        ([LARGEST, LARGEST], [[LARGEST, 2]]),
        ([[1, LARGEST]], [[1, LARGEST]]),
    ],
)
def test_spellings_of_one_grid(shape, written):
    grid = grid_of(shape)
    assert grid.to_definition() == definition([written])
    assert RectilinearGrid.from_definition(grid.to_definition()) == grid
    assert hash(grid) == hash(grid_of(written))
    assert pickle.loads(pickle.dumps(grid)) == grid
    json.dumps(grid.to_definition().to_json())  # of Python's integers


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (0, "from 1 to"), (None, "None"), ([3, True], "not True"), ([[3, [1]]], r"not \[1\]"),
        ([2**63], "2\\^63"), (2**63, "2\\^63"), ([[1, LARGEST], 1], "more than 2\\^63 - 1 chunks"),
    ],
)  # fmt: skip
def test_invalid_lengths(shape, message):
    with pytest.raises(ExtensionConfigurationError, match=message) as caught:
        grid_of(4, shape)
    assert caught.value.problems[0].pointer == "/configuration/chunk_shapes/1"
    with pytest.raises(ExtensionConfigurationError):
        made((4, 4), [4, shape])


@pytest.mark.parametrize(
    "configuration",
    [{"chunk_shapes": [4]}, {"kind": "file", "chunk_shapes": [4]}, {"kind": "inline"},
     {"kind": "inline", "chunk_shapes": {"0": 4}}],
)  # fmt: skip
def test_configurations_that_the_schema_refuses_raise_without_it(configuration):
    with pytest.raises(ExtensionConfigurationError):
        RectilinearGrid.from_definition(ExtensionDefinition("rectilinear", configuration))


# --- along one dimension ---

LENGTHS = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 4)), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(runs=LENGTHS, data=st.data())
def test_chunks_cover_a_dimension_once(runs, data):
    total = sum(length * count for length, count in runs)
    size = data.draw(st.integers(0, total))
    (axis,) = grid_of([list(run) for run in runs]).axes((size,))
    found = edges(axis)
    assert all(end == start for (_, end), (start, _) in pairwise(found))
    lengths = [length for length, count in runs for _ in range(count)]
    assert [end - start for start, end in found] == lengths[: axis.count]
    assert sum(lengths[: axis.count]) >= size
    assert sum(lengths[: max(0, axis.count - 1)]) <= size
    elements = np.arange(size)
    numbers = [axis.chunk_of(at) for at in range(size)]
    assert all(found[n][0] <= at < found[n][1] for at, n in enumerate(numbers))
    assert axis.chunks_of(elements).tolist() == numbers
    assert [length for length, count in axis.runs() for _ in range(count)] == lengths[: axis.count]
    assert axis.uniform in (None, *lengths)
    assert (axis.uniform is not None) == (len(set(lengths[: axis.count or 1])) == 1)


def test_grid_with_more_chunks_than_memory():
    (axis,) = grid_of([[1, 10**15], [3, 10**15]]).axes((4 * 10**15 - 1,))
    assert axis.count == 2 * 10**15
    assert axis.chunk_of(10**15 + 3 * 10**14 + 1) == 10**15 + 10**14
    assert (axis.start(axis.count - 1), axis.length(axis.count - 1)) == (4 * 10**15 - 3, 3)
    array = made((4 * 10**15,), [[[1, 10**15], [3, 10**15]]], "int8")
    array[10**15 - 1 : 10**15 + 4] = [1, 2, 3, 4, 5]
    assert array[10**15 - 1 : 10**15 + 4].tolist() == [1, 2, 3, 4, 5]
    assert array.nchunks_initialized == 3
    assert "varied" in repr(array)


def test_chunks_that_reach_far_beyond_the_array():
    array = made((5,), [[3, LARGEST, LARGEST]], "int8")
    assert array.cdata_shape == (2,)
    array[:3] = 7
    assert array[:].tolist() == [7, 7, 7, 0, 0]
    with pytest.raises(CodecChainError, match="more than can be addressed"):
        made((5,), [[3, LARGEST, LARGEST]], "int32")


@st.composite
def grids(draw, ndim):
    shape, shapes = [], []
    for _ in range(ndim):
        if draw(st.booleans()):
            size = draw(st.integers(0, 9))
            shape.append(size)
            shapes.append(draw(st.integers(1, 10)))
            continue
        lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
        shape.append(draw(st.integers(0, sum(lengths))))
        shapes.append(lengths)
    return tuple(shape), shapes


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_selection_is_that_of_numpy(data):
    ndim = data.draw(st.integers(1, 3))
    shape, shapes = data.draw(grids(ndim))
    array = made(
        shape,
        shapes,
        "int16",
        fill_value=9,
        order=data.draw(st.sampled_from("CF")),
        compressors=data.draw(st.sampled_from([None, "zstd"])),
    )
    beside = np.full(shape, 9, "int16")
    beside[...] = np.arange(beside.size).reshape(shape)
    array[...] = beside
    for number in range(3):
        index = data.draw(hnp.basic_indices(shape, allow_newaxis=True))
        np.testing.assert_array_equal(array[index], beside[index])
        array[index] = beside[index] = -number
    np.testing.assert_array_equal(array[...], beside)
    assert [row.tolist() for row in array] == list(beside.tolist())
    if beside.size:
        picks = [data.draw(hnp.arrays(np.intp, 5, elements=st.integers(-n, n - 1))) for n in shape]
        np.testing.assert_array_equal(array.oindex[tuple(picks)], beside[np.ix_(*picks)])
        np.testing.assert_array_equal(array.vindex[tuple(picks)], beside[tuple(picks)])
        array.vindex[tuple(picks)] = beside[tuple(picks)] = 77
        array.oindex[tuple(picks)] = beside[np.ix_(*picks)] = np.arange(5)
        mask = data.draw(hnp.arrays(bool, shape))
        np.testing.assert_array_equal(array[mask], beside[mask])
        array[mask] = beside[mask] = 5
        block = tuple(data.draw(st.integers(0, count - 1)) for count in array.cdata_shape)
        places = [edges(axis)[at] for axis, at in zip(array.stored.axes, block, strict=True)]
        expected = beside[tuple(slice(*place) for place in places)]
        np.testing.assert_array_equal(array.blocks[block], expected)
    np.testing.assert_array_equal(zarr.open(array.store)[...], beside)


def test_chunks_that_do_not_cover_the_array():
    with pytest.raises(MetadataValidationError, match="dimension 1: the chunks cover 5 of 6"):
        made((4, 6), [[4], [2, 3]])


def test_array_attributes():
    array = made((65, 10), [[10, 20, 40], 4])
    assert array.chunks == array.read_chunk_sizes == ((10, 20, 35), (4, 4, 2))
    assert array.write_chunk_sizes == array.chunks
    assert (array.shards, array.nchunks, array.cdata_shape) == (None, 9, (3, 3))
    assert "chunks=(varied, 4)" in repr(array)
    assert array.info["Chunk shape"] == "(10, 20, 40) x 4"
    array[:10] = 1
    assert array.nchunks_initialized == 3
    assert array.info_complete()["Chunks stored"] == "3 of 9"
    assert array.nbytes_stored() == 10 * 12 * 4
    many = made((1000,), [[1, 2] * 333 + [1]])
    assert many.info["Chunk shape"] == "(1, 2, 1, 2, 1, ... 667 in all)"
    # Where one length serves for all chunks, that is the shape.
    assert made((10, 10), [[5, 5], [[4, 3]]]).chunks == (5, 4)
    assert made((9, 10), [[5, 5, 3], [[4, 3]]]).chunks == (5, 4)


def test_lists_of_lengths_create_a_rectilinear_grid():
    array = zarr.create_array(shape=(60, 10), dtype="i4", chunks=[[10, 20, 30], (5, 5)])
    assert array.metadata.chunk_grid == definition([[10, 20, 30], [[5, 2]]])
    assert zarr.zeros((60, 10), chunks=[[10, 20, 30], -1]).metadata.chunk_grid == definition(
        [[10, 20, 30], 10]
    )
    group = zarr.create_group()
    assert group.create_array("a", shape=6, dtype="i1", chunks=[[1, 5]]).chunks == ((1, 5),)
    with pytest.raises(MetadataValidationError, match="/chunk_grid"):
        zarr.create_array(shape=6, dtype="i1", chunks=[[1, 5]], zarr_format=2)
    with (
        zarr.config.set(disabled_plugins={"zarr-grids"}),
        pytest.raises(UnknownExtensionError, match="zarr-grids"),
    ):
        zarr.create_array(shape=6, dtype="i1", chunks=[[1, 5]])


def test_the_spelling_is_kept():
    store = zarr.MemoryStore()
    array = made((6, 6), [[2, 2, 2], [[3, 1], 3]], store=store)
    before = json.loads(bytes(store.get("zarr.json")))["chunk_grid"]
    assert before["configuration"]["chunk_shapes"] == [[2, 2, 2], [[3, 1], 3]]
    array.attrs["units"] = "m"
    array.resize(5, 6)
    assert json.loads(bytes(store.get("zarr.json")))["chunk_grid"] == before
    array.resize(5, 7)
    grid = json.loads(bytes(store.get("zarr.json")))["chunk_grid"]
    assert grid["configuration"]["chunk_shapes"] == [[2, 2, 2], [[3, 2], 1]]


def test_resizing():
    array = made((60, 10), [[10, 20, 30], 4])
    beside = np.arange(600, dtype="int32").reshape(60, 10)
    array[...] = beside
    array.resize(25, 10)
    assert array.metadata.chunk_grid == definition([[10, 20, 30], 4])
    assert array.chunks == ((10, 15), (4, 4, 2))
    assert array.nchunks_initialized == 6
    array.resize(60, 10)  # as it was, but for what lay outside
    assert array.chunks == ((10, 20, 30), (4, 4, 2))
    assert (array[:25] == beside[:25]).all()
    assert not array[25:].any()
    array.resize(61, 11)
    assert array.metadata.chunk_grid == definition([[10, 20, 30, 1], 4])
    array.resize(0, 11)
    assert array.size == 0
    array.resize(61, 11)
    assert not array[...].any()


@pytest.mark.parametrize(
    ("lengths", "more", "expected"),
    [
        ([31, 28], 31, [31, 28, 31]),
        ([10, 20], 7, [10, 20, 7]),
        ([10, 20], 47, [10, 20, 47]),
        ([10, 10], 7, [[10, 2], 7]),
        ([4], 9, [4, 9]),
        ([[3, 2], 2], 1, [[3, 2], 2, 1]),
    ],
)
def test_growing(lengths, more, expected):
    size = sum(item if isinstance(item, int) else item[0] * item[1] for item in lengths)
    array = made((size,), [lengths])
    assert array.append(np.ones(more, "int32")) == (size + more,)
    assert array.metadata.chunk_grid == definition([expected])
    assert array[...].tolist() == [0] * size + [1] * more
    assert create_extension("chunk_grid", definition([[]])).resized(
        (3,)
    ).to_definition() == definition([[3]])


@settings(max_examples=30, deadline=None)
@given(
    steps=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    lengths=st.lists(st.integers(1, 4), min_size=1),
)
def test_appending_again_and_again(steps, lengths):
    array = made((sum(lengths),), [lengths], "int64", fill_value=-1)
    beside = np.arange(sum(lengths))
    array[...] = beside
    for number, step in enumerate(steps):
        more = np.arange(step) + 100 * number
        array.append(more)
        beside = np.concatenate([beside, more])
        assert array[...].tolist() == beside.tolist()
    assert zarr.open(array.store)[...].tolist() == beside.tolist()


# --- shards ---


def test_shards_of_differing_lengths():
    beside = np.arange(6000, dtype="int32").reshape(60, 100)
    array = zarr.create_array(data=beside, chunks=(5, 10), shards=[[10, 20, 30], 50])
    assert array.chunks == (5, 10)
    assert array.shards == array.write_chunk_sizes == ((10, 20, 30), (50, 50))
    assert array.read_chunk_sizes == ((5,) * 12, (10,) * 10)
    assert (array.nchunks, array.nchunks_initialized, array.cdata_shape) == (120, 120, (3, 2))
    assert "shards=(varied, 50)" in repr(array)
    assert array.info["Shard shape"] == "(10, 20, 30) x 50"
    assert len(list(array.store.list())) == 7
    assert (array[7:33:3, ::7] == beside[7:33:3, ::7]).all()
    assert (array.oindex[[59, 3, 3], 5:] == beside[[59, 3, 3], 5:]).all()
    array[8:12, 3] = beside[8:12, 3] = -1
    assert (array[...] == beside).all()
    array.append(beside[:7])  # a shard of 10, of which 7 are there
    assert array.shards == ((10, 20, 30, 7), (50, 50))
    assert (zarr.open(array.store)[...] == np.concatenate([beside, beside[:7]])).all()
    assert array.nchunks == 140
    assert array.read_chunk_sizes[0] == (5,) * 13 + (2,)
    array.resize(12, 100)
    array.resize(60, 100)
    assert (array[:12] == beside[:12]).all()
    assert not array[12:].any()


def test_inner_chunks_must_divide_every_shard():
    endian = {"name": "bytes", "configuration": {"endian": "little"}}
    shard = {"chunk_shape": [4], "codecs": [endian], "index_codecs": [endian]}
    inner = {"name": "sharding_indexed", "configuration": shard}
    array = made((20,), [[8, 12]], serializer=inner)
    array[:] = np.arange(20)
    assert array.shards == ((8, 12),)
    assert array[...].tolist() == list(range(20))
    store = zarr.MemoryStore()
    with pytest.raises(CodecChainError, match=r"shape \(10,\)"):
        made((18,), [[8, 10]], serializer=inner, store=store)
    assert not list(store.list())
    empty = made((0,), [[]], serializer=inner)
    empty.append(np.arange(8))
    assert empty[...].tolist() == list(range(8))
    empty.append(np.arange(9))  # rounded up to whole inner chunks
    assert empty.shards == ((8, 9),)
    assert empty.metadata.chunk_grid == definition([[8, 12]])


def test_automatic_chunks_in_such_shards():
    array = zarr.create_array(shape=(3000, 2000), dtype="f8", shards=[[1000, 2000], 2000])
    assert all(length % chunk == 0 for length in (1000, 2000) for chunk in array.chunks)


# --- whole hierarchies ---


@pytest.mark.parametrize("shards", [None, [[10, 20, 30], 50]])
def test_equality_of_copies(shards, tmp_path):
    chunks = [[10, 20, 30], 50] if shards is None else (5, 10)
    beside = np.arange(6000, dtype="int32").reshape(60, 100)
    root = zarr.create_group(tmp_path / "a.zarr")
    array = root.create_array("x/y", data=beside, chunks=chunks, shards=shards)
    copied = zarr.copy(root, tmp_path / "b.zarr")
    assert (copied["x/y"][...] == beside).all()
    assert copied["x/y"].metadata == array.metadata
    assert [path for path, _ in copied.members(max_depth=None)] == ["x", "x/y"]
    zarr.consolidate_metadata(copied.store)
    assert zarr.open_consolidated(copied.store)["x/y"].chunks == array.chunks
    assert pickle.loads(pickle.dumps(array)).chunks == array.chunks
    like = zarr.empty_like(array)
    assert (like.chunks, like.shards) == (array.chunks, array.shards)
    larger = zarr.empty_like(array, shape=(80, 100))
    assert (larger.shape, larger.shards) == ((80, 100), None)
    assert zarr.empty_like(array, chunks=7).chunks == (7, 7)
    flat = zarr.empty_like(array, shape=77)
    assert flat.shape == (77,)
    again = zarr.array(array)
    assert (again[...] == beside).all()


def test_writing_one_value_keeps_little(monkeypatch):
    from zarr_core.engine import resolved_metadata

    monkeypatch.setattr(resolved_metadata, "_MAX_SHAPES", 3)
    lengths = list(range(1, 40))
    array = made((sum(lengths),), [lengths], "int16")
    array[...] = 5
    assert (array[...] == 5).all()
    prepared = array.stored.resolved._prepared
    assert len(prepared) + len(prepared._older) <= 2 * 3


# --- size ---

COUNT = 200_000


def test_many_chunks(tmp_path):
    """Opening takes no Python step for each chunk."""
    lengths = (np.arange(COUNT) % 7 + 1).tolist()
    store = zarr.MemoryStore()
    array = zarr.create_array(
        store, shape=sum(lengths), dtype="int8", chunks=[lengths], compressors=None
    )
    started = time.process_time()
    again = zarr.open(zarr.MemoryStore({"zarr.json": bytes(store.get("zarr.json"))}))
    assert again.nchunks == COUNT
    assert time.process_time() - started < 2
    axis = again.stored.axes[0]
    assert axis.chunk_of(axis.start(177_777)) == 177_777
    array[axis.start(100_000) : axis.start(100_003)] = 1
    started = time.process_time()
    for _ in range(200):
        assert array[axis.start(100_001)] == 1
    assert time.process_time() - started < 2
    points = np.arange(0, array.shape[0], 1009)
    assert len(axis.chunks_of(points)) == len(points)


def test_opening_takes_memory_by_the_run():
    program = """
import resource
import zarr_core as zarr
lengths = [[1 + n % 7, 1] for n in range(1000)] + [[1, 10**9]]
grid = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [lengths]}}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
array = zarr.create_array(shape=10**9, dtype="int8", chunks=grid, compressors=None)
array[-5:] = 1
assert array[-6:].tolist() == [0, 1, 1, 1, 1, 1], array.nchunks
assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024  # KiB
"""
    subprocess.run([sys.executable, "-c", program], check=True)
