"""The codec ``bytes``: parts of uncompressed chunks, and bits that stand for nothing.

tests/kit has the requirements of codecs, and the examples of the specification.
"""

import numpy as np
import pytest
import zarr_core
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_data_type import Plain
from zarr_core.codecs import bytes as bytes_codec
from zarr_core.codecs.bytes import BytesCodec
from zarr_core.extension import ArrayRepresentation, ChunkDecodeError
from zarr_core.interfaces.byte_reader import BufferByteReader
from zarr_core.interfaces.selection import BasicIndexer, CoordinateIndexer, OrthogonalIndexer
from zarr_core.selection.projection import take


class Recorder(BufferByteReader):
    def __init__(self, data):
        super().__init__(data)
        self.bytes_read = 0
        self.reads = 0

    def read_into(self, wanted):
        self.reads += len(wanted)
        self.bytes_read += sum(len(buffer) for _, buffer in wanted)
        super().read_into(wanted)


@pytest.fixture
def small_windows(monkeypatch):
    """Small windows, so that the arrays of tests have many."""
    monkeypatch.setattr(bytes_codec, "_WINDOW", 64)
    monkeypatch.setattr(bytes_codec, "_SMALL", 16)
    monkeypatch.setattr(bytes_codec, "_GAP", 8)
    monkeypatch.setattr(bytes_codec, "_FEW", 2)
    monkeypatch.setattr(bytes_codec, "_MEMORY", 32)


@st.composite
def arrays_and_selections(draw):
    shape = tuple(draw(st.lists(st.integers(1, 7), min_size=0, max_size=4)))
    dtype = draw(st.sampled_from(["u1", "<i2", ">i4", "<f8", "V3"]))
    count = int(np.prod(shape, dtype=int))
    raw = np.random.default_rng(0).bytes(count * np.dtype(dtype).itemsize)
    array = np.frombuffer(raw, dtype).reshape(shape)
    kind = draw(st.sampled_from([BasicIndexer, OrthogonalIndexer, CoordinateIndexer]))
    if kind is CoordinateIndexer:
        number = 1 if not shape else draw(st.integers(1, 9))
        index = tuple(
            np.array(
                draw(st.lists(st.integers(0, n - 1), min_size=number, max_size=number)), "intp"
            )
            for n in shape
        )
        return array, CoordinateIndexer(index)
    index = []
    for length in shape:
        if kind is OrthogonalIndexer and draw(st.booleans()):
            numbers = draw(st.lists(st.integers(0, length - 1), min_size=1, max_size=5))
            index.append(np.array(numbers, "intp"))
            continue
        start = draw(st.integers(0, length - 1))
        stop = draw(st.integers(start + 1, length))
        step = draw(st.integers(1, 3))
        last = start + (stop - 1 - start) // step * step
        index.append(slice(start, last + 1, step))
    boxed = all(isinstance(item, slice) for item in index)
    return array, (BasicIndexer if boxed else OrthogonalIndexer)(tuple(index))


@pytest.mark.usefixtures("small_windows")
@settings(max_examples=100, suppress_health_check=[], deadline=None)
@given(case=arrays_and_selections(), contiguous=st.booleans())
def test_a_part_is_what_numpy_selects(case, contiguous):
    array, selection = case
    expected = take(array, selection)
    native = array.dtype.newbyteorder("=")
    room = np.empty(selection.shape + ((1,) if contiguous else (2,)), native)
    out = room[..., 0]
    reader = BufferByteReader(array.tobytes())
    bytes_codec.read_elements(reader, array.shape, array.dtype, selection, out)
    assert out.tobytes() == expected.astype(native).tobytes()


SQUARE = np.arange(1 << 20, dtype="u4").reshape(1024, 1024)
LINE = np.arange(4_000_000, dtype="u4")


def box(*bounds):
    return BasicIndexer(tuple(slice(*bound) for bound in bounds))


def points(*numbers):
    return CoordinateIndexer((np.array(numbers, "intp"),))


@pytest.mark.parametrize(
    ("array", "selection", "reads", "nbytes"),
    [
        pytest.param(SQUARE, box((0, 1023, 511), (5, 13, 1)), 3, 3 * 32, id="rows of a thin slice"),
        pytest.param(SQUARE, box((9, 709, 1), (0, 1024, 1)), 1, 700 * 4096, id="a run at once"),
        pytest.param(
            LINE, points(3_999_999, *range(30, 0, -1), 2_000_000), 3, 128, id="points in groups"
        ),
        pytest.param(LINE, points(3_999_999, 5, 6, 5), 4, 16, id="few points one by one"),
        pytest.param(
            SQUARE[:512].reshape(32, 128, 128), box((0, 32, 1), (0, 128, 1), (7, 8, 1)), 32,
            32 * (127 * 128 + 1) * 4, id="close elements together",
        ),
    ],
)  # fmt: skip
def test_a_part_is_read_with_few_requests_and_bytes(array, selection, reads, nbytes):
    reader = Recorder(array.tobytes())
    out = np.empty(selection.shape, "u4")
    bytes_codec.read_elements(reader, array.shape, array.dtype, selection, out)
    assert (out == array[selection.index]).all()
    assert (reader.reads, reader.bytes_read) == (reads, nbytes)


def test_element_larger_than_a_window_in_the_other_byte_order():
    length = bytes_codec._WINDOW // 4 + 1
    values = np.array(["x" * length, "y" * length], f">U{length}")
    array = zarr_core.create_array(
        zarr_core.MemoryStore(), shape=2, chunks=2, dtype=values.dtype, compressors=None,
        serializer={"name": "bytes", "configuration": {"endian": "big"}},
    )  # fmt: skip
    array[...] = values
    assert (array[...] == values).all()
    assert array[1] == values[1]


def test_wrong_byte_orders_and_sizes_are_named():
    with pytest.raises(ValueError, match='"little" or "big", not \'middle\''):
        BytesCodec("middle")
    decoded = ArrayRepresentation((2, 3), Plain("u2"), np.zeros((), "u2"))
    with pytest.raises(ChunkDecodeError, match="11 bytes instead of 12"):
        BytesCodec("big").decode(bytes(11), decoded)


class Low(Plain):
    """Integers whose upper half is unused."""

    unused_bits = True

    def clear_unused_bits(self, array):
        return array % 16


@pytest.mark.parametrize("endian", ["little", "big"])
def test_bits_that_stand_for_nothing_are_cleared(endian):
    decoded = ArrayRepresentation((4, 6), Low("u2"), np.zeros((), "u2"))
    codec = BytesCodec(endian)
    assert codec.memory_dtype(decoded) is None  # the bytes must not be used as the elements
    values = np.arange(24, dtype="u2").reshape(4, 6) * 7
    encoded = bytes(codec.encode(values, decoded))
    assert encoded == b"".join((int(n) % 16).to_bytes(2, endian) for n in values.flat)
    assert values.max() == 161  # the argument is unchanged
    stored = b"".join(int(n).to_bytes(2, endian) for n in values.flat)
    assert np.array_equal(codec.decode(stored, decoded), values % 16)
    out = np.empty((2, 3), "u2")
    index = (slice(1, 4, 2), slice(0, 6, 2))
    codec.partial_decode(BufferByteReader(stored), decoded, BasicIndexer(index), out)
    assert np.array_equal(out, values[index] % 16)
