"""The codec ``bytes`` by itself, as other codecs and indexes of shards call it."""

import numpy as np
import pytest
from core_data_types import data_type
from zarr_core.codecs.bytes import BytesCodec
from zarr_core.errors import ChunkDecodeError
from zarr_core.extension import ArrayRepresentation


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
    assert BytesCodec().resolve(representation("uint8")) == BytesCodec()
    assert BytesCodec().resolve(representation("uint16")).endian is not None
    BytesCodec().check(representation("uint8"))
    with pytest.raises(ValueError, match='"endian" is missing'):
        BytesCodec().check(representation("uint16"))


def test_other_byte_orders_are_none():
    with pytest.raises(ValueError, match='"little" or "big", not \'middle\''):
        BytesCodec("middle")
