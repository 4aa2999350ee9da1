"""The published JSON Schemas are valid, equal to those of the packages, and agree with the code."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import jsonschema
import pytest
import zarr_core as zarr
from core_data_types import CLASSES, data_type
from zarr_core.data_types.raw import RawBits
from zarr_core.errors import ZarrError
from zarr_core.metadata.schema import Schema

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "schemas" / "examples"
FILES = {
    f"{file.parent.name}/{file.stem}": file
    for file in sorted(ROOT.glob("schemas/*/*.json"))
    # The conformance tests have formats of their own, which are not metadata.
    if file.parent.name not in ("examples", "conformance")
}
# Invalid documents that have one meaning, which a warning names.
READ = {
    *("chunk-keys-separator-null", "chunk-shape-fraction", "fill-bool-number", "fill-float-null"),
    *("fill-float-nan-in-small-letters", "fill-int-null", "fill-int-string"),
    "fill-int-whole-fraction",
}


def read(name):
    return json.loads(FILES[name].read_bytes())


def examples(folder, stage=None):
    files = sorted((EXAMPLES / folder).glob("*.json"))
    return [
        file for file in files if stage is None or json.loads(file.read_bytes())["stage"] == stage
    ]


def test_the_published_schemas_are_those_of_the_packages():
    path = ROOT / "scripts" / "publish_schemas.py"
    spec = importlib.util.spec_from_file_location("publish_schemas", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.differences(ROOT) == []


@pytest.mark.parametrize("name", FILES)
def test_a_schema_is_valid_says_what_it_is_and_has_examples_that_fit(name):
    schema = read(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"]
    assert schema["examples"]
    for example in schema["examples"]:
        assert Schema(schema).problems(example) == []


@pytest.mark.parametrize(
    "name", [name for name in FILES if not name.startswith(("core/", "format/"))]
)
def test_a_configuration_is_an_object_of_known_members(name):
    schema = read(name)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert Schema(schema).problems([]) != []
    assert Schema(schema).problems({"no_such_setting": 1}) != []


def test_parts_that_several_core_schemas_have_are_the_same():
    array, group = read("core/array"), read("core/group")
    assert array["$defs"]["extension"]["anyOf"] == read("core/extension")["anyOf"]
    assert array["$defs"]["ignorable"] == group["$defs"]["ignorable"]
    envelope = group["properties"]["consolidated_metadata"]["anyOf"][1]
    alone = read("core/consolidated")
    for member in ("type", "properties", "required", "additionalProperties"):
        assert envelope[member] == alone[member]


@pytest.mark.filterwarnings("ignore:.*unknown extensions")
@pytest.mark.parametrize("file", examples("valid"), ids=lambda file: file.stem)
def test_valid_documents_are_opened(file):
    assert zarr.open({"zarr.json": file.read_bytes()}, "r").zarr_format == 3


@pytest.mark.parametrize(
    "file",
    examples("invalid", "configuration") + examples("invalid", "fill_value"),
    ids=lambda file: file.stem,
)
def test_invalid_extensions_are_rejected_where_they_are(file):
    example = json.loads(file.read_bytes())
    store = {"zarr.json": json.dumps(example["document"]).encode()}
    if file.stem in READ:
        with pytest.warns(UserWarning, match="nonstandard metadata|fill value is null"):
            zarr.open(store, "r")
        return
    with pytest.raises(ZarrError) as caught:
        zarr.open(store, "r")
    found = [problem.pointer for problem in caught.value.problems]
    assert sorted(found) == sorted(example["pointers"])


FILL_VALUES = [
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        127,
        128,
        255,
        256,
        -128,
        -129,
        2**31,
        2**32,
        2**63,
        2**64,
        -(2**63),
    ),
    *(0.0, 1.0, 1.5, -0.0, 1e300, "NaN", "Infinity", "-Infinity", "nan", "", "abc"),
    *("0x7fc0", "0x7fc00000", "0x7ff8000000000000", "0xZZZZ", "7fc00000"),
    *([], [0.0], [0.0, 0], ["NaN", 1], ["x", 1], [0, 0, 0], [None, 1], {}),
    *("inf", "-NaN", "+Infinity", "0x7fc000000", "0X7FC00000", "0x7fc0000g", "1", "1.5", "true"),
    *(300, 10**400, -(2**63) - 1, [1], [[0.0], 0.0], {"0": 1, "1": 2}),
]


# The tests of other distributions cover their schemas.
@pytest.mark.parametrize("name", [name for name in CLASSES if f"data_type/{name}" in FILES])
def test_the_schema_of_a_fill_value_says_what_the_code_does(name):
    found = data_type(name)
    schema = Schema(read(f"data_type/{name}")["$defs"]["fill_value"])
    for value in FILL_VALUES + schema.document["examples"]:
        try:
            found.fill_value_from_json(value)
        except ValueError:
            assert schema.problems(value) != [], value
        else:
            assert schema.problems(value) == [], value


def test_the_schema_of_raw_fill_values_permits_the_forms():
    schema = Schema(read("data_type/raw")["$defs"]["fill_value"])
    for value in ([0, 0, 255], "AAD/"):
        assert schema.problems(value) == []
        assert RawBits(3).fill_value_from_json(value).tobytes() == b"\0\0\xff"
    for value in ([0, 256], [1.0], 0, None, []):
        assert schema.problems(value) != []
    for value in (
        [0], [0, 0, 0, 0], [0, 0, 256], [0, 0, -1], [0, 0, 1.0], [0, 0, True], [0, 0, [1]], 0, None,
        "AA", "AAA=AAAA", "AA D/", "äÄ",
    ):  # fmt: skip
        with pytest.raises(ValueError, match="r24"):
            RawBits(3).fill_value_from_json(value)
