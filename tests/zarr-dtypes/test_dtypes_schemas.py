"""The schemas accept what the classes accept, and are found by the entry points."""

import json
from importlib.metadata import entry_points
from importlib.resources import files

import jsonschema
import pytest
import zarr_core
from zarr_core.extension import DataType, ExtensionDefinition, create_extension

LINES = {
    entry.name: entry
    for entry in entry_points(group="zarr_core.data_type")
    if entry.value.startswith("zarr_dtypes.")
}
WRITTEN_AS = {
    "variable_length_bytes": "bytes",
    "structured": "struct",
    "complex_float32": "complex64",
    "complex_float64": "complex128",
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
def test_examples(name):
    schema = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
    for example in schema["examples"]:
        jsonschema.validate(example, schema)
        made = create_extension("data_type", ExtensionDefinition(name, example))
        assert isinstance(made, DataType)
        assert made == LINES[name].load().from_definition(ExtensionDefinition(name, example))
        definition = made.to_definition()
        assert definition.name == WRITTEN_AS.get(name, name)
        if name != "structured":
            assert definition.configuration == example
        # What is written is read as the same.
        again = create_extension("data_type", definition)
        assert again.numpy_dtype == made.numpy_dtype
        assert hash(again) == hash(create_extension("data_type", definition))


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


@pytest.mark.parametrize(
    ("name", "configuration"),
    [
        ("numpy.datetime64", {}),
        ("numpy.datetime64", {"unit": "s"}),
        ("numpy.datetime64", {"unit": "B", "scale_factor": 1}),
        ("numpy.datetime64", {"unit": "s", "scale_factor": 0}),
        ("numpy.datetime64", {"unit": "s", "scale_factor": 2**31}),
        ("numpy.datetime64", {"unit": "s", "scale_factor": 1, "calendar": "julian"}),
        ("numpy.timedelta64", {"unit": "S", "scale_factor": 1}),
        ("fixed_length_utf32", {"length_bytes": 6}),
        ("fixed_length_utf32", {"length_bytes": 0}),
        ("fixed_length_utf32", {"length_bytes": 2**31}),
        ("null_terminated_bytes", {"length_bytes": 0}),
        ("null_terminated_bytes", {"length_bytes": 2**31}),
        ("null_terminated_bytes", {"length": 3}),
        ("raw_bytes", {"length_bytes": -1}),
        ("raw_bytes", {}),
        ("string", {"encoding": "latin-1"}),
        ("bytes", {"length_bytes": 3}),
        ("variable_length_bytes", {"length_bytes": 3}),
        ("bfloat16", {"bias": 127}),
        ("int4", {"signed": True}),
        ("complex_float16", {"part": "float16"}),
        ("complex_float32", {"bits": 64}),
        ("struct", {}),
        ("struct", {"fields": []}),
        ("struct", {"fields": [["x", "int8"]]}),
        ("struct", {"fields": [{"name": "", "data_type": "int8"}]}),
        ("struct", {"fields": [{"name": "x"}]}),
        ("struct", {"fields": [{"name": "x", "data_type": "int8", "offset": 1}]}),
        ("structured", {"fields": [["x"]]}),
        ("structured", {"fields": [["x", "int8", [2]]]}),
    ],
)
def test_rejected(name, configuration):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(configuration, schema_of(name))
    with pytest.raises(zarr_core.errors.ExtensionConfigurationError):
        create_extension("data_type", ExtensionDefinition(name, configuration))
