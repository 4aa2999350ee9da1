"""Putting metadata into the words of a format, noticing what does not come back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core import MemoryStore
from zarr_core.extension import (
    ArrayMetadata,
    ExtensionConfigurationError,
    GroupMetadata,
    MetadataError,
    MetadataValidationError,
    Problem,
    ZarrError,
    strictjson,
)

from zarr_formats.conversion.conceding import conceded, finite, infinities
from zarr_formats.conversion.conventions import namings
from zarr_formats.conversion.sameness import same

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import JSON, Format

    from zarr_formats.conversion.steps import Side


def express_array(
    side: Side, path: str, metadata: ArrayMetadata, *, rename: bool
) -> tuple[ArrayMetadata, list[str]]:
    """An array's metadata as a format will read them, with notes on what has changed.

    Parameters
    ----------
    side : Side
        Where it is to be said.
    path : str
        The node.
    metadata : ArrayMetadata
        What is to be said.
    rename : bool
        Whether names of dimensions may go to where the format has a place for them.

    Raises
    ------
    MetadataValidationError
        If the format cannot say it; the problems have pointers of version 3.
    """
    failure: ZarrError | None = None
    for named, note in namings(metadata) if rename else [(metadata, "")]:
        notes = [note] * bool(note)
        said: ArrayMetadata | None = named
        while said is not None:
            try:
                return _array(side, path, said), notes
            except ZarrError as error:
                failure = error
            said, note = conceded(said, problems_of(failure))
            notes.append(note)
        assert failure is not None, "the loop was left after one"
        if not any(problem.pointer.startswith(_NAMES) for problem in problems_of(failure)):
            break
    assert failure is not None, "there is one way to say names at least"
    raise MetadataValidationError(side.where(path), problems_of(failure)) from failure


# Where the ways to say the names of dimensions differ.
_NAMES = ("/dimension_names", "/attributes")


def express_group(
    source: Side, dest: Side, path: str, metadata: GroupMetadata
) -> tuple[GroupMetadata, list[str]]:
    """A group's metadata as a format will read them, with notes on what is lost."""
    notes = left_out(source.format_, metadata)
    if metadata.consolidated is not None:
        notes.append("consolidated metadata are left out; consolidate again")
    said = GroupMetadata(attributes=metadata.attributes)
    try:
        return _group(dest, path, said), notes
    except ZarrError as error:
        attributes, changed = finite(metadata.attributes)
        if not changed:
            raise MetadataValidationError(dest.where(path), problems_of(error)) from error
    notes.append(infinities(changed))
    return _group(dest, path, said.replace(attributes=attributes)), notes


def problems_of(error: Exception) -> tuple[Problem, ...]:
    """What an error says, as problems."""
    if isinstance(error, MetadataError | ExtensionConfigurationError):
        return tuple(error.problems)
    return (Problem("", str(error)),)


def _array(side: Side, path: str, metadata: ArrayMetadata) -> ArrayMetadata:
    where = side.where(path)
    found = _round_trip(side, path, side.format_.express(metadata.replace(document=None), where))
    if not isinstance(found, ArrayMetadata):
        raise MetadataValidationError(where, [Problem("", "would be read as a group")])
    if lost := list(_lost(side.format_, metadata, found)):
        raise MetadataValidationError(where, lost)
    return found


def _group(side: Side, path: str, metadata: GroupMetadata) -> GroupMetadata:
    where = side.where(path)
    found = _round_trip(side, path, side.format_.express(metadata, where))
    assert isinstance(found, GroupMetadata), "what was a group is one"
    if not strictjson.identical(found.attributes, metadata.attributes):
        problem = Problem("/attributes", f"have no place in a group of format {side.format_.name}")
        raise MetadataValidationError(where, [problem])
    return found


def _round_trip(
    side: Side, path: str, metadata: ArrayMetadata | GroupMetadata
) -> ArrayMetadata | GroupMetadata:
    """Metadata as they will be read where they are to be stored."""
    store = MemoryStore()
    at = side.at(path)
    side.format_.create(store, at, metadata)
    found = side.format_.read(store, at)
    assert found is not None, "it has just been stored"
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
        "fill_value": old.fill_value_undefined == new.fill_value_undefined,
        "data_type": not old.data_type_fallbacks or bool(new.data_type_fallbacks),
        "attributes": strictjson.identical(old.attributes, new.attributes),
    }.items():
        if not kept:
            yield Problem(f"/{name}", message)


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
