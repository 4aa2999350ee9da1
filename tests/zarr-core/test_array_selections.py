"""Reading and writing with every kind of selection, compared with NumPy."""

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from zarr_core.errors import MissingChunkError, SelectionError

# The duration of an example depends on the load of the machine.
quick = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
DTYPES = ("uint8", ">i4", "float32", "bool", "complex64")


class Remote(zarr.MemoryStore):
    """A store whose chunks are requested and stored in several threads."""

    max_concurrency = 4
    in_memory = False


@st.composite
def pairs(draw, min_dims=0):
    """A random Zarr array and a NumPy array with the same elements."""
    shape = draw(hnp.array_shapes(min_dims=min_dims, max_dims=4, min_side=0, max_side=6))
    inner = tuple(draw(st.integers(1, 4)) for _ in shape)
    shards = None
    if draw(st.booleans()):
        shards = tuple(length * draw(st.integers(1, 2)) for length in inner)
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    fill = draw(st.sampled_from([0, 1]))
    array = zarr.create_array(
        draw(st.sampled_from([zarr.MemoryStore, Remote]))(),
        shape=shape,
        chunks=inner,
        shards=shards,
        dtype=dtype,
        fill_value=fill,
        compressors=draw(st.sampled_from([None, "gzip"])),
        config={"write_empty_chunks": draw(st.booleans())},
    )
    beside = np.full(shape, fill, dtype.newbyteorder("="))
    if draw(st.booleans()):  # some chunks are stored, others not
        box = tuple(slice(draw(st.integers(0, 3)), draw(st.integers(0, 6))) for _ in shape)
        beside[box] = numbers(beside[box].shape, beside.dtype, 3)
        array[box] = beside[box]
    return array, beside


def numbers(shape, dtype, start=0):
    count = int(np.prod(shape))
    return (np.arange(start, start + count) % 251).reshape(shape).astype(dtype)


def along(size):
    """All forms of an orthogonal index for one dimension."""
    masks = hnp.arrays(bool, size)
    if not size:
        return st.one_of(st.slices(0), masks, st.just([]))
    numbers = st.integers(-size, size - 1)
    lists = st.lists(numbers, max_size=6)
    return st.one_of(
        st.slices(size),
        numbers,
        numbers.map(np.int8),
        numbers.map(np.array),
        lists,
        lists.map(lambda items: np.array(items, np.int16)),
        st.lists(st.integers(0, size - 1)).map(lambda items: np.array(items, np.uint64)),
        masks,
        masks.map(list),
        st.integers(0, size).map(range),
        hnp.arrays(np.int64, hnp.array_shapes(max_dims=2, max_side=3), elements=numbers),
    )


@st.composite
def orthogonal(draw, shape):
    """An index for some or all dimensions."""
    count = draw(st.integers(1, len(shape)))
    items = [draw(along(size)) for size in shape[:count]]
    if count < len(shape) and draw(st.booleans()):
        items.append(...)
    return tuple(items)


def orthogonal_oracle(array, index):
    """The outer product by selecting in one dimension after the other, last one first."""
    for axis, item in reversed([*enumerate(item for item in index if item is not ...)]):
        if not isinstance(item, slice):
            item = np.asarray(item)
            item = item if item.size or item.dtype == bool else item.astype(int)
        array = array[(slice(None),) * axis + (item,)]
    return array


def values_for(draw, shape, dtype):
    """A value that broadcasts to a shape."""
    kind = draw(st.sampled_from(["whole", "one", "stretched", "further"]))
    if kind == "one":
        return dtype.type(7)
    if kind == "stretched" and shape:
        keep = [draw(st.booleans()) for _ in shape]
        shape = tuple(length if kept else 1 for length, kept in zip(shape, keep, strict=True))
    if kind == "further":
        shape = (1, *shape)
    return numbers(shape, dtype, 11)


def read_and_write(data, array, beside, index, oracle, get, put):
    """Compare a read, a write, and all elements after the write."""
    expected = oracle(beside)
    found = get(index)
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_array_equal(found, expected)
    value = values_for(data.draw, np.shape(expected), beside.dtype)
    places = oracle(np.arange(beside.size).reshape(beside.shape))
    put(index, value)
    flat = beside.reshape(-1)
    flat[places] = np.broadcast_to(value, (1, *np.shape(places))).reshape(np.shape(places))
    np.testing.assert_array_equal(array[...], beside)


