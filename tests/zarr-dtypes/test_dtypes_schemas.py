"""The schemas accept what the classes accept, and are found by the entry points."""

import json
from importlib.metadata import entry_points
from importlib.resources import files

import jsonschema
import pytest
from zarr_core.extension import ExtensionDefinition, create_extension

LINES = {
    entry.name: entry
    for entry in entry_points(group="zarr_core.data_type")
    if entry.value.startswith("zarr_dtypes.")
}
SMALL_FLOATS = {
    "bfloat16", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3",
    "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
}  # fmt: skip


def schema_of(name):
    return json.loads((files("zarr_dtypes") / f"schemas/data_type/{name}.json").read_text())


def test_all_are_there():
    assert set(LINES) == {
        "bytes", "fixed_length_utf32", "null_terminated_bytes", "numpy.datetime64",
        "numpy.timedelta64", "raw_bytes", "string", "struct", "structured",
        "variable_length_bytes",
        *SMALL_FLOATS, "float8_e4m3fn", "int2", "int4", "uint2", "uint4",
        *(f"complex_{part}" for part in {*SMALL_FLOATS, "float16", "float32", "float64"}),
    }  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_forms_of_fill_values(name):
    schema = schema_of(name)
    forms = {"$defs": schema["$defs"], "$ref": "#/$defs/fill_value"}
    configuration = schema["examples"][0]
    if name in ("struct", "structured"):
        fields = [["x", "float32"], ["y", "float32"]]
        if name == "struct":
            fields = [{"name": key, "data_type": value} for key, value in fields]
        configuration = {"fields": fields}
    made = create_extension("data_type", ExtensionDefinition(name, configuration))
    for example in schema["$defs"]["fill_value"]["examples"]:
        jsonschema.validate(example, forms)
        value = made.fill_value_from_json(example)
        assert value.shape == ()
        assert value.dtype == made.numpy_dtype
        written = made.fill_value_to_json(value)
        jsonschema.validate(written, forms)
        assert made.fill_value_from_json(written).tobytes() == value.tobytes() or (
            made.item_size is None and made.fill_value_from_json(written) == value
        )
