"""The schemas accept what the constructors accept, and are found by the entry points."""

import json
from importlib.metadata import entry_points
from importlib.resources import files

import jsonschema
import pytest
from zarr_core.extension import Codec, ExtensionDefinition

NAMES = sorted(
    entry.name
    for entry in entry_points(group="zarr_core.codec")
    if entry.value.startswith("zarr_codecs.")
)
BLOSC = {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}


def schema_of(name):
    return json.loads((files("zarr_codecs") / f"schemas/codec/{name}.json").read_text())


def class_of(name):
    (entry,) = (
        entry
        for entry in entry_points(group="zarr_core.codec", name=name)
        if entry.value.startswith("zarr_codecs.")
    )
    return entry.load()


@pytest.mark.parametrize("name", NAMES)
def test_schema_is_a_schema_whose_examples_are_valid(name):
    schema = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
    assert issubclass(class_of(name), Codec)
    for example in schema["examples"]:
        jsonschema.validate(example, schema)
        made = class_of(name).from_definition(ExtensionDefinition(name, example))
        assert made.to_configuration() == example


@pytest.mark.parametrize(
    ("name", "configuration"),
    [
        ("gzip", {}),
        ("gzip", {"level": 10}),
        ("gzip", {"level": -1}),
        ("gzip", {"level": "5"}),
        ("gzip", {"level": 5, "mtime": 0}),
        ("zstd", {"level": 23}),
        ("zstd", {"level": -131073}),
        ("zstd", {"level": 3, "checksum": 1}),
        ("zstd", {"checksum": True}),
        ("crc32c", {"seed": 0}),
        ("transpose", {}),
        ("transpose", {"order": "K"}),
        ("transpose", {"order": [0, 0]}),
        ("transpose", {"order": [0, -1]}),
        ("blosc", {}),
        ("blosc", BLOSC | {"cname": "gzip"}),
        ("blosc", BLOSC | {"clevel": 10}),
        ("blosc", BLOSC | {"shuffle": 1}),
        ("blosc", BLOSC | {"typesize": 0}),
        ("blosc", BLOSC | {"blocksize": -1}),
        ("blosc", {key: value for key, value in BLOSC.items() if key != "typesize"}),
        ("blosc", {key: value for key, value in BLOSC.items() if key != "clevel"}),
    ],
)
def test_invalid_metadata(name, configuration):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(configuration, schema_of(name))
