"""Arrays with a very large number of chunks, few of which are stored."""

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from zarr_cli.check import check
from zarr_cli.check.check_chunks import chunk_region
from zarr_cli.compare import compare
from zarr_cli.compare.stored_blocks import stored_blocks

HUGE = {"shape": (10**5, 10**5), "dtype": "f8", "chunks": (1000, 500)}


def test_only_stored_chunks_are_compared():
    one = zarr.create_array({}, **HUGE)
    other = zarr.create_array({}, **(HUGE | {"chunks": (500, 1000), "shards": (2000, 1000)}))
    for array in (one, other):
        array[5, 5] = 1
    assert not compare(one, other, storage=False).differences
    one[10**5 - 1, 3] = other[70_000, 10**5 - 1] = other[5, 7] = 3
    [found] = compare(one, other, storage=False).differences
    assert found.where == "[5, 7]"
    assert found.message.startswith("3 of 10,000,000,000 differ")


@pytest.mark.parametrize("size", [10**6, 10**12, 2**62])
def test_the_number_of_reads_depends_on_the_stored_chunks_only(size):
    stores = CountingStore(zarr.MemoryStore()), CountingStore(zarr.MemoryStore())
    for store in stores:
        array = zarr.create_array(store, shape=(size, 3), dtype="i1", chunks=(1, 3))
        for index in (0, 77, size // 2, size - 1):
            array[index] = 1
    one, other = map(zarr.open_array, stores)
    other[size // 2, 1] = 2
    for store in stores:
        store.calls.clear()
    [found] = compare(one, other).differences
    assert found.where == f"[{size // 2}, 1]"
    assert max(store.count() for store in stores) < 20


def test_a_difference_between_misaligned_chunks_is_counted_once():
    rng = np.random.default_rng(0)
    for _ in range(30):
        shape = tuple(int(n) for n in rng.integers(8, 24, 2))
        arrays, values = [], []
        for _ in range(2):
            chunks = tuple(int(n) for n in rng.integers(1, 8, 2))
            array = zarr.create_array({}, shape=shape, dtype="i1", chunks=chunks)
            expected = np.zeros(shape, "i1")
            for at in rng.integers(0, shape, (3, 2)).tolist():
                array[tuple(at)] = expected[tuple(at)] = 1 + rng.integers(3)
            arrays.append(array)
            values.append(expected)
        differ = values[0] != values[1]
        first = ", ".join(str(number[0]) for number in differ.nonzero())
        found = compare(*arrays, storage=False).differences
        assert found[0].where == f"[{first}]"
        assert found[0].message.startswith(f"{differ.sum():,} of {differ.size:,} differ")


@pytest.mark.parametrize("budget", [1, 7, 1000])
def test_blocks_cover_stored_chunks_without_overlap(budget):
    options = {"shape": (13, 17), "dtype": "i1", "fill_value": 0}
    one = zarr.create_array({}, **options, chunks=(3, 5))
    other = zarr.create_array({}, **options, chunks=((6, 7), (1, 2, 14)))
    for array in (one, other):
        array[4, 6] = array[12, 0] = 1
    found = list(stored_blocks(one, other, budget))
    covered = np.zeros(one.shape, int)
    for block in found:
        assert budget < 100 or len(found) < 6
        covered[np.ix_(*block)] += 1
    assert covered.max() == 1
    for array in (one, other):
        assert all(
            covered[np.ix_(*chunk_region(array, at))].all()
            for at, _ in array.stored.stored_chunks()
        )


def test_missing_chunks_with_different_fill_values_differ():
    options = {"shape": (6, 4), "dtype": "i2", "chunks": (2, 2)}
    one, other = (zarr.create_array({}, fill_value=fill, **options) for fill in (1, 2))
    found = [it for it in compare(one, other).differences if it.what == "values"]
    assert found[0].message.startswith("24 of 24 differ")


def test_regions_tile_the_array():
    options = {"shape": (7, 5), "dtype": "i1", "fill_value": 9}
    for layout in ({"chunks": (3, 2)}, {"chunks": ((2, 5), (1, 4))}, {"chunks": 2, "shards": 4}):
        array = zarr.create_array({}, **options, **layout)
        array[:] = 0
        covered = np.zeros(array.shape, int)

        for at, _ in array.stored.stored_chunks():
            covered[np.ix_(*chunk_region(array, at))] += 1
        assert (covered == 1).all(), layout


def test_check_does_not_enumerate_missing_chunks():
    store = zarr.MemoryStore()
    array = zarr.create_array(store, shape=10**12, dtype="i1", chunks=1)
    array[7] = 3
    assert check(store).is_sound
    store.set("c/7", b"")
    assert [damage.key for damage in check(store).arrays[0].damages] == ["c/7"]
