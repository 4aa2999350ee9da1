"""Data types from what users give, beside what test_create.py tries."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import UnknownExtensionError
from zarr_core.hierarchy.data_types import data_type_of

CORE = [*"?bBhHiIlLqQefdFD", "V2"]


@pytest.mark.parametrize("code", CORE)
@pytest.mark.parametrize("order", "<>=")
def test_every_numpy_dtype_that_core_has(code, order):
    dtype = np.dtype(code).newbyteorder(order)
    data_type, byte_order = data_type_of(dtype)
    assert data_type.numpy_dtype == np.dtype(code)
    swapped = not dtype.isnative
    assert byte_order == (("big" if dtype.str[0] == ">" else "little") if swapped else None)
    assert data_type_of(data_type) == (data_type, None)
    assert data_type_of(data_type.to_definition()) == (data_type, None)


def test_plugins_are_asked_for_what_core_does_not_have(install):
    install(
        "acme-dates",
        {"data_type": {"acme.date": "acme_dates:Date"}},
        {
            "acme_dates.py": """
from dataclasses import dataclass
import numpy as np
from zarr_core.extension import DataType, ExtensionDefinition

@dataclass(frozen=True)
class Date(DataType):
    @classmethod
    def from_definition(cls, definition):
        return cls()

    @classmethod
    def from_numpy(cls, dtype):
        return cls() if dtype == np.dtype("datetime64[D]") else None

    def to_definition(self):
        return ExtensionDefinition("acme.date")

    @property
    def numpy_dtype(self):
        return np.dtype("datetime64[D]")

    def fill_value_from_json(self, value):
        return np.array(value, "int64").view("datetime64[D]").reshape(())

    def fill_value_to_json(self, value):
        return int(value.view("int64"))
"""
        },
    )
    array = zarr.create_array(data=np.array(["2020-01-02", "1970-01-01"], "datetime64[D]"))
    assert array.metadata.data_type.name == "acme.date"
    assert zarr.open(array.store)[0] == np.datetime64("2020-01-02")
    with pytest.raises(UnknownExtensionError, match=r"datetime64\[s\]"):
        data_type_of("datetime64[s]")
