"""Messages for the problems of a metadata document."""

from __future__ import annotations

import socket

import pytest
from zarr_core.errors import ValidationProblem, json_pointer
from zarr_core.metadata.schema import InvalidSchemaError, Schema, core_schema


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (
            {"type": "integer"},
            10.5,
            "must be an integer, written without fraction or exponent, not 10.5",
        ),
        ({"type": "integer"}, True, "must be an integer, not true"),
        ({"type": ["string", "null"]}, 1, "must be a string or null, not 1"),
        ({"const": "array"}, "x", 'must be "array", not "x"'),
        ({"enum": ["/", "."]}, "../", 'must be one of "/", ".", not "../"'),
        ({"minimum": 0}, -1, "-1 is less than 0"),
        ({"maximum": 9}, 12, "12 is more than 9"),
        ({"minItems": 1}, [], "must have at least 1 item, but has 0"),
        ({"maxItems": 2}, [1, 2, 3], "must have at most 2 items, but has 3"),
        ({"minLength": 1}, "", "must have at least 1 character"),
        ({"uniqueItems": True}, [0, 0], "has an item more than once: [0, 0]"),
        ({"exclusiveMinimum": 0}, 0, "0 is not more than 0"),
        ({"not": {"const": 0}}, 0, "must not be 0"),
        (
            {"contains": {"const": -1}, "maxContains": 1},
            [-1, -1],
            "has -1 more than once: [-1, -1]",
        ),
        ({"pattern": "^a$"}, "b", '"b" does not have the form ^a$'),
        ({"type": "string"}, ["x" * 80], 'must be a string, not ["' + "x" * 55 + "..."),
        (
            {"anyOf": [{"title": "a name", "const": ""}, {"enum": [2, 3]}, {"minimum": 9}, False]},
            4,
            "must have one of these forms: a name, 2, 3, another; not 4",
        ),
        (
            {"oneOf": [{"type": "integer"}, {"const": 1}]},
            "x",
            'must have one of these forms: an integer, 1; not "x"',
        ),
        # The message of the schema library.
        ({"oneOf": [{"type": "integer"}, {"minimum": 1}]}, 2, "2 is valid under each of"),
        ({"not": {"type": "string"}}, "x", "'x' should not be valid under"),
    ],
)
def test_sentences(schema, value, expected):
    [problem] = Schema(schema).problems(value)
    assert problem.pointer == ""
    assert problem.message.startswith(expected)


def test_a_form_that_was_meant_is_explained_instead_of_all_forms():
    [problem] = core_schema("extension").problems({"name": "gzip", "level": 5}, "/codecs/0")
    assert problem == ValidationProblem(
        "/codecs/0/level", "is not a member here; known: name, configuration, must_understand"
    )


def test_forms_are_listed_by_their_titles():
    [problem] = core_schema("extension").problems(5)
    assert problem.message == "must have one of these forms: a name, an object with a name; not 5"


def test_constant_repr():
    [problem] = Schema({"type": "integer", "const": 3}).problems("3")
    assert problem.message == 'must be 3, not "3"'
    [problem] = Schema({"type": "integer", "const": 3}).problems(3.0)
    assert "must be an integer" in problem.message


def test_titles_are_found_behind_references():
    schema = {
        "anyOf": [{"$ref": "#/$defs/a"}, {"type": "integer"}],
        "$defs": {"a": {"title": "a colour", "type": "string"}},
    }
    [problem] = Schema(schema).problems(None)
    assert "a colour, an integer" in problem.message


def test_members_are_named():
    schema = {"properties": {}, "additionalProperties": False, "required": ["a", "b/c"]}
    assert Schema(schema).problems({"x": 1}) == [
        ValidationProblem("/x", "is not a member here; none is known"),
        ValidationProblem("/a", "is missing"),
        ValidationProblem("/b~1c", "is missing"),
    ]


def test_pointers_begin_where_the_value_stands():
    [problem] = Schema({"items": {"type": "string"}}).problems(["a", 1], "/codecs/2")
    assert str(problem) == "/codecs/2/1: must be a string, not 1"


def test_a_problem_of_the_whole_document_has_no_pointer():
    assert str(ValidationProblem("", "is wrong")) == "is wrong"
    assert ValidationProblem("/a", "is wrong").below("") == ValidationProblem("/a", "is wrong")
    assert json_pointer() == ""
    assert json_pointer("a~b", "c/d", 0, "") == "/a~0b/c~1d/0/"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "colour"},
        {"minimum": "x"},
        {"properties": []},
        {"pattern": "("},
        {"$ref": "#/$defs/none"},
        {"$ref": "https://example.org/schema.json"},
    ],
)
def test_a_broken_schema_is_an_error_without_network(schema, monkeypatch):
    def refuse(*_):
        raise AssertionError("a schema was fetched")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    with pytest.raises(InvalidSchemaError):
        Schema(schema).problems("x")


def test_a_schema_that_cannot_be_compiled_decides_all_the_same():
    schema = Schema({"type": "array", "unevaluatedItems": {"const": 1}})
    assert not schema.accepts([1])
    assert schema.problems([1]) == []
    assert len(schema.problems([2])) == 1
