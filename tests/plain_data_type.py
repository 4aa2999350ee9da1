"""A data type for tests, of any NumPy dtype."""

import numpy as np
from zarr_core.extension import ArrayRepresentation, DataType, ExtensionDefinition


class Plain(DataType):
    """Stores a fill value of fixed size as hexadecimal digits, and others as they are."""

    def __init__(self, dtype, name="test.plain"):
        self.dtype = np.dtype(dtype)
        self.name = name

    @classmethod
    def from_definition(cls, definition):
        raise AssertionError(definition)

    def to_definition(self):
        return ExtensionDefinition(self.name)

    @property
    def numpy_dtype(self):
        return self.dtype

    @property
    def item_size(self):
        return None if self.dtype.kind in "OT" else self.dtype.itemsize

    @property
    def has_byte_order(self):
        return self.item_size not in (None, 1)

    def fill_value_from_json(self, value):
        if self.item_size is None:
            return np.array(value, self.dtype)
        return np.frombuffer(bytes.fromhex(value), self.dtype).reshape(())

    def fill_value_to_json(self, value):
        return value[()] if self.item_size is None else value.tobytes().hex()


def plain_representation(array, name="test.plain"):
    """The representation of a chunk with the dtype and shape of this array."""
    dtype = array.dtype
    if dtype.kind not in "OT":
        dtype = dtype.newbyteorder("=")
    return ArrayRepresentation(array.shape, Plain(dtype, name), np.zeros((), dtype))
