"""Reads and writes within a memory limit."""

from functools import partial
from random import Random

import numpy as np
import pytest
import zarr_core as zarr
from random_layouts import cases, elements, reader
from zarr_core.errors import SelectionError
from zarr_transfer import MemoryLimitError, plan_selection, read_within, write_within


def test_reads_within_the_smallest_limit_are_equal():
    done = 0
    for layout, array, kind, selection in cases(Random(1), 36, 3, lambda _: zarr.MemoryStore()):
        if kind == "fancy":
            continue
        read = partial(read_within, array, indexing=kind)
        try:
            plan = plan_selection(array, selection, indexing=kind)
        except SelectionError:
            continue
        expected = reader(array, kind)(selection)
        out = np.zeros(plan.shape, array.dtype)
        assert read(selection, out=out, max_memory=plan.smallest_nbytes) is out
        assert np.array_equal(out, expected), (layout, kind, selection)
        result = read(selection, max_memory=plan.smallest_nbytes + plan.nbytes)
        assert type(result) is type(expected)
        assert np.array_equal(result, expected)
        if plan.nbytes:
            with pytest.raises(MemoryLimitError, match="pass max_memory=") as caught:
                read(selection, out=out, max_memory=plan.smallest_nbytes - 1)
            assert caught.value.needed == plan.smallest_nbytes
        done += 1
    assert done > 45


def test_writes_within_the_smallest_limit_are_equal():
    random = Random(2)
    done = 0
    for layout, array, kind, selection in cases(random, 36, 2, lambda _: zarr.MemoryStore()):
        if kind == "fancy" or "coordinate" in kind:  # repeated points depend on the order
            continue
        try:
            plan = plan_selection(array, selection, "write", indexing=kind)
        except SelectionError:
            continue
        if kind == "orthogonal" and any(
            isinstance(it, list) and len({*it}) < len(it) for it in selection
        ):
            continue
        twin = zarr.array(array[...], chunks=array.shape)
        new = elements(random, array, plan.shape)
        getattr(twin, f"set_{kind if kind != 'block' else 'basic'}_selection")(
            selection if kind != "block" else _elements_of(array, selection), new
        )
        write = partial(write_within, array, indexing=kind)
        if plan.nbytes:
            before = array[...]
            with pytest.raises(MemoryLimitError):
                write(selection, new, max_memory=plan.smallest_nbytes - 1)
            assert np.array_equal(array[...], before)
        write(selection, new, max_memory=plan.smallest_nbytes)
        assert np.array_equal(array[...], twin[...]), (layout, kind, selection)
        done += 1
    assert done > 25


def _elements_of(array, blocks):
    return tuple(
        slice(
            axis.start(block.start),
            min(axis.size, axis.start(block.stop - 1) + axis.length(block.stop - 1)),
        )
        for axis, block in zip(array.stored.axes, blocks, strict=True)
    )


def test_reading_casts_within_the_limit():
    array = zarr.array(np.arange(10_000, dtype="i2").reshape(100, 100), chunks=(10, 10))
    for out in (np.zeros((50, 40)), np.zeros((40, 50)).T, np.zeros((100, 80))[::2, ::2]):
        read_within(array, np.s_[50:, 60:], out=out, max_memory=2_000_000)
        assert np.array_equal(out, array[50:, 60:])
    points = np.zeros((6, 4), "i2").T
    place = np.arange(24).reshape(4, 6)
    read_within(array, (place, place), out=points, max_memory=2_000_000, indexing="coordinate")
    assert np.array_equal(points, array.vindex[place, place])


def test_one_element():
    array = zarr.array([3, 4])
    found = read_within(array, 1, max_memory=2_000_000)
    assert found == 4
    assert isinstance(found, np.int64)
    assert read_within(array, slice(0, 0), max_memory=10).shape == (0,)
    write_within(array, 0, 9, max_memory=4_000_000)
    write_within(array, slice(0, 0), 9, max_memory=4)
    assert array[...].tolist() == [9, 4]


class Parts:
    """An array with chunks of another library, which records what is read."""

    chunks = (10, 10)

    def __init__(self, values):
        self.values, self.shape, self.dtype = values, values.shape, values.dtype
        self.ndim = values.ndim
        self.read = []

    def __getitem__(self, index):
        found = self.values[index]
        self.read.append(found.size)
        return found


def test_arrays_of_other_libraries_are_read_in_parts():
    source = Parts(np.arange(10_000.0).reshape(100, 100))
    array = zarr.create_array(None, shape=(100, 100), chunks=(30, 40), dtype="f4")
    write_within(array, ..., source, max_memory=4_000_000)
    assert np.array_equal(array[...], source.values)
    assert max(source.read) == 30 * 40
    write_within(array, np.s_[::-1, :100], source, max_memory=4_000_000)
    assert np.array_equal(array[::-1, :100], source.values)


def test_a_view_of_a_read_only_array_is_refused_first():
    array = zarr.open_array({}, mode="w", shape=4, dtype="i2")
    out = np.zeros(4, "i2")
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        read_within(array, out=out, max_memory=10**7)


@pytest.mark.parametrize("library", ["h5py", "zarr", "dask.array", "zarr_core"])
def test_arrays_of_libraries_are_written(library, tmp_path):
    module = pytest.importorskip(library)
    values = np.arange(6000, dtype="i2").reshape(60, 100)
    if library == "h5py":
        with module.File(tmp_path / "a.h5", "w") as file:
            file.create_dataset("x", data=values, chunks=(7, 30))
        source = module.File(tmp_path / "a.h5")["x"]
    elif library == "zarr":
        source = module.create_array({}, data=values, chunks=(7, 30))
    elif library == "dask.array":
        source = module.from_array(values, chunks=(7, 30))
    else:
        source = module.array(values, chunks=(7, 30))
    array = zarr.create_array(None, shape=(60, 100), chunks=(20, 20), dtype="i4")
    write_within(array, ..., source, max_memory=4_000_000)
    assert np.array_equal(array[...], values)


@pytest.mark.parametrize("limit", ["1 MiB", 2.5, True])
def test_a_limit_that_is_not_an_integer_is_rejected(limit):
    array = zarr.create_array(data=np.arange(4))
    message = f"max_memory must be a number of bytes, .* not {limit!r}"
    with pytest.raises(TypeError, match=message):
        read_within(array, ..., max_memory=limit)
    with pytest.raises(TypeError, match=message):
        write_within(array, ..., 0, max_memory=limit)
    with pytest.raises(TypeError, match=message):
        zarr.copy(array, zarr.MemoryStore(), chunks=2, max_memory=limit)


@pytest.mark.parametrize(
    ("codec", "encode", "decode"), [("bz2", 9, 5), ("lzma", 100, 12), ("zlib", 1, 0.5)]
)
def test_plans_include_the_working_memory_of_compressors(codec, encode, decode):
    def plan(way, codecs):
        array = zarr.create_array(shape=32 << 20, dtype="u1", chunks=32 << 20, compressors=codecs)
        return plan_selection(array, slice(None, 1 << 20), way).smallest_nbytes

    for way, nbytes in (("read", decode), ("write", encode + decode)):
        more = plan(way, f"numcodecs.{codec}") - plan(way, "numcodecs.zlib")
        other = 0.5 if way == "read" else 1.5
        assert more == (nbytes - other) * 2**20
