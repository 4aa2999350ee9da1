"""Checking a document of the drafts against its schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import (
    MetadataValidationError,
    Problem,
    UnsupportedFieldError,
    json_pointer,
    package_schema,
)

import zarr_formats

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core.extension import JSON

_PACKAGE = zarr_formats.__name__


def checked(document: JSON, schema: str, where: str, *, ignoring: bool = False) -> dict[str, Any]:
    """The document, if its schema accepts it.

    Parameters
    ----------
    document : JSON
        The document.
    schema : str
        Name of the schema, such as ``"draft.array"``.
    where : str
        Store and key, for errors.
    ignoring : bool
        Whether members that the schema does not name are ignored.

    Raises
    ------
    UnsupportedFieldError
        If it has members that nobody knows.
    MetadataValidationError
        If anything else is wrong; carries every problem.
    """
    found = package_schema(_PACKAGE, "format", schema)
    if found.accepts(document):
        assert isinstance(document, dict), "these schemas describe objects"
        return document
    if not isinstance(document, dict):
        raise MetadataValidationError(where, found.problems(document))
    rules: Any = found.document
    known = rules["properties"]
    unknown = [name for name in document if name not in known]
    problems = found.problems({name: document[name] for name in document if name in known})
    if problems:
        raise MetadataValidationError(where, problems)
    if unknown and not ignoring:
        message = f"is not a member of such a document; known: {', '.join(known)}"
        raise UnsupportedFieldError(
            where, [Problem(json_pointer(name), message) for name in unknown]
        )
    return document


def located(
    error: MetadataValidationError, where: str, place: Callable[[str], str] = str
) -> MetadataValidationError:
    """An error of a part of a document, with the document's name.

    Parameters
    ----------
    error : MetadataValidationError
        The error.
    where : str
        Store and key.
    place : callable
        Where the part's pointers are in the document.
    """
    problems = [Problem(place(problem.pointer), problem.message) for problem in error.problems]
    return MetadataValidationError(where, problems)
