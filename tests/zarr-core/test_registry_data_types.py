"""Data types: fallbacks of unknown ones, and the data type for a NumPy dtype.

registry_rules/fallbacks.txt has which fallback is used.
"""

import warnings

import numpy as np
import pytest
from zarr_core import messages
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import UnknownExtensionError
from zarr_core.extension import Location, data_type_for
from zarr_core.registry.resolve import create_data_type

DATETIME = ExtensionDefinition("acme.datetime", {"unit": "s"})
INT64, RAW = ExtensionDefinition("int64"), ExtensionDefinition("r64")
UNKNOWN = ExtensionDefinition("acme.unknown")


def test_a_fallback_is_warned_of_once_for_each_location():
    messages._issued.clear()
    with pytest.warns(UserWarning, match="'acme.datetime' is not installed.*read as 'int64'"):
        data_type, used = create_data_type(DATETIME, [UNKNOWN, INT64, RAW], Location("s /a"))
    assert (data_type.numpy_dtype, used) == ("int64", INT64)
    with warnings.catch_warnings(action="error"):
        assert create_data_type(DATETIME, [INT64], Location("s /a"))[1] is INT64
    with pytest.warns(UserWarning, match="s /b"):
        create_data_type(DATETIME, [INT64], Location("s /b"))
    with pytest.raises(UnknownExtensionError, match=r"s at /data_type: .*'acme.datetime'"):
        create_data_type(DATETIME, [UNKNOWN], Location("s", pointer="/data_type"))


# --- the data type for a NumPy dtype ---

SOURCE = """
import numpy
from zarr_core.extension import DataType, ExtensionDefinition

class Type(DataType):
    numpy_dtype = numpy.dtype("M8[s]")

    @classmethod
    def from_definition(cls, definition):
        return cls()

    @classmethod
    def from_numpy(cls, dtype):
        {does}

    def to_definition(self):
        return ExtensionDefinition("a.date")

    def fill_value_from_json(self, value):
        return numpy.array(value, "M8[s]")

    def fill_value_to_json(self, value):
        return int(value)
"""


@pytest.fixture
def stranger(install):
    def put(does):
        install("a", {"data_type": {"a.date": "a:Type"}}, {"a.py": SOURCE.format(does=does)})

    return put


@pytest.mark.parametrize("does", ["return cls()", "raise KeyError('oops')", "return 5"])
def test_third_party_data_type_does_not_change_known_types(stranger, does):
    stranger(does)
    assert data_type_for(np.dtype("M8[s]")).to_definition().name == "numpy.datetime64"
    assert data_type_for(np.dtype("U3")).to_definition().name == "fixed_length_utf32"


def test_third_party_data_type_is_used_if_no_other_accepts(stranger):
    stranger("return cls() if dtype.char == 'g' else None")
    assert data_type_for(np.dtype("g")).to_definition().name == "a.date"


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("raise KeyError('oops')", "from_numpy raised KeyError: 'oops'"),
        ("return 5", "from_numpy returned int, not a DataType"),
    ],
)
def test_failing_third_party_data_type_is_named(stranger, does, said):
    stranger(does)
    with pytest.raises(UnknownExtensionError, match=rf"Not tried: .*a 1\.0.*{said}"):
        data_type_for(np.dtype("g"))