@quick
@given(pair=pairs(), data=st.data())
def test_basic(pair, data):
    array, beside = pair
    index = data.draw(hnp.basic_indices(beside.shape, allow_newaxis=True, max_dims=6))

    def oracle(numpy_array):
        return numpy_array[index]

    read_and_write(
        data, array, beside, index, oracle, array.get_basic_selection, array.set_basic_selection
    )
    np.testing.assert_array_equal(array[index], beside[index])
    assert isinstance(array[index], np.ndarray) == isinstance(beside[index], np.ndarray)


@quick
@given(pair=pairs(min_dims=1), data=st.data())
def test_orthogonal(pair, data):
    array, beside = pair
    index = data.draw(orthogonal(beside.shape))

    def oracle(numpy_array):
        return orthogonal_oracle(numpy_array, index)

    read_and_write(
        data, array, beside, index, oracle, array.oindex.__getitem__, array.oindex.__setitem__
    )
    np.testing.assert_array_equal(array.get_orthogonal_selection(index), oracle(beside))


@quick
@given(pair=pairs(min_dims=1), data=st.data())
def test_coordinate(pair, data):
    array, beside = pair
    if not beside.size:
        return
    together = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
    index = data.draw(hnp.integer_array_indices(beside.shape, result_shape=together))

    def oracle(numpy_array):
        return numpy_array[index]

    read_and_write(
        data, array, beside, index, oracle, array.vindex.__getitem__, array.vindex.__setitem__
    )
    np.testing.assert_array_equal(array[index], beside[index])


@quick
@given(pair=pairs(min_dims=1), data=st.data())
def test_mask(pair, data):
    array, beside = pair
    mask = data.draw(hnp.arrays(bool, beside.shape))

    def oracle(numpy_array):
        return numpy_array[mask]

    read_and_write(
        data, array, beside, mask, oracle, array.get_mask_selection, array.set_mask_selection
    )
    np.testing.assert_array_equal(array[mask], beside[mask])
    np.testing.assert_array_equal(array.vindex[mask], beside[mask])
    if mask.size:
        np.testing.assert_array_equal(array.vindex[mask.tolist(),], beside[mask])


