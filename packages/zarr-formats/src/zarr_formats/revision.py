"""Changes of metadata documents that keep unchanged members as they were read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_core.extension import (
    Location,
    MetadataValidationError,
    ValidationProblem,
    json_pointer,
    strictjson,
)

from zarr_formats.metadata_error import metadata_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from zarr_core.extension import JSON, ArrayMetadata, GroupMetadata

# Fields that a format may lack: what they are, and their pointer if it is not the field itself.
_WORDS = {
    "additional_fields": "additional fields",
    "chunk_memory_layout": "memory layouts",
    "data_type_fallbacks": "fallback data types",
    "dimension_names": "dimension names; store them in an attribute",
    "storage_transformers": "storage transformers",
}
_POINTERS = {"data_type_fallbacks": "/data_type/fallback"}


@dataclass(frozen=True, slots=True)
class Part:
    """Members of a document, and the fields of the metadata that they represent.

    ``write`` returns the members for metadata; missing ones are not written.
    """

    fields: tuple[str, ...]
    members: tuple[str, ...]
    write: Callable[[ArrayMetadata], Mapping[str, JSON]]


def revise(
    raw: Mapping[str, JSON] | None,
    old: ArrayMetadata | None,
    new: ArrayMetadata,
    parts: Iterable[Part],
    location: Location,
) -> dict[str, JSON]:
    """Return the document of new metadata; an error has the problems of all parts.

    Members whose fields are equal in ``new`` and ``old``, and those that are not in any part, are
    kept as in ``raw``, the document that was read.
    """
    written: dict[str, JSON] = {}
    gone: set[str] = set()
    problems: list[ValidationProblem] = []
    for part in parts:
        if old is not None and all(same(old, new, name) for name in part.fields):
            continue
        gone.update(part.members)
        try:
            written |= part.write(new)
        except MetadataValidationError as error:
            problems += [problem for problem in error.problems if problem not in problems]
    if problems:
        raise MetadataValidationError(location, problems)
    kept = {
        name: written.pop(name) if name in written else value
        for name, value in (raw or {}).items()
        if name in written or name not in gone
    }
    return kept | written


def same(one: ArrayMetadata, other: ArrayMetadata, name: str) -> bool:
    """Whether a field is identical in two; ``1``, ``1.0`` and ``true`` are different."""
    ours, theirs = getattr(one, name), getattr(other, name)
    if name in ("fill_value", "attributes"):
        return strictjson.identical(ours, theirs)
    return bool(ours == theirs)


def unsupported(format_name: str, *fields: str) -> Part:
    """Return a part without members for fields that a format does not have.

    Writing it raises MetadataValidationError if one of the fields has a value.
    """

    def check(metadata: ArrayMetadata) -> Mapping[str, JSON]:
        problems = unsupported_problems(format_name, metadata, *fields)
        if problems:
            raise MetadataValidationError("", problems)
        return {}

    return Part(fields, (), check)


def unsupported_problems(
    format_name: str, metadata: ArrayMetadata | GroupMetadata, *fields: str
) -> list[ValidationProblem]:
    """Return a problem for each field that has a value."""
    problems = []
    for field in fields:
        value = getattr(metadata, field)
        pointers = [_POINTERS.get(field, f"/{field}")]
        if field == "additional_fields":
            pointers = [json_pointer(name) for name in value]
        elif field == "dimension_names":
            value = any(name is not None for name in value or ())
        if value:
            message = f"{format_name} does not support {_WORDS[field]}"
            problems += [ValidationProblem(pointer, message) for pointer in pointers]
    return problems


def write_chunks(metadata: ArrayMetadata) -> dict[str, JSON]:
    """Return the member ``chunks`` of versions 1 and 2."""
    grid = metadata.chunk_grid
    if grid.name != "regular":
        message = f"versions 1 and 2 support only regular chunk grids, not {grid.name!r}"
        raise metadata_error("/chunk_grid", message)
    return {"chunks": grid.configuration["chunk_shape"]}
