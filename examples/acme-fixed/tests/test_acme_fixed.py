"""The conformance tests; the JSON form of fill values."""

import pytest
from acme_fixed import Fixed
from zarr_conformance.kit import DataTypeTests


class TestFixed(DataTypeTests):
    name = "acme.fixed"
    configurations = [{"digits": 2}, {"digits": 0}, {"digits": 18}]
    bad_configurations = [{}, {"digits": 19}, {"digits": "2"}]
    bad_fill_values = [
        "NaN",
        "Infinity",
        "1e30",
        "1e-30",
        "",
        "one",
        1,
        "1e999999999",
        "1." + 30 * "0" + "1",
    ]


@pytest.mark.parametrize(("text", "count"), [("1.25", 125), ("-0.01", -1), ("0.00", 0)])
def test_fill_values_are_decimal(text, count):
    assert Fixed(2).fill_value_from_json(text) == count
    assert Fixed(2).fill_value_to_json(Fixed(2).fill_value_from_json(text)) == text
