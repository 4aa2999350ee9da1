"""Changing the shape of arrays."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from hypothesis import given, settings
from hypothesis import strategies as st
from metadata_first_store import MetadataFirstStore
from unlisted_store import UnlistedStore
from zarr_core.errors import (
    NodeNotFoundError,
    SelectionError,
    StoreCapabilityError,
    StoreReadOnlyError,
)
from zarr_core.extension import StoreTraits

SHAPES = st.tuples(st.integers(0, 9), st.integers(0, 9))


@settings(max_examples=60, deadline=None)
@given(
    shapes=st.lists(SHAPES, min_size=2, max_size=4),
    shards=st.sampled_from([None, (6, 4)]),
    fill=st.sampled_from([0, 7]),
)
def test_shrinking_discards_elements(shapes, shards, fill):
    array = zarr.create_array(
        shape=shapes[0], chunks=(3, 2), shards=shards, dtype="int16", fill_value=fill
    )
    beside = np.full(shapes[0], fill, "int16")
    for shape in shapes[1:]:
        beside[...] = np.arange(beside.size).reshape(beside.shape) + 1
        array[...] = beside
        array.resize(shape)
        kept = tuple(slice(0, min(a, b)) for a, b in zip(beside.shape, shape, strict=True))
        new = np.full(shape, fill, "int16")
        new[kept] = beside[kept]
        beside = new
        np.testing.assert_array_equal(array[...], beside)
        again = zarr.open(array.store)
        assert again.shape == array.shape == shape
        np.testing.assert_array_equal(again[...], beside)


@pytest.mark.parametrize("shards", [None, (4, 6)])
@pytest.mark.parametrize("path", [None, "a/b"])
def test_discarded_elements_do_not_reappear_in_a_store_that_requires_metadata_first(shards, path):
    values = np.arange(1, 97, dtype="f4").reshape(8, 12)
    store = MetadataFirstStore()
    array = zarr.create_array(store, path=path, data=values, chunks=(2, 3), shards=shards)
    array.resize(3, 7)
    array.resize(8, 12)
    expected = np.zeros_like(values)
    expected[:3, :7] = values[:3, :7]
    np.testing.assert_array_equal(zarr.open(store, path=path)[...], expected)


def test_forms_of_a_shape():
    array = zarr.create_array(shape=(4, 4), dtype="int8")
    array.resize(2, 3)
    assert array.shape == (2, 3)
    array.resize((5, np.int64(6)))
    assert array.shape == (5, 6)
    array.resize([1, 1])
    assert array.shape == (1, 1)
    point = zarr.create_array(shape=(), dtype="int8")
    point.resize(())
    for shape, message in (((1,), "number of dimensions: 2, not 1"), ((-1, 2), "negative lengths")):
        with pytest.raises(ValueError, match=message):
            array.resize(shape)
    with pytest.raises(TypeError):
        array.resize((1.5, 2))
    with pytest.raises(ValueError, match="longest that can be indexed"):
        array.resize((2**70, 2))
    assert array.shape == (1, 1)


def test_growing_costs_one_document_and_shrinking_what_is_cut_off():
    store = CountingStore(zarr.MemoryStore())
    array = zarr.create_array(store, shape=1000, chunks=10, dtype="int8")
    array[...] = 1
    store.calls.clear()
    array.resize(2000)
    assert store.count("update") == 1
    assert not store.count("list_prefix", "erase", "erase_values", "get_limited")
    array.resize(1000)
    store.calls.clear()
    array.resize(985)
    assert store.keys("erase_values") == ["c/99"]
    assert store.keys("update") == ["zarr.json", "c/98"]
    store.calls.clear()
    array.resize(985)
    assert not store.count("update", "set", "erase", "list_prefix")


def test_reading_only_is_rejected_before_anything_happens():
    store = CountingStore(zarr.MemoryStore())
    zarr.create_array(store, data=np.arange(10), chunks=2)
    array = zarr.open(store, "r")
    store.calls.clear()
    for change in (
        lambda: array.resize(3),
        lambda: array.append([1]),
        lambda: array.__setitem__(0, 1),
        lambda: array.set_mask_selection(np.ones(10, bool), 1),
    ):
        with pytest.raises(StoreReadOnlyError, match=r'mode="r\+"'):
            change()
    assert not store.calls


def test_a_store_that_cannot_list_cannot_shrink_an_array():
    array = zarr.create_array(UnlistedStore(), data=np.arange(4), chunks=2)
    array.resize(6)
    with pytest.raises(StoreCapabilityError, match="lists and erases"):
        array.resize(3)
    assert array.shape == (6,)


def test_the_stored_shape_counts_not_that_of_an_old_handle():
    first = zarr.create_array(shape=10, chunks=2, dtype="int8")
    second = zarr.open(first.store)
    second.resize(20)
    second[...] = 1
    first.resize(10)
    assert (first.nchunks_initialized, zarr.open(first.store).shape) == (5, (10,))
    first.resize(20)
    assert first[10:].tolist() == [0] * 10
    assert second.append([5]) == (21,)


def test_append_along_any_axis():
    beside = np.arange(12).reshape(3, 4)
    array = zarr.array(beside, chunks=(2, 3))
    assert array.append(beside) == (6, 4)
    beside = np.concatenate([beside, beside])
    assert array.append(beside[:, :2], axis=-1) == (6, 6)
    beside = np.concatenate([beside, beside[:, :2]], axis=1)
    assert array.append(np.zeros((0, 6))) == (6, 6)
    array.append(array[:1])
    np.testing.assert_array_equal(array[...], np.concatenate([beside, beside[:1]]))
    line = zarr.create_array(shape=0, chunks=3, dtype="uint8")
    for number in range(7):
        line.append([number])
    line.append(line)
    assert line[...].tolist() == [*range(7), *range(7)]
    with pytest.raises(SelectionError, match="cannot be stored as uint8"):
        line.append([300])
    assert line.shape == (14,)


def test_invalid_append_raises():
    array = zarr.array(np.zeros((3, 4)))
    for data, axis, message in (
        (np.zeros((3, 5)), 0, r"shape \(3, 5\) to one of shape \(3, 4\) along axis 0"),
        (np.zeros(4), 0, "cannot append"),
        (np.zeros((3, 4)), 2, "axis 2 is out of range for an array with 2 dimensions"),
        (np.zeros((3, 4)), -3, "axis -3"),
    ):
        with pytest.raises(ValueError, match=message):
            array.append(data, axis)
    with pytest.raises(ValueError, match="axis 0 is out of range for an array with 0 dimensions"):
        zarr.create_array(shape=(), dtype="int8").append(1)
    assert array.shape == (3, 4)


@pytest.mark.parametrize("handles", ["one", "many"])
def test_concurrent_appends_do_not_overlap(handles, tmp_path):
    store = zarr.LocalStore(tmp_path / "a")
    shared = zarr.create_array(store, shape=0, chunks=4, dtype="int32")

    def append(worker):
        array = shared if handles == "one" else zarr.open(store)
        for number in range(6):
            array.append(np.full(3, 100 * worker + number))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(append, range(4)))
    shared.refresh()
    found = shared[...].reshape(-1, 3)
    assert (found == found[:, :1]).all()
    assert sorted(found[:, 0].tolist()) == sorted(100 * w + n for w in range(4) for n in range(6))


def test_an_array_that_others_have_changed():
    array = zarr.array(np.zeros((3, 4)))
    zarr.open(array.store).resize(3, 5)
    with pytest.raises(ValueError, match=r"to one of shape \(3, 5\)"):
        array.append(np.zeros((1, 4)))
    zarr.create_array(array.store, shape=7, chunks=2, dtype="int8", overwrite=True)
    array.refresh()
    assert (array.shape, array.chunks, array.dtype) == ((7,), (2,), np.int8)
    array.store.erase("zarr.json")
    with pytest.raises(NodeNotFoundError):
        array.resize(3)


def test_writers_while_the_array_grows_lose_nothing():
    # Half of the only chunk is outside the array until it grows.  Writers with the new shape
    # must write parts of the chunk, not complete chunks.
    for _ in range(30):
        array = zarr.create_array(shape=4, chunks=8, dtype="int8")
        barrier = threading.Barrier(3)

        def fill(start, array=array, barrier=barrier):
            barrier.wait()
            while array.shape[0] < 8:
                pass
            array[start : start + 4] = 1

        writers = [threading.Thread(target=fill, args=(start,)) for start in (4, 0)]
        for writer in writers:
            writer.start()
        barrier.wait()
        array.resize(8)
        for writer in writers:
            writer.join()
        assert array[...].tolist() == [1] * 8


@pytest.mark.parametrize("count", [500, 5000])
def test_shrinking_visits_what_is_cut_off_or_lists_whichever_is_less(count):
    store = CountingStore(zarr.MemoryStore())
    array = zarr.create_array(store, shape=count * 2, chunks=2, dtype="int8")
    array[...] = 1
    store.calls.clear()
    array.resize(count * 2 - 5)
    assert not store.count("list_prefix")
    assert store.count() < 30
    array.resize(7)
    assert store.count("list_prefix") == 1
    array.resize(count * 2)
    assert array[...].tolist() == [1] * 7 + [0] * (count * 2 - 7)


@pytest.mark.parametrize("exponent", [3, 9, 18])
def test_shrinking_a_sparse_array_does_not_depend_on_its_grid(exponent):
    side = 10**exponent
    store = CountingStore(zarr.MemoryStore())
    array = zarr.create_array(store, shape=(side, side), chunks=(3, 2), dtype="int8")
    array[5:8, 5:8] = 1
    array[-1, 0] = array[0, -1] = 1
    store.calls.clear()
    array.resize(6, side)
    array.resize(6, 6)
    assert store.count() < 50
    array.resize(0, side)
    array.resize(side, side)
    assert array[:10, :10].tolist() == [[0] * 10] * 10
    assert array.nchunks_initialized == 0


def test_shrinking_does_not_create_chunks():
    array = zarr.create_array(
        shape=(9, 9), chunks=(4, 4), dtype="int8", config={"write_empty_chunks": True}
    )
    array[0, 8] = 1
    array.resize(7, 7)
    assert array.nchunks_initialized == 0


@pytest.mark.parametrize(
    ("shape", "expected"),
    [((None, 3), (8, 3)), (((5, None),), (5, 6)), (([None, None],), (8, 6))],
)
def test_none_keeps_a_length(shape, expected):
    array = zarr.create_array(data=np.ones((8, 6)), chunks=(3, 4))
    array.resize(*shape)
    assert array.shape == expected
    assert array[...].all()


def test_none_is_the_length_that_is_stored(tmp_path):
    array = zarr.create_array(tmp_path / "a", shape=(8, 6))
    zarr.open_array(tmp_path / "a").resize(None, 2)
    array.resize(4, None)
    assert array.shape == zarr.open(tmp_path / "a").shape == (4, 2)
    one = zarr.create_array(shape=7)
    one.resize(None)
    assert one.shape == (7,)


@pytest.mark.parametrize(
    ("only", "shape", "message"),
    [
        ("grow", (9, 5), r"would shrink dimension 1 from 6 to 5, but only=\"grow\""),
        ("shrink", (9, 5), r"would grow dimension 0 from 8 to 9, but only=\"shrink\""),
        ("both", (8, 6), 'only must be "grow" or "shrink"'),
    ],
)
def test_only_forbids_a_change(only, shape, message):
    array = zarr.create_array(data=np.ones((8, 6)), chunks=(3, 4))
    with pytest.raises(ValueError, match=message):
        array.resize(shape, only=only)
    assert (array.shape, array[...].sum()) == ((8, 6), 48)


@pytest.mark.parametrize(("only", "shape"), [("grow", (9, None)), ("shrink", (8, 1))])
def test_only_permits_other_changes(only, shape):
    array = zarr.create_array(data=np.ones((8, 6)), chunks=(3, 4))
    array.resize(shape, only=only)
    assert array.shape == tuple(length or 6 for length in shape)


def test_only_is_compared_with_the_shape_of_another_writer(tmp_path):
    array = zarr.create_array(tmp_path / "a", shape=8)
    zarr.open_array(tmp_path / "a").resize(20)
    with pytest.raises(ValueError, match="from 20 to 10"):
        array.resize(10, only="grow")
    assert zarr.open(tmp_path / "a").shape == (20,)


@settings(max_examples=30, deadline=None)
@given(shapes=st.lists(SHAPES, min_size=1, max_size=3), shards=st.sampled_from([None, (6, 4)]))
def test_chunks_are_kept_if_only_the_metadata_is_changed(shapes, shards):
    data = np.arange(7 * 9).reshape(7, 9) + 1
    array = zarr.create_array(data=data, chunks=(3, 2), shards=shards)
    stored = {key: bytes(array.store.get(key)) for key in array.store.list() if "c/" in key}
    for shape in shapes:
        array.resize(shape, metadata_only=True)
        assert array.shape == shape
        kept = tuple(slice(0, min(a, b)) for a, b in zip(shape, data.shape, strict=True))
        assert np.array_equal(array[kept], data[kept])
    array.resize(data.shape, metadata_only=True)
    assert np.array_equal(array[...], data)
    assert stored == {key: bytes(array.store.get(key)) for key in stored}


def test_metadata_can_shrink_in_a_store_that_cannot_erase(tmp_path):
    class Kept(zarr.LocalStore):
        traits = StoreTraits(supports_erasing=False)

    array = zarr.create_array(Kept(tmp_path), data=np.ones(8), chunks=2)
    with pytest.raises(StoreCapabilityError, match="metadata_only=True"):
        array.resize(4)
    array.resize(4, metadata_only=True)
    assert zarr.open(tmp_path).shape == (4,)


def test_tensorstore_keeps_the_same_chunks(tmp_path):
    ts = pytest.importorskip("tensorstore")
    data = np.arange(20, dtype="int32")
    for name in ("ours", "theirs"):
        zarr.create_array(tmp_path / name, data=data, chunks=4, compressors=None)
    zarr.open(tmp_path / "ours").resize(6, metadata_only=True)
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(tmp_path / "theirs")}}
    opened = ts.open(spec).result()
    opened.resize(exclusive_max=[6], resize_metadata_only=True).result()
    found = [
        {key: bytes(store.get(key)) for key in store.list() if key != "zarr.json"}
        for store in (zarr.LocalStore(tmp_path / "ours"), zarr.LocalStore(tmp_path / "theirs"))
    ]
    assert found[0] == found[1]
    assert ts.open(spec).result().shape == zarr.open(tmp_path / "ours").shape == (6,)
