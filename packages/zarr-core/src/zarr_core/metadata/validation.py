"""Validation of metadata documents: schema, additional rules, unknown members.

Specification: v3.1, "Metadata".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.errors import MetadataValidationError, UnsupportedFieldError
from zarr_core.metadata.schema import core_schema
from zarr_core.metadata.validation_problem import ValidationProblem, first_token, json_pointer
from zarr_core.printable import quoted
from zarr_core.strictjson import is_whole

if TYPE_CHECKING:
    from collections.abc import Collection

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


def check_array(
    document: JSON, location: Location | str, understood: Collection[str] = ()
) -> dict[str, JSON]:
    """Return a valid array document; raise an error for any other.

    ``understood`` has the additional fields that an extension understands.

    Raises
    ------
    MetadataValidationError
        If it is invalid; has all problems.
    UnsupportedFieldError
        If the only problems are unknown fields that must be understood.
    """
    if core_schema("array").accepts(document) and isinstance(document, dict):
        problems = array_problems(document)
        if problems:
            raise MetadataValidationError(location, problems)
        return document
    return _explain(document, location, "array", (*ARRAY_MEMBERS, *understood))


def check_group(
    document: JSON, location: Location | str, understood: Collection[str] = ()
) -> dict[str, JSON]:
    """Return a valid group document; raise the errors of :func:`check_array` for any other."""
    if core_schema("group").accepts(document) and isinstance(document, dict):
        return document
    return _explain(document, location, "group", (*GROUP_MEMBERS, *understood))


def _explain(
    document: JSON, location: Location | str, kind: str, known: tuple[str, ...]
) -> dict[str, JSON]:
    """Raise an error with all problems after the fast check failed; return a valid document."""
    found = core_schema(kind).problems(document)
    if not isinstance(document, dict):
        raise MetadataValidationError(location, found)
    # Unknown fields are reported below, more clearly.
    core = ARRAY_MEMBERS if kind == "array" else GROUP_MEMBERS
    additional = {json_pointer(name) for name in document if name not in core}
    problems = [problem for problem in found if first_token(problem.pointer) not in additional]
    if kind == "array":
        problems += array_problems(document)
    unsupported = unknown_members(document, known)
    if problems:
        raise MetadataValidationError(location, problems + unsupported)
    if unsupported:
        raise UnsupportedFieldError(location, unsupported)
    return document


def refuse_node(document: JSON, location: Location | str) -> MetadataValidationError:
    """Return the error for a document that is neither an array's nor a group's."""
    if not isinstance(document, dict):
        found = core_schema("group").problems(document)
        return MetadataValidationError(location, found)
    problems: list[ValidationProblem] = []
    if "node_type" not in document:
        problems.append(ValidationProblem("/node_type", "is missing"))
    else:
        problems.append(
            ValidationProblem(
                "/node_type", f'must be "array" or "group", not {quoted(document["node_type"])}'
            )
        )
    problems += [
        problem
        for problem in core_schema("group").problems(document)
        if problem.pointer == "/zarr_format"
    ]
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


def has_fractions(lengths: JSON) -> bool:
    """Whether a chunk shape has integers written as ``5.0``, and no other fractions."""
    if type(lengths) is not list or {*map(type, lengths)} <= {int}:
        return False
    return all(isinstance(it, int | float) and is_whole(it) for it in lengths)


def array_problems(document: dict[str, JSON]) -> list[ValidationProblem]:
    """Return the problems that JSON Schema cannot express; the document may have any form."""
    problems: list[ValidationProblem] = []
    shape = document.get("shape")
    if not isinstance(shape, list):
        return problems  # reported by the schema
    if len(shape) > MAX_RANK:
        problems.append(
            ValidationProblem(
                "/shape", f"has {len(shape)} dimensions; at most {MAX_RANK} are supported"
            )
        )
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


def unknown_members(document: dict[str, JSON], known: tuple[str, ...]) -> list[ValidationProblem]:
    """Return problems for additional fields that must be understood and are unknown.

    Specification: v3.1, "Extension definition", ``must_understand``: fail "if any
    metadata fields are present which (a) the implementation does not recognize and
    (b) are not explicitly set to ``"must_understand": false``".
    """
    if document.keys() <= set(known):
        return []
    return [
        ValidationProblem(
            json_pointer(name),
            "is not a member that this library knows; it may be ignored only if it is an "
            'object with "must_understand": false',
        )
        for name, value in document.items()
        if name not in known
        and not (isinstance(value, dict) and value.get("must_understand") is False)
    ]
