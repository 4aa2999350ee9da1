"""Validation of metadata documents: schema, additional rules, unknown members.

Specification: v3.1, "Metadata".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.errors import MetadataValidationError, ValidationProblem, json_pointer
from zarr_core.messages import quoted
from zarr_core.metadata.schema import core_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from zarr_core.definition import JSON
    from zarr_core.location import Location

ARRAY_MEMBERS = (
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "codecs",
    "storage_transformers",
    "dimension_names",
    "attributes",
)
"""Members of an array document, in the order in which new documents have them."""

GROUP_MEMBERS = ("zarr_format", "node_type", "attributes", "consolidated_metadata")
"""Members of a group document, in the order in which new documents have them."""

MAX_RANK = 64
"""Maximum number of dimensions in NumPy 2."""

MAX_LENGTH = 2**63 - 1
"""Maximum length of a dimension."""

# Limits that only a hostile or damaged document exceeds.
_MAX_MEMBERS = 10_000
_MAX_ITEMS = {
    "shape": (MAX_RANK, "dimensions"),
    "dimension_names": (MAX_RANK, "names of dimensions"),
    "codecs": (10_000, "codecs"),
    "storage_transformers": (10_000, "storage transformers"),
}
_ADVICE = 20  # problems with advice, which takes milliseconds; messages show fewer
_DEFINED = {"array": frozenset(ARRAY_MEMBERS), "group": frozenset(GROUP_MEMBERS)}


def check_document(document: JSON, location: Location | str, kind: str) -> dict[str, Any]:
    """Return a document if it is a valid ``"array"`` or ``"group"``, except for additional fields."""
    schema, members = core_schema(kind), _DEFINED[kind]
    if not isinstance(document, dict):
        raise MetadataValidationError(location, schema.problems(document))
    if problems := too_many_items(document):  # before each of them is validated
        raise MetadataValidationError(location, problems)
    defined = document
    if not document.keys() <= members:
        defined = {name: value for name, value in document.items() if name in members}
    problems = schema.problems(defined)
    if kind == "array":
        problems += array_problems(document)
    if problems:
        raise MetadataValidationError(location, problems)
    return document


def node_type_error(document: JSON, location: Location | str) -> MetadataValidationError:
    """Return the error for a document that is neither an array's nor a group's."""
    problems = core_schema("group").problems(document)
    if isinstance(document, dict):
        message = "is missing"
        if "node_type" in document:
            message = f'must be "array" or "group", not {quoted(document["node_type"])}'
        version = [problem for problem in problems if problem.pointer == "/zarr_format"]
        problems = [ValidationProblem("/node_type", message), *version]
    return MetadataValidationError(location, problems)


_INTEGERS = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_FLOATS = frozenset(f"float{bits}" for bits in (16, 32, 64))
_NAMED_FLOATS = frozenset(["NaN", "Infinity", "-Infinity"])


def is_fill_value(data_type: JSON, value: JSON) -> bool:
    """Whether a fill value has a form of a data type of this package, if it is a number or bool."""
    if data_type.__class__ is not str:
        return True
    if data_type in _INTEGERS:
        return type(value) is int
    if data_type in _FLOATS:
        return type(value) is not str or value in _NAMED_FLOATS or value[:2] == "0x"
    return data_type != "bool" or type(value) is bool


def too_many_items(document: JSON) -> list[ValidationProblem]:
    """Return problems of a document with so many items that validating each would take too long."""
    if not isinstance(document, dict):
        return []
    if len(document) > _MAX_MEMBERS:
        message = f"has {len(document)} members; at most {_MAX_MEMBERS} are supported"
        return [ValidationProblem("", message)]
    return [
        ValidationProblem(f"/{name}", f"has {len(items)} {what}; at most {limit} are supported")
        for name, (limit, what) in _MAX_ITEMS.items()
        if isinstance(items := document.get(name), list) and len(items) > limit
    ]


def array_problems(document: dict[str, JSON]) -> list[ValidationProblem]:
    """Return the problems that JSON Schema cannot express; the document may have any form."""
    problems: list[ValidationProblem] = []
    shape = document.get("shape")
    if not isinstance(shape, list):
        return problems  # reported by the schema
    problems.extend(
        ValidationProblem(
            f"/shape/{axis}", f"{length} is more than {MAX_LENGTH}, the longest that can be indexed"
        )
        for axis, length in enumerate(shape)
        if isinstance(length, int) and length > MAX_LENGTH
    )
    names = document.get("dimension_names")
    # v3.1, "dimension_names": "an array of strings or null objects with the same length as shape".
    if isinstance(names, list) and len(names) != len(shape):
        problems.append(
            ValidationProblem(
                "/dimension_names",
                f"must have a name or null for each of the {len(shape)} dimensions, "
                f"but has {len(names)}",
            )
        )
    return problems


def unknown_members(
    document: Mapping[str, JSON],
    known: Collection[str],
    advice: Callable[[str], str] | None = None,
) -> list[ValidationProblem]:
    """Return problems for unknown fields that must be understood, with advice on their names."""
    # v3.1, "Extension definition", must_understand: fail "if any metadata fields are present which
    # (a) the implementation does not recognize and (b) are not explicitly set to
    # "must_understand": false".
    message = (
        "is not a member that this library knows; it may be ignored only if it is an object with "
        '"must_understand": false'
    )
    unknown = [
        name
        for name, value in document.items()
        if name not in known
        and not (isinstance(value, dict) and value.get("must_understand") is False)
    ]
    return [
        ValidationProblem(
            json_pointer(name),
            f"{message}. {advice(name)}" if advice and number < _ADVICE else message,
        )
        for number, name in enumerate(unknown)
    ]
