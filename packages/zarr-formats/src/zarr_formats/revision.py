"""Changes of metadata documents that keep unchanged members as they were read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_core.extension import Location, MetadataValidationError, ValidationProblem, strictjson

from zarr_formats.metadata_error import metadata_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from zarr_core.extension import JSON, ArrayMetadata


@dataclass(frozen=True, slots=True)
class Part:
    """Members of a document, and the fields of the metadata that they represent.

    Parameters
    ----------
    fields : tuple of str
        Fields of :class:`~zarr_core.extension.ArrayMetadata`.
    members : tuple of str
        Members of the document.
    write : callable
        Returns the members for metadata; missing ones are not written.
        Raises MetadataValidationError if the format cannot represent them.
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
    """Return the document of metadata.

    Parameters
    ----------
    raw : mapping, optional
        The document that was read; None for a new one.
    old : ArrayMetadata, optional
        The metadata in ``raw``; None for a new document.
    new : ArrayMetadata
        The metadata to be written.
    parts : iterable of Part
        How each member is written.  Members whose fields are equal in ``new`` and ``old``
        are kept as in ``raw``, and also members that are not in any part.
    location : Location
        The document, for errors.

    Raises
    ------
    MetadataValidationError
        With the problems of all parts.
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
            problems += error.problems
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


def write_chunks(metadata: ArrayMetadata) -> dict[str, JSON]:
    """Return the member ``chunks`` of versions 1 and 2."""
    grid = metadata.chunk_grid
    if grid.name != "regular":
        message = f"versions 1 and 2 support only regular chunk grids, not {grid.name!r}"
        raise metadata_error("/chunk_grid", message)
    return {"chunks": grid.configuration["chunk_shape"]}
