import contextlib
import importlib
import json
import sys
import zipfile

import pytest
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionLoadError
from zarr_core.registry import discovery, schemas
from zarr_core.registry.provider import Provider

LINE = Provider("codec", "acme.x", "acme:Codec", "acme-dist", "2.0")
FILE = "acme/schemas/codec/acme.x.json"
SCHEMA = {"type": "object", "properties": {"level": {"type": "integer", "maximum": 9}}}


def problems(configuration, line=LINE, pointer="/codecs/1"):
    with contextlib.suppress(ModuleNotFoundError):
        importlib.import_module(line.module)  # as for every extension that is created
    return schemas.problems(line, ExtensionDefinition(line.name, configuration), pointer)


def test_it_is_found_in_the_package_of_the_code(install):
    install("acme-dist", {}, {"acme/__init__.py": "", FILE: json.dumps(SCHEMA)})
    assert problems({"level": 3}) == []
    (problem,) = problems({"level": 12})
    assert str(problem) == "/codecs/1/configuration/level: 12 is more than 9"


def test_it_is_found_within_a_namespace_package(install):
    install(
        "acme-dist",
        {},
        {"vast/acme/__init__.py": "", "vast/acme/deep.py": "", f"vast/{FILE}": json.dumps(SCHEMA)},
    )
    line = Provider("codec", "acme.x", "vast.acme.deep:Codec", "acme-dist")
    assert problems({"level": 12}, line)


def test_it_is_found_in_an_archive(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "acme.zip", "w") as archive:
        archive.writestr("acme/__init__.py", "")
        archive.writestr(FILE, json.dumps(SCHEMA))
    monkeypatch.syspath_prepend(str(tmp_path / "acme.zip"))
    discovery.refresh()
    assert problems({"level": 3}) == []
    assert problems({"level": 12})
    assert not problems({"level": 12}, Provider("codec", "acme.y", "acme:Codec", "acme-dist"))
    del sys.modules["acme"]


def test_without_one_the_configuration_is_left_to_the_code(install):
    install("acme-dist", {}, {"acme/__init__.py": "", FILE: json.dumps(SCHEMA)})
    assert problems({"level": 12}, Provider("codec", "other", "acme:Codec", "acme-dist")) == []
    assert problems({}, Provider("codec", "acme.x", "not_there:Codec", "acme-dist")) == []
    assert problems({}, Provider("codec", "https://x/acme.x", "acme:Codec", "acme-dist")) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "acme.x.json"),
        ("[]", "not a JSON object"),
        ("false", 'for no members: {"maxProperties": 0}'),
        ('{"type": "strange"}', "not a JSON Schema"),
        ('{"properties": {"a": {"$ref": "https://example.org/s.json"}}}', "https://example.org/s"),
        ('{"allOf": [{"$ref": "other.json"}]}', "other.json"),
        ('{"$dynamicRef": "http://example.org/"}', "http://example.org/"),
        ('{"$ref": "#/$defs/nothing"}', "cannot be applied"),
        ('{"not": {"pattern": "("}}', "cannot be"),
    ],
)
def test_a_broken_one_is_an_error_that_names_the_file(install, text, reason):
    install("acme-dist", {}, {"acme/__init__.py": "", FILE: text})
    with pytest.raises(ExtensionLoadError) as caught:
        problems({"level": "x", "a": 1})
    assert reason in str(caught.value)
    assert FILE in caught.value.reason
    assert caught.value.distribution == "acme-dist 2.0"


def test_references_within_the_file_are_followed(install):
    text = '{"$defs": {"a": {"maximum": 3}}, "properties": {"level": {"$ref": "#/$defs/a"}}}'
    install("acme-dist", {}, {"acme/__init__.py": "", FILE: text})
    assert problems({"level": 3}) == []
    assert problems({"level": 4})


def test_a_changed_one_is_read_after_a_refresh(install):
    site = install("acme-dist", {}, {"acme/__init__.py": "", FILE: json.dumps(SCHEMA)})
    assert problems({"level": 12})
    (site / FILE).write_text("{}")
    assert problems({"level": 12})
    discovery.refresh()
    assert problems({"level": 12}) == []


DEMANDING = {
    "definitions": {"level": {"maximum": 9}},
    "properties": {"level": {"$ref": "#/definitions/level"}},
    "patternProperties": {"^mode": {"type": "string"}},
    "additionalProperties": False,
    "required": ["level"],
    "dependentRequired": {"level": ["mode"]},
    "minProperties": 2,
    "if": {"properties": {"level": {"const": 1}}},
    "then": {"required": ["speed"]},
    "allOf": [{"required": ["mode"]}],
    "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    "oneOf": [{"required": ["c"]}, {"required": ["d"]}, False],
}


@pytest.mark.parametrize("configuration", [{}, {"level": 1}, {"mode": "x"}])
def test_definition_of_a_new_array_can_be_incomplete(install, configuration):
    install("acme-dist", {}, {"acme/__init__.py": "", FILE: json.dumps(DEMANDING)})
    assert problems(configuration)
    definition = ExtensionDefinition("acme.x", configuration)
    assert schemas.problems(LINE, definition, "", complete=False) == []
    wrong = ExtensionDefinition("acme.x", {**configuration, "level": 12})
    assert [str(item) for item in schemas.problems(LINE, wrong, "", complete=False)] == [
        "/configuration/level: 12 is more than 9"
    ]
