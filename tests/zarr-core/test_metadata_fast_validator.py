"""The compiled check agrees with the schema library."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.metadata.fast_validator import compile_schema, local_reference
from zarr_core.metadata.schema import Schema, core_schema


def agree(schema, value):
    """Whether the compiled check and jsonschema give the same answer."""
    return schema.accepts(value) == (not schema.errors(value))


EXAMPLES = Path(__file__).parents[2] / "schemas" / "examples"
SCHEMAS = sorted(Path(__file__).parents[2].glob("schemas/*/*.json"))
SCHEMAS = [
    file
    for file in SCHEMAS
    if file.parent.parent.name == "schemas" and file.parent.name != "examples"
]
DOCUMENTS = [json.loads(file.read_bytes()) for file in sorted(EXAMPLES.glob("valid/*.json"))] + [
    json.loads(file.read_bytes())["document"] for file in sorted(EXAMPLES.glob("invalid/*.json"))
]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 300)
    | st.sampled_from(
        [0.0, 1.0, 1.5, -1.0, "", "name", "little", "/", ".", "array", "group", "NaN", 3]
    )
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["name", "configuration", "must_understand", "shape", "kind", "metadata", "x"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


def places(value, path=()):
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*path, key))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from places(item, (*path, position))


@st.composite
def changed_documents(draw):
    """An example with one to three changes at any location."""
    document = copy.deepcopy(draw(st.sampled_from(DOCUMENTS)))
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(list(places(document))))
        if not path:
            continue
        holder = document
        for key in path[:-1]:
            holder = holder[key]
        action = draw(st.sampled_from(["replace", "remove", "add"]))
        if action == "replace":
            holder[path[-1]] = draw(VALUES)
        elif action == "remove":
            del holder[path[-1]]
        elif isinstance(holder, dict):
            holder[draw(st.sampled_from(["must_understand", "name", "extra"]))] = draw(VALUES)
        else:
            holder.append(draw(VALUES))
    return document


@pytest.mark.parametrize("file", SCHEMAS, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_every_published_schema_compiles(file):
    assert compile_schema(json.loads(file.read_bytes())) is not None


@pytest.mark.parametrize("name", ["array", "group", "consolidated", "extension"])
def test_both_agree_on_the_examples(name):
    schema = core_schema(name)
    for document in DOCUMENTS:
        assert agree(schema, document)


@settings(max_examples=100, deadline=None)
@given(changed_documents(), st.sampled_from(["array", "group"]))
def test_both_agree_on_changed_examples(document, name):
    assert agree(core_schema(name), document)


# Each schema with values at its limits.
CASES = [
    ({"type": "integer"}, [1, 1.0, True, "1", None, 10**30]),
    ({"type": "number"}, [1, 1.5, True, "1"]),
    ({"type": ["string", "null"]}, ["", None, 0, False]),
    ({"type": "boolean"}, [True, 0, 1, None]),
    ({"const": 1}, [1, 1.0, True, "1"]),
    ({"const": True}, [True, 1, "true"]),
    ({"const": None}, [None, 0, False, []]),
    ({"enum": ["a", 1, None, False]}, ["a", 1, 1.0, True, None, False, 0, [], {}]),
    ({"minimum": 1, "maximum": 3}, [0, 1, 3, 4, 2.5, "x", True, False]),
    ({"exclusiveMinimum": 1, "exclusiveMaximum": 3}, [1, 1.5, 2, 3, None]),
    ({"multipleOf": 8}, [0, 8, 12, "x"]),
    ({"multipleOf": 0.5}, [1.5, 1.25, 1]),
    ({"minLength": 1, "maxLength": 2}, ["", "a", "abc", 3]),
    ({"pattern": "^a+$"}, ["a", "ab", "aaa", 1]),
    ({"pattern": "b"}, ["abc", "ac"]),
    ({"items": {"type": "integer"}}, [[], [1], [1, "x"], "x", {}]),
    (
        {"prefixItems": [{"type": "string"}], "items": {"type": "integer"}},
        [[], ["a"], [1], ["a", 1], ["a", "b"]],
    ),
    ({"minItems": 1, "maxItems": 2}, [[], [1], [1, 2, 3], "abcd"]),
    ({"contains": {"const": 1}}, [[], [1], [2, 1, 1], [True], ["a"], {}, 1]),
    ({"contains": {"const": 1}, "minContains": 0, "maxContains": 1}, [[], [1], [1, 1], 1]),
    ({"contains": {"type": "string"}, "minContains": 2}, [[], ["a"], ["a", "b", 1]]),
    ({"uniqueItems": True}, [[], [1, 2], [1, 1], [1, 1.0], [1, True], [0, False], ["a", "a"]]),
    ({"required": ["a"]}, [{}, {"a": 1}, [], "a"]),
    ({"properties": {"a": {"type": "string"}}}, [{}, {"a": "x"}, {"a": 1}, {"b": 1}, []]),
    ({"properties": {"a": True}, "additionalProperties": False}, [{}, {"a": 1}, {"b": 1}]),
    (
        {"properties": {"a": {}}, "additionalProperties": {"type": "string"}},
        [{"a": 1}, {"b": "x"}, {"b": 1}],
    ),
    ({"minProperties": 1, "maxProperties": 1}, [{}, {"a": 1}, {"a": 1, "b": 2}, []]),
    ({"anyOf": [{"type": "string"}, {"minimum": 3}]}, ["a", 3, 1, None]),
    ({"anyOf": [{"const": 1}, {"const": 2}, {"const": 3}]}, [1, 2, 3, 4]),
    ({"oneOf": [{"type": "integer"}, {"minimum": 3}]}, [1, 3, 3.5, "a"]),
    ({"allOf": [{"type": "integer"}, {"minimum": 3}, {"maximum": 5}]}, [1, 3, 3.5, 6]),
    ({"allOf": [True, {"minimum": 3}], "type": "integer"}, [1, 3, 3.5]),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}, ["x", 1]),
    ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"const": 1}}}, [1, 2]),
    ({"items": {"$ref": "#"}, "type": "array"}, [[], [[], [[]]], [1], [[1]]]),
    ({"not": {"type": "string"}}, ["x", 1]),
    ({"if": {"type": "string"}, "then": {"minLength": 1}}, ["", "x", 1]),
    ({"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"const": 1}}, ["", "x", 1, 2]),
    (
        {"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}},
        [{}, {"a": 1}, {"a": 2}, 5],
    ),
    (True, [1, {}]),
    (False, [1, {}]),
    ({}, [1, {}]),
]


@pytest.mark.parametrize(("schema", "values"), CASES, ids=lambda part: json.dumps(part)[:50])
def test_both_agree_on_each_keyword(schema, values):
    schema = Schema(schema)
    for value in values:
        assert agree(schema, value), value


@pytest.mark.parametrize(
    "schema",
    [
        {"patternProperties": {"^a": {}}},
        {"properties": {"a": {"dependentRequired": {}}}},
        {"enum": [[1], {}]},
        {"$ref": "https://example.org/schema"},
        {"$ref": "#/$defs/none"},
        {"items": 5},
    ],
)
def test_unknown_keywords_are_left_to_the_library(schema):
    assert compile_schema(schema) is None


def test_undecidable_values_are_left_to_the_library():
    schema = {"uniqueItems": True}
    assert not compile_schema(schema)([[1], [2]])
    assert Schema(schema).problems([[1], [2]]) == []


def test_references_stay_within_the_schema():
    with pytest.raises(LookupError):
        local_reference({}, "other.json#/a")
    assert local_reference({"a": {"b": 1}}, "#/a/b") == 1
