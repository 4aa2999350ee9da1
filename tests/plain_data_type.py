"""A data type for tests of codecs, of any NumPy dtype."""

import numpy as np
from zarr_core.extension import ArrayRepresentation, DataType, ExtensionDefinition


class Plain(DataType):
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

    def fill_value_from_json(self, value):
        raise AssertionError(value)

    def fill_value_to_json(self, value):
        raise AssertionError(value)


def plain_representation(array, name="test.plain"):
    """The representation of a chunk with the dtype and shape of this array."""
    dtype = array.dtype
    if dtype.kind not in "OT":
        dtype = dtype.newbyteorder("=")
    return ArrayRepresentation(array.shape, Plain(dtype, name), np.zeros((), dtype))
