"""The codec ``bytes`` alone, as used by other codecs and by shard indexes."""

import numpy as np
import pytest
from core_data_types import data_type
from plain_data_type import Plain
from zarr_core.codecs.bytes import BytesCodec
from zarr_core.errors import ChunkDecodeError
from zarr_core.extension import ArrayRepresentation
from zarr_core.interfaces.byte_reader import BufferByteReader
from zarr_core.interfaces.selection import BasicIndexer


def representation(name, shape=(2, 3)):
    made = data_type(name)
    return ArrayRepresentation(shape, made, np.zeros((), made.numpy_dtype))


@pytest.mark.parametrize("endian", ["little", "big"])
def test_elements_are_laid_out_in_c_order(endian):
    decoded = representation("uint16")
    values = np.asfortranarray(np.arange(6, dtype="u2").reshape(2, 3))
    codec = BytesCodec(endian)
    encoded = codec.encode(values, decoded)
    assert bytes(encoded) == b"".join(number.to_bytes(2, endian) for number in range(6))
    assert np.array_equal(codec.decode(encoded, decoded), values)
    with pytest.raises(ChunkDecodeError, match="11 bytes instead of 12"):
        codec.decode(encoded[:-1], decoded)


def test_a_byte_order_is_needed_where_elements_have_one():
    assert BytesCodec().complete(representation("uint8")) == BytesCodec()
    assert BytesCodec().complete(representation("uint16")).endian is not None
    BytesCodec().check(representation("uint8"))
    with pytest.raises(ValueError, match='"endian" is missing'):
        BytesCodec().check(representation("uint16"))


def test_other_byte_orders_are_none():
    with pytest.raises(ValueError, match='"little" or "big", not \'middle\''):
        BytesCodec("middle")


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
