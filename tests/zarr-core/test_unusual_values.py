"""Values that no array or document can have are refused with an error that names them."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import AttributeValueError, MetadataValidationError, UnknownExtensionError


@pytest.mark.parametrize("value", [np.longdouble(2), np.ones(2, np.clongdouble)])
def test_numbers_without_a_json_form_are_named(value):
    with pytest.raises(AttributeValueError, match="longdouble cannot be represented in JSON"):
        zarr.create_group(attributes={"a": value})


def test_a_list_within_itself_is_refused():
    names, metadata = [], {}
    names.append(names)
    metadata["codecs"] = metadata
    for options in ({"dimension_names": names}, {"metadata": metadata}):
        with pytest.raises(MetadataValidationError):
            zarr.create_array({}, shape=1, dtype="u1", **options)


def test_dates_that_do_not_fit_into_strings():
    array = zarr.create_array(shape=2, dtype="U3")
    with pytest.raises(ValueError, match="cannot be stored as <U3"):
        array[:] = np.array(["2001-02-03", "NaT"], "M8[D]")


def test_names_of_data_types_that_are_no_text():
    with pytest.raises(UnknownExtensionError, match="data type"):
        zarr.create_array(shape=2, dtype="\ud800")
