"""The verdict on a metadata document: schema, cross-field rules, unknown members.

Specification: v3.1, "Metadata".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.errors import MetadataValidationError, UnsupportedFieldError
from zarr_core.metadata import rules
from zarr_core.metadata.problem import Problem, json_pointer
from zarr_core.metadata.schema import core_schema

if TYPE_CHECKING:
    from collections.abc import Collection

    from zarr_core.definition import JSON


def check_array(document: JSON, where: str, understood: Collection[str] = ()) -> dict[str, JSON]:
    """Return a document if it is a valid array document.

    Parameters
    ----------
    document : JSON
        The document.
    where : str
        What it is, for errors.
    understood : collection of str
        Further members that somebody understands.

    Raises
    ------
    MetadataValidationError
        If it is not; carries every problem.
    UnsupportedFieldError
        If it is, but for unknown members that must be understood.
    """
    if core_schema("array").accepts(document) and isinstance(document, dict):
        problems = rules.array_problems(document)
        if problems:
            raise MetadataValidationError(where, problems)
        return document
    return _refuse(document, where, "array", (*rules.ARRAY_MEMBERS, *understood))


def check_group(document: JSON, where: str, understood: Collection[str] = ()) -> dict[str, JSON]:
    """Return a document if it is a valid group document; parameters as for an array's.

    Raises
    ------
    MetadataValidationError
        If it is not; carries every problem.
    UnsupportedFieldError
        If it is, but for unknown members that must be understood.
    """
    if core_schema("group").accepts(document) and isinstance(document, dict):
        return document
    return _refuse(document, where, "group", (*rules.GROUP_MEMBERS, *understood))


def _refuse(document: JSON, where: str, kind: str, known: tuple[str, ...]) -> dict[str, JSON]:
    """Explain what the fast check refused; return the document if nothing is wrong after all."""
    found = core_schema(kind).problems(document)
    if not isinstance(document, dict):
        raise MetadataValidationError(where, found)
    # The schema says the same of unknown members, less clearly.
    core = rules.ARRAY_MEMBERS if kind == "array" else rules.GROUP_MEMBERS
    foreign = tuple(json_pointer(name) for name in document if name not in core)
    problems = [
        problem
        for problem in found
        if not any(
            problem.pointer == name or problem.pointer.startswith(name + "/") for name in foreign
        )
    ]
    if kind == "array":
        problems += rules.array_problems(document)
    unsupported = rules.unknown_members(document, known)
    if problems:
        raise MetadataValidationError(where, problems + unsupported)
    if unsupported:
        raise UnsupportedFieldError(where, unsupported)
    return document


def refuse_node(document: JSON, where: str) -> MetadataValidationError:
    """The error for a document that is neither an array's nor a group's."""
    if not isinstance(document, dict):
        found = core_schema("group").problems(document)
        return MetadataValidationError(where, found)
    problems: list[Problem] = []
    if "node_type" not in document:
        problems.append(Problem("/node_type", "is missing"))
    else:
        problems.append(
            Problem("/node_type", f'must be "array" or "group", not {document["node_type"]!r}')
        )
    problems += [
        problem
        for problem in core_schema("group").problems(document)
        if problem.pointer == "/zarr_format"
    ]
    return MetadataValidationError(where, problems)
