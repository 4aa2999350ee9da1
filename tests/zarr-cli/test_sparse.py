"""Arrays with a very large number of chunks, few of which are stored."""

import numpy as np
import zarr_core as zarr
from zarr_cli.cat.regions import regions
from zarr_cli.check import check
from zarr_cli.compare import compare

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
    assert found.message.startswith("3 of 10000000000 differ")


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
        region = regions(array)
        for at, _ in array.stored_chunks():
            covered[np.ix_(*region(at))] += 1
        assert (covered == 1).all(), layout


def test_check_does_not_enumerate_missing_chunks():
    store = zarr.MemoryStore()
    array = zarr.create_array(store, shape=10**12, dtype="i1", chunks=1)
    array[7] = 3
    assert check(store).is_sound
    store.set("c/7", b"")
    assert [damage.key for damage in check(store).arrays[0].damages] == ["c/7"]
