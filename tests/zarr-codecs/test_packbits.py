"""packbits: bit by bit as its specification has it, by itself and for parts of chunks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from registered_codecs import chain, made, round_trip
from zarr_codecs._bits import layout
from zarr_codecs.packbits import PackbitsCodec
from zarr_core.extension import (
    BasicIndexer,
    BufferByteReader,
    ExtensionConfigurationError,
    data_type_for,
)


def in_python(values, first, last):
    """The sequence of bits, as bytes."""
    bits = [value >> bit & 1 for value in values for bit in range(first, last + 1)]
    bits += [0] * (-len(bits) % 8)
    return bytes(
        sum(bit << n for n, bit in enumerate(bits[at : at + 8])) for at in range(0, len(bits), 8)
    )


integers = npst.arrays(
    st.sampled_from(["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8"]),
    npst.array_shapes(max_side=7),
)


@settings(max_examples=60, deadline=None)
@given(array=integers, data=st.data())
def test_integers(array, data):
    width = 8 * array.itemsize
    first = data.draw(st.integers(0, width - 1))
    last = data.draw(st.integers(first, width - 1))
    encoded, back = round_trip(PackbitsCodec("none", first, last), array)
    values = [int(value) & ((1 << width) - 1) for value in array.reshape(-1).tolist()]
    assert encoded == in_python(values, first, last)
    for value, got in zip(values, back.reshape(-1).tolist(), strict=True):
        expected = value & ((1 << (last + 1)) - 1) & ~((1 << first) - 1)
        if array.dtype.kind == "i" and value >> last & 1:
            expected -= 1 << (last + 1)
        assert got == expected


def test_booleans_larger_than_one():
    array = np.array([0, 2, 1, 255], np.uint8).view(bool)
    assert round_trip(PackbitsCodec(), array)[0] == bytes([0b1110])


@settings(max_examples=60, deadline=None)
@given(data=st.data(), padding=st.sampled_from(["none", "first_byte", "last_byte"]))
def test_parts(data, padding):
    shape = data.draw(npst.array_shapes(max_dims=3, max_side=9))
    array = np.arange(np.prod(shape), dtype="u2").reshape(shape) * 37 % 1024
    codec = PackbitsCodec(padding, None, data.draw(st.integers(9, 15)))
    bound = chain(codec, array).with_settings(write_empty_chunks=True)
    encoded = bound.encode(array)
    index = []
    for length in shape:
        start = data.draw(st.integers(0, length - 1))
        stop = data.draw(st.integers(start, length))
        index.append(slice(start, stop, data.draw(st.integers(1, 3))))
    box = BasicIndexer(tuple(index))
    out = np.empty(box.shape, array.dtype)
    codec.partial_decode(BufferByteReader(encoded), bound.decoded, box, out)
    assert (out == array[tuple(index)]).all()


def test_names_of_the_schema_are_accepted():
    codec = made("packbits", padding_encoding="start_byte", start_bit=1, end_bit=3)
    assert codec == PackbitsCodec("first_byte", 1, 3)
    assert codec.to_configuration()["padding_encoding"] == "first_byte"
    assert made("packbits", padding_encoding="end_byte") == PackbitsCodec("last_byte")
    assert made("packbits", first_bit=None, last_bit=None) == PackbitsCodec()
    with pytest.raises(ExtensionConfigurationError, match="first_bit is given twice"):
        made("packbits", first_bit=0, start_bit=0)


def test_memory_for_bits_is_limited(at_most):
    array = np.arange(1 << 18, dtype="u2")
    bits = layout(data_type_for(array.dtype), 0, 11)
    with at_most(3 * array.nbytes):
        packed = bits.pack(array)
    with at_most(3 * array.nbytes):
        assert (bits.unpack(packed, len(array), array.dtype) == array % 4096).all()
