"""The published JSON Schemas are valid, equal to those of the packages, and agree with the code."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import jsonschema
import pytest
from zarr_core.data_types.boolean import Bool
from zarr_core.data_types.complex import Complex
from zarr_core.data_types.floating import Floating
from zarr_core.data_types.integer import Integer
from zarr_core.data_types.raw import RawBits
from zarr_core.definition import ExtensionDefinition
from zarr_core.known_extensions import CORE_ENTRY_POINTS
from zarr_core.metadata.node import node_from_json, parse_stored, valid_node
from zarr_core.metadata.schema import Schema

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "schemas" / "examples"
FILES = {
    f"{file.parent.name}/{file.stem}": file
    for file in sorted(ROOT.glob("schemas/*/*.json"))
    # The conformance tests have formats of their own, which are not metadata.
    if file.parent.name not in ("examples", "conformance")
}
DATA_TYPES = {
    "bool": Bool,
    "int": Integer,
    "uint": Integer,
    "float": Floating,
    "complex": Complex,
    "r": RawBits,
}
KINDS = {
    "data_type": "data_type",
    "chunk_grid": "chunk_grid",
    "chunk_key_encoding": "chunk_key_encoding",
}


def read(name):
    return json.loads(FILES[name].read_bytes())


def data_type(definition):
    family = DATA_TYPES.get(definition.name.rstrip("0123456789"))
    ours = (
        definition.name in CORE_ENTRY_POINTS["data_type"] or family is RawBits
    )  # not int2, int4 ...
    return family.from_definition(definition) if family and ours else None


def definitions(metadata):
    """Every definition of an array, with its extension point and location."""
    for kind in KINDS:
        yield kind, f"/{kind}", getattr(metadata, kind)
    for position, definition in enumerate(metadata.codecs):
        yield "codec", f"/codecs/{position}", definition


def configuration_problems(metadata):
    for kind, pointer, definition in definitions(metadata):
        name = f"{kind}/{definition.name}"
        if kind == "data_type" and data_type(definition).__class__ is RawBits:
            name = "data_type/raw"
        if name in FILES:
            yield from Schema(read(name)).problems(
                dict(definition.configuration), f"{pointer}/configuration"
            )


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


@pytest.mark.parametrize("file", examples("valid"), ids=lambda file: file.stem)
def test_extensions_of_valid_documents_fit_their_schemas(file):
    metadata = node_from_json(parse_stored(file.read_bytes(), str(file)))
    if not hasattr(metadata, "codecs"):
        return
    assert list(configuration_problems(metadata)) == []
    found = data_type(metadata.data_type)
    assert found.fill_value_from_json(metadata.fill_value).shape == ()


@pytest.mark.parametrize("file", examples("invalid", "configuration"), ids=lambda file: file.stem)
def test_configurations_of_invalid_documents_do_not(file):
    example = json.loads(file.read_bytes())
    metadata = valid_node(example["document"])
    found = [problem.pointer for problem in configuration_problems(metadata)]
    assert sorted(found) == sorted(example["pointers"])


@pytest.mark.parametrize("file", examples("invalid", "fill_value"), ids=lambda file: file.stem)
def test_fill_values_of_invalid_documents_are_rejected(file):
    example = json.loads(file.read_bytes())
    metadata = valid_node(example["document"])
    with pytest.raises(ValueError, match=metadata.data_type.name):
        data_type(metadata.data_type).fill_value_from_json(metadata.fill_value)
    assert example["pointers"] == ["/fill_value"]


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


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in FILES
        # The tests of other distributions cover their schemas.
        if name.startswith("data_type/") and data_type(ExtensionDefinition(name[10:]))
    ],
)
def test_the_schema_of_a_fill_value_says_what_the_code_does(name):
    found = data_type(ExtensionDefinition(name.removeprefix("data_type/")))
    schema = Schema(read(name)["$defs"]["fill_value"])
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
