"""The schemas accept what the classes accept, and are found by the entry points."""

import json
from importlib.metadata import entry_points
from importlib.resources import files

import jsonschema
import pytest
from zarr_core.extension import ExtensionDefinition, create_extension

KINDS = ("chunk_grid", "chunk_key_encoding")
LINES = {
    (kind, entry.name): entry
    for kind in KINDS
    for entry in entry_points(group=f"zarr_core.{kind}")
    if entry.value.startswith("zarr_grids.")
}


def test_all_schemas_exist():
    assert {name for _, name in LINES} == {"fanout", "rectilinear", "suffix", "template"}


@pytest.mark.parametrize(("kind", "name"), LINES)
def test_examples(kind, name):
    schema = json.loads((files("zarr_grids") / f"schemas/{kind}/{name}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
    for example in schema["examples"]:
        jsonschema.validate(example, schema)
        made = create_extension(kind, ExtensionDefinition(name, example))
        assert made == LINES[kind, name].load().from_definition(ExtensionDefinition(name, example))
        written = made.to_definition()
        assert written.name == name
        jsonschema.validate(dict(written.configuration), schema)
        again = create_extension(kind, written)
        assert again == made
        assert hash(again) == hash(made)
        assert again.to_definition() == written