@quick
@given(pair=pairs(min_dims=1), data=st.data())
def test_block(pair, data):
    array, beside = pair
    outer = array.shards or array.chunks
    counts = array.blocks.shape
    assert counts == tuple(-(-n // c) for n, c in zip(beside.shape, outer, strict=True))
    index, expected = [], []
    for count, length in zip(counts, outer, strict=True):
        start, stop = sorted(data.draw(st.tuples(st.integers(0, count), st.integers(0, count))))
        if start < count and data.draw(st.booleans()):
            index.append(start - count * data.draw(st.integers(0, 1)))
            stop = start + 1
        else:
            index.append(slice(start, stop))
        expected.append(slice(start * length, stop * length))

    def oracle(numpy_array):
        return numpy_array[tuple(expected)]

    read_and_write(
        data,
        array,
        beside,
        tuple(index),
        oracle,
        array.blocks.__getitem__,
        array.blocks.__setitem__,
    )
    np.testing.assert_array_equal(array.get_block_selection(tuple(index)), oracle(beside))


@quick
@given(pair=pairs(min_dims=1), data=st.data())
def test_results_go_into_any_memory(pair, data):
    array, beside = pair
    index = data.draw(orthogonal(beside.shape))
    expected = orthogonal_oracle(beside, index)
    shape = np.shape(expected)
    wide = np.zeros((*shape, 2), beside.dtype)
    for out in (
        np.zeros(shape, beside.dtype),
        np.zeros(shape, beside.dtype, order="F"),
        wide[..., 1],
        np.zeros(shape, beside.dtype.newbyteorder()),
        np.zeros(shape, "complex128"),
    ):
        assert array.get_orthogonal_selection(index, out=out) is out
        np.testing.assert_array_equal(out, expected)
    assert not wide[..., 0].any()


def test_every_kind_of_selection_takes_out():
    array = zarr.array(np.arange(12).reshape(3, 4), chunks=2)
    mask = np.eye(3, 4, dtype=bool)
    for get, index in (
        (array.get_basic_selection, (slice(None, None, -1), 2)),
        (array.get_orthogonal_selection, ([2, 0], [1, 1])),
        (array.get_coordinate_selection, ([2, 0], [1, 1])),
        (array.get_mask_selection, mask),
        (array.get_block_selection, (1, 0)),
        (array.get_basic_selection, (1, 2)),
    ):
        expected = get(index)
        out = np.zeros((*np.shape(expected), 2), "int64")[..., 0]
        assert get(index, out=out) is out
        np.testing.assert_array_equal(out, expected)


def test_invalid_out_raises_before_reading():
    from counting_store import CountingStore

    store = CountingStore(zarr.MemoryStore())
    array = zarr.create_array(store, data=np.arange(6.0).reshape(2, 3))
    store.calls.clear()
    with pytest.raises(SelectionError, match=r"out has shape \(3, 2\), the selection \(2, 3\)"):
        array.get_basic_selection(out=np.zeros((3, 2)))
    with pytest.raises(TypeError, match="cannot cast elements from float64 to int32"):
        array.get_basic_selection(out=np.zeros((2, 3), "int32"))
    with pytest.raises(TypeError, match="out must be a NumPy array, not list"):
        array.get_basic_selection(out=[0.0] * 6)
    frozen = np.zeros((2, 3))
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        array.get_basic_selection(out=frozen)
    assert not store.calls


@pytest.mark.parametrize(
    "read",
    [
        lambda z: z[0:0],
        lambda z: z[..., 3:3],
        lambda z: z.oindex[[], :],
        lambda z: z.vindex[[], []],
        lambda z: z[np.zeros((4, 6), bool)],
        lambda z: z.blocks[1:1],
        lambda z: z.get_basic_selection((slice(0, 0), None)),
        lambda z: z[:0, ...].shape,
    ],
)
@pytest.mark.parametrize("shards", [None, (2, 6)])
def test_a_selection_of_nothing_never_asks_the_store(read, shards):
    from counting_store import CountingStore

    store = CountingStore(zarr.MemoryStore())
    options = {"chunks": (2, 3), "shards": shards, "config": {"missing_chunks": "error"}}
    array = zarr.create_array(store, shape=(4, 6), dtype="int16", **options)
    store.calls.clear()
    read(array)
    array[0:0] = 5
    array.oindex[[], [1]] = 5
    array.vindex[[], []] = np.zeros(0)
    array[np.zeros((4, 6), bool)] = 5
    assert not store.calls


def test_arrays_are_cast_as_numpy_casts():
    for dtype, value in (
        ("uint8", np.array([300, -1, 5])),
        ("int32", np.array([1, 2, 3], ">i4")),
        ("int16", np.array([1.9, -1.9, 0.0])),
        ("bool", np.array([0, 2, -1])),
        ("uint16", np.array([1, 1, 1], "float16")),
    ):
        beside = np.zeros(3, dtype)
        array = zarr.create_array(shape=3, chunks=2, dtype=dtype, fill_value=1)
        array[:] = beside[:] = value
        np.testing.assert_array_equal(array[:], beside)


def test_an_element_is_not_taken_for_the_fill_value_by_the_bits_of_another_dtype():
    # float16 1.0 has the bits of 15360, and big-endian 2**24 those of little-endian 1.
    halves = zarr.create_array(shape=4, chunks=2, dtype="uint16", fill_value=15360)
    halves[...] = np.ones(4, "float16")
    np.testing.assert_array_equal(halves[...], np.ones(4))
    swapped = zarr.create_array(shape=4, chunks=2, dtype="int32", fill_value=1)
    swapped[:3] = np.full(3, 2**24, ">i4")
    np.testing.assert_array_equal(swapped[...], [2**24] * 3 + [1])


def test_missing_chunks_can_be_errors():
    array = zarr.create_array(
        shape=(4, 4), chunks=2, dtype="int8", config={"missing_chunks": "error"}
    )
    array[:2, :2] = 1
    np.testing.assert_array_equal(array[:2, :2], np.ones((2, 2)))
    for read in (lambda: array[...], lambda: array[3, 3], lambda: array.vindex[[0, 3], [0, 3]]):
        with pytest.raises(MissingChunkError, match="missing_chunks"):
            read()
    # Complete chunks must not be read first; partial chunks start with the fill value.
    array[2, 2] = 5
    np.testing.assert_array_equal(array[2:, 2:], [[5, 0], [0, 0]])


def test_chunks_with_the_bits_of_the_fill_value_are_not_stored():
    array = zarr.create_array(shape=4, chunks=2, dtype="float32", fill_value=np.nan)
    array[:] = [np.nan, np.nan, -0.0, 0.0]
    assert array.nchunks_initialized == 1
    array[2:] = np.nan
    assert array.nchunks_initialized == 0


def test_a_selection_that_no_memory_holds_is_rejected():
    array = zarr.create_array(shape=(2**60, 8), chunks=(2**10, 8), dtype="int64")
    with pytest.raises(SelectionError, match="read a part of it"):
        array[...]
    assert array[2**60 - 1, 7] == 0
    array[2**59, 3] = 9
    assert array[2**59 - 1 : 2**59 + 1, 3].tolist() == [0, 9]
