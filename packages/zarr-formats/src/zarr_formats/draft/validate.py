"""Validate metadata documents of the drafts with their schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.errors import UnsupportedFieldError
from zarr_core.extension import (
    Location,
    MetadataValidationError,
    ValidationProblem,
    json_pointer,
    package_schema,
)

import zarr_formats

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core.extension import JSON

_PACKAGE = zarr_formats.__name__


def validate_document(
    document: JSON, schema: str, location: Location, *, ignore_unknown: bool = False
) -> dict[str, Any]:
    """Validate a document with a schema such as ``draft.array``, and return it."""
    validator = package_schema(_PACKAGE, "format", schema)
    if validator.accepts(document):
        assert isinstance(document, dict), "these schemas describe objects"
        return document
    if not isinstance(document, dict):
        raise MetadataValidationError(location, validator.problems(document))
    rules: Any = validator.document
    known = rules["properties"]
    unknown = [name for name in document if name not in known]
    problems = validator.problems({name: document[name] for name in document if name in known})
    if problems:
        raise MetadataValidationError(location, problems)
    if unknown and not ignore_unknown:
        message = f"is not a known member; known: {', '.join(known)}"
        raise UnsupportedFieldError(
            location, [ValidationProblem(json_pointer(name), message) for name in unknown]
        )
    return document


def add_location(
    error: MetadataValidationError, location: Location, move: Callable[[str], str] = str
) -> MetadataValidationError:
    """Return an error of a part of a document with the location of the document.

    ``move`` converts pointers of the part to pointers of the document.
    """
    problems = [
        ValidationProblem(move(problem.pointer), problem.message) for problem in error.problems
    ]
    return MetadataValidationError(location, problems)
