"""Putting metadata into the words of a format, noticing what does not come back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import (
    ArrayMetadata,
    GroupMetadata,
    MetadataError,
    MetadataValidationError,
    Problem,
    strictjson,
)

from zarr_formats.conversion.conventions import namings
from zarr_formats.conversion.sameness import same

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import JSON, Format


def express_array(
    format_: Format, metadata: ArrayMetadata, where: str, *, rename: bool
) -> tuple[ArrayMetadata, list[str]]:
    """An array's metadata as a format will read them, with notes on what has changed.

    Parameters
    ----------
    format_ : Format
        The format.
    metadata : ArrayMetadata
        What it is to say.
    where : str
        The node, for errors.
    rename : bool
        Whether names of dimensions may go to where the format has a place for them.

    Raises
    ------
    MetadataValidationError
        If the format cannot say it; the problems have pointers of version 3.
    """
    last: MetadataValidationError | None = None
    for named, note in namings(metadata) if rename else [(metadata, "")]:
        try:
            found = _round_trip(format_, named, where)
        except MetadataValidationError as error:
            last = error
            if not any(problem.pointer.startswith(_NAMES) for problem in error.problems):
                break
            continue
        return found, [note] * bool(note) + list(_changed(format_, named, found))
    assert last is not None
    if metadata.data_type_fallbacks:  # without which those who know the data type read it too
        less = metadata.replace(data_type_fallbacks=())
        found, notes = express_array(format_, less, where, rename=rename)
        return found, [*notes, _no_fallbacks(format_, metadata)]
    raise last


# Where the ways to say the names of dimensions differ.
_NAMES = ("/dimension_names", "/attributes")


def express_group(
    source: Format, format_: Format, metadata: GroupMetadata, where: str
) -> tuple[GroupMetadata, list[str]]:
    """A group's metadata as a format will read them, with notes on what is lost."""
    notes = left_out(source, metadata)
    if metadata.consolidated is not None:
        notes.append("consolidated metadata are left out; consolidate again")
    new = GroupMetadata(attributes=metadata.attributes)
    expressed = format_.express(new, where)
    found = format_.from_json(format_.to_json(expressed), where)
    assert isinstance(found, GroupMetadata), "what was a group is one"
    if not strictjson.identical(found.attributes, metadata.attributes):
        problem = Problem("/attributes", f"have no place in a group of format {format_.name}")
        raise MetadataValidationError(where, [problem])
    return found, notes


def problems_of(error: Exception) -> tuple[Problem, ...]:
    """What an error says, as problems."""
    if isinstance(error, MetadataError):
        return tuple(error.problems)
    return (Problem("", str(error)),)


def _round_trip(format_: Format, metadata: ArrayMetadata, where: str) -> ArrayMetadata:
    """Metadata as they will be read from the document that is written."""
    expressed = format_.express(metadata.replace(document=None), where)
    found = format_.from_json(format_.to_json(expressed), where)
    if not isinstance(found, ArrayMetadata):
        raise MetadataValidationError(where, [Problem("", "would be read as a group")])
    if lost := list(_lost(format_, metadata, found)):
        raise MetadataValidationError(where, lost)
    return found


def _lost(format_: Format, old: ArrayMetadata, new: ArrayMetadata) -> Iterator[Problem]:
    """What a format took without a word and does not give back."""
    message = f"has no place in an array of format {format_.name}"
    for name, kept in {
        "shape": old.shape == new.shape,
        "chunk_grid": same("chunk_grid", old.chunk_grid, new.chunk_grid),
        "chunk_key_encoding": same(
            "chunk_key_encoding", old.chunk_key_encoding, new.chunk_key_encoding
        ),
        "storage_transformers": old.storage_transformers == new.storage_transformers,
        "chunk_memory_layout": old.chunk_memory_layout == new.chunk_memory_layout,
        "dimension_names": old.dimension_names == new.dimension_names,
        "attributes": strictjson.identical(old.attributes, new.attributes),
    }.items():
        if not kept:
            yield Problem(f"/{name}", message)


def _changed(format_: Format, old: ArrayMetadata, new: ArrayMetadata) -> Iterator[str]:
    """What is not quite as it was, and can be borne."""
    if old.fill_value_undefined and not new.fill_value_undefined:
        yield (
            f"the fill value was not defined and becomes {new.fill_value!r}, as which chunks "
            "that are not stored were read"
        )
    if old.data_type_fallbacks and not new.data_type_fallbacks:
        yield _no_fallbacks(format_, old)


def _no_fallbacks(format_: Format, metadata: ArrayMetadata) -> str:
    names = ", ".join(definition.name for definition in metadata.data_type_fallbacks)
    return f"format {format_.name} has no place for what others may read instead: {names}"


def left_out(format_: Format, metadata: ArrayMetadata | GroupMetadata) -> list[str]:
    """The note on members that another format does not have.

    Parameters
    ----------
    format_ : Format
        The format that they were read from.
    metadata : ArrayMetadata or GroupMetadata
        What was read.
    """
    members = list(metadata.additional_fields)
    try:
        # What the format itself would write; it keeps unknown members in the document.
        bare = format_.to_json(metadata.replace(document=None))
    except MetadataError:
        bare = metadata.document
    members += _further(metadata.document, bare)
    names = ", ".join(map(repr, members))
    return [f"members that are not of the format itself are left out: {names}"] * bool(names)


def _further(stored: JSON, written: JSON) -> Iterator[str]:
    """Members of documents, or of the documents in one, that nobody would write."""
    if not isinstance(stored, dict) or not isinstance(written, dict):
        return
    for name, value in stored.items():
        if name in written:
            other = written[name]
            if isinstance(value, dict) and isinstance(other, dict) and name.startswith("."):
                yield from _further(value, other)
        else:
            yield name
