"""The test kit for authors, applied to every data type of this repository."""

import json
from importlib.metadata import entry_points
from importlib.resources import files

import numpy as np
from hypothesis import strategies as st
from zarr_conformance.kit import DataTypeTests

UNWRITABLE = {
    # Names that do not occur in version 3; version 2 uses them.
    "test_metadata_is_preserved": None,
    "test_array_round_trip": None,
}


SPECIAL = {
    "v2.object": {
        **UNWRITABLE,
        "values": lambda self, data_type, shape: st.text(max_size=4).map(
            lambda text: np.full(shape, text, object)
        ),
        "test_invalid_fill_value_raises": None,  # any JSON value is an element
    },
    # Its elements are arrays, so an array without dimensions does not exist.
    "v2.subarray": {
        **UNWRITABLE,
        "test_fill_value_round_trip": None,
        "test_default_fill_value_is_valid": None,
    },
}


def class_of(name, extension):
    file = files(extension.__module__.partition(".")[0]) / f"schemas/data_type/{name}.json"
    given = {"configurations": json.loads(file.read_text())["examples"]}
    return type(
        "Tests", (DataTypeTests,), {"name": name, "examples": 6, **given, **SPECIAL.get(name, {})}
    )


for entry in entry_points(group="zarr_core.data_type"):
    if entry.value.startswith(("zarr_core.", "zarr_dtypes.", "zarr_formats.")):
        globals()["Test" + entry.name.title().replace(".", "")] = class_of(entry.name, entry.load())


class TestRaw(DataTypeTests):
    name = "r24"
    examples = 6
    test_is_installed = None  # a family of names, which entry points cannot list
    test_schema_accepts_configuration = None  # found under the name of the family
