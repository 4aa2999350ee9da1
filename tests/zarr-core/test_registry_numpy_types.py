"""The data type for a NumPy dtype, with any installed distributions."""

import numpy as np
import pytest
from zarr_core.errors import UnknownExtensionError
from zarr_core.extension import data_type_for

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
