"""Conversion of metadata to another format, with a check for losses."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from zarr_core import MemoryStore
from zarr_core.errors import ExtensionError, MetadataError, NodeError, NodeExistsError
from zarr_core.extension import (
    ArrayMetadata,
    CodecError,
    ExtensionConfigurationError,
    ExtensionDefinition,
    GroupMetadata,
    MetadataValidationError,
    StoreCapabilityError,
    ValidationProblem,
    ZarrError,
    create_extension,
    json_pointer,
    strictjson,
)

from zarr_transfer.conventions import name_candidates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zarr_core.extension import JSON, Format

    from zarr_transfer.plan import CopySpec, NodeLocation


def array_to_format(
    side: NodeLocation, path: str, metadata: ArrayMetadata, *, rename: bool
) -> tuple[ArrayMetadata, list[str]]:
    """Return the metadata of an array as a format will read it, with notes on changes."""
    failure: ZarrError | None = None
    for named, note in name_candidates(metadata) if rename else [(metadata, "")]:
        notes = [note] * bool(note)
        candidate: ArrayMetadata | None = named
        while candidate is not None:
            try:
                return _array(side, path, candidate), notes
            except ZarrError as error:
                failure = error
            candidate, note = substitute(candidate, problems_of(failure))
            notes.append(note)
        assert failure is not None, "the loop ends after a failure"
        if not any(problem.pointer.startswith(_NAMES) for problem in problems_of(failure)):
            break
    assert failure is not None, "there is at least one candidate"
    raise MetadataValidationError(side.location(path), problems_of(failure)) from failure


_NAMES = ("/dimension_names", "/attributes")


def group_to_format(
    spec: CopySpec, path: str, metadata: GroupMetadata
) -> tuple[GroupMetadata, list[str]]:
    """Return the metadata of a group as a format will read it, with notes on losses."""
    dest, notes = spec.dest, ignored_fields(spec.source.format_, metadata)
    candidate = GroupMetadata(attributes=metadata.attributes)
    try:
        return _group(dest, path, candidate), notes
    except ZarrError as error:
        attributes, changed = finite(metadata.attributes)
        if not changed:
            raise MetadataValidationError(dest.location(path), problems_of(error)) from error
    notes.append(infinities(changed))
    return _group(dest, path, candidate.replace(attributes=attributes)), notes


NODE_ERRORS = (
    MetadataError, ExtensionError, CodecError, NodeError, StoreCapabilityError, ValueError, TypeError,
)  # fmt: skip
"""Errors that are problems of a node; others, such as a failure of its store, are not."""


def problems_of(error: Exception) -> tuple[ValidationProblem, ...]:
    """Return the problems of an error."""
    if isinstance(error, MetadataError | ExtensionConfigurationError):
        return tuple(error.problems)
    if isinstance(error, NodeExistsError):
        return (ValidationProblem("", error.reason),)
    return (ValidationProblem("", str(error)),)


def _array(side: NodeLocation, path: str, metadata: ArrayMetadata) -> ArrayMetadata:
    location = side.location(path)
    converted = _round_trip(
        side, path, side.format_.to_format(metadata.replace(document=None), location)
    )
    if not isinstance(converted, ArrayMetadata):
        raise MetadataValidationError(location, [ValidationProblem("", "would be read as a group")])
    if lost := list(_lost(side.format_, metadata, converted)):
        raise MetadataValidationError(location, lost)
    return converted


def _group(side: NodeLocation, path: str, metadata: GroupMetadata) -> GroupMetadata:
    location = side.location(path)
    converted = _round_trip(side, path, side.format_.to_format(metadata, location))
    assert isinstance(converted, GroupMetadata), "a group is read as a group"
    if not strictjson.identical(converted.attributes, metadata.attributes):
        problem = ValidationProblem(
            "/attributes", f"are not supported in a group of format {side.format_.name}"
        )
        raise MetadataValidationError(location, [problem])
    return converted


def _round_trip(
    side: NodeLocation, path: str, metadata: ArrayMetadata | GroupMetadata
) -> ArrayMetadata | GroupMetadata:
    """Return metadata after writing and reading it in memory."""
    store = MemoryStore()
    at = side.at(path)
    side.format_.create(store, at, metadata)
    stored = side.format_.read(store, at)
    assert stored is not None, "it has just been stored"
    return stored


def _lost(format_: Format, old: ArrayMetadata, new: ArrayMetadata) -> Iterator[ValidationProblem]:
    """Iterate over problems for fields that a format does not return."""
    message = f"is not supported in an array of format {format_.name}"
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
            yield ValidationProblem(f"/{name}", message)


def ignored_fields(format_: Format, metadata: ArrayMetadata | GroupMetadata) -> list[str]:
    """Return a note on additional fields of the source, which are not copied to another format."""
    members = list(metadata.additional_fields)
    try:
        # Without a document, the format writes only its own fields.
        bare = format_.to_json(metadata.replace(document=None))
    except MetadataError:
        bare = metadata.document
    members += _additional(metadata.document, bare)
    names = ", ".join(map(repr, members))
    return [f"additional fields are not copied: {names}"] * bool(names)


def _additional(stored: JSON, written: JSON) -> Iterator[str]:
    """Iterate over fields of a document, or of documents in it, that are not written.

    Empty ones say nothing: ``"storage_transformers": []`` of version 3, ``.zattrs`` of version 2.
    """
    if not isinstance(stored, dict) or not isinstance(written, dict):
        return
    for name, value in stored.items():
        if name in written:
            other = written[name]
            if isinstance(value, dict) and isinstance(other, dict) and name.startswith("."):
                yield from _additional(value, other)
        elif value not in ([], {}):
            yield name


def substitute(
    metadata: ArrayMetadata, problems: Iterable[ValidationProblem]
) -> tuple[ArrayMetadata | None, str]:
    """Return metadata with one substitution that may solve a problem, if any, and a note."""
    about = {member for problem in problems for member in problem.pointer.split("/")}
    if "fill_value" in about and metadata.fill_value_undefined:
        note = (
            f"the fill value was not defined and becomes {metadata.fill_value!r}, which is how "
            "missing chunks were read"
        )
        return metadata.replace(fill_value_undefined=False), note
    if "data_type" in about and metadata.data_type_fallbacks:
        names = ", ".join(definition.name for definition in metadata.data_type_fallbacks)
        note = f"fallback data types are not supported and are removed: {names}"
        return metadata.replace(data_type_fallbacks=()), note
    if "attributes" in about:
        attributes, changed = finite(metadata.attributes)
        if changed:
            return metadata.replace(attributes=attributes), infinities(changed)
    return None, ""


def finite(attributes: dict[str, JSON]) -> tuple[dict[str, JSON], list[str]]:
    """Return attributes with strings for NaN and infinities, and JSON pointers of these."""
    changed: list[str] = []

    def visit(value: JSON, pointer: str) -> JSON:
        if isinstance(value, dict):
            return {name: visit(item, pointer + json_pointer(name)) for name, item in value.items()}
        if isinstance(value, list):
            return [visit(item, f"{pointer}/{number}") for number, item in enumerate(value)]
        if isinstance(value, float) and not isfinite(value):
            changed.append(pointer)
            return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
        return value

    return {name: visit(value, json_pointer(name)) for name, value in attributes.items()}, changed


def infinities(changed: list[str]) -> str:
    """Return the note on numbers in attributes that become strings."""
    names = ", ".join(changed)
    return f"numbers in attributes that JSON does not have become strings: {names}"


def with_codecs(metadata: ArrayMetadata) -> ArrayMetadata | None:
    """Return metadata of the same stored objects without storage transformers, if there is."""
    converted: ArrayMetadata | None = metadata if metadata.storage_transformers else None
    while converted is not None and converted.storage_transformers:
        try:
            first = create_extension("storage_transformer", converted.storage_transformers[0])
        except ZarrError:
            return None
        converted = None if first is None else first.as_codecs(converted)
    return None if converted is None else converted.replace(document=None)


# --- equal chunks ---


def same_bytes(one: ArrayMetadata, other: ArrayMetadata) -> bool:
    """Whether all chunks of two arrays are identical, byte for byte, as far as is known."""
    return (
        one.shape == other.shape
        and _same_elements(one.data_type, other.data_type)
        and same("chunk_grid", one.chunk_grid, other.chunk_grid)
        and same_codecs(one.codecs, other.codecs)
        and one.storage_transformers == other.storage_transformers
        and one.chunk_memory_layout == other.chunk_memory_layout
    )


def _same_elements(one: ExtensionDefinition, other: ExtensionDefinition) -> bool:
    """Whether two data types have the same elements, such as ``struct`` and ``structured``."""
    if same("data_type", one, other):
        return True
    try:
        dtypes = [create_extension("data_type", item).numpy_dtype for item in (one, other)]
    except ZarrError:
        return False
    return bool(dtypes[0] == dtypes[1]) and dtypes[0].kind not in "OT"


def same_codecs(some: Sequence[ExtensionDefinition], others: Sequence[ExtensionDefinition]) -> bool:
    """Whether two lists of codecs are equivalent."""
    return len(some) == len(others) and all(
        same("codec", one, other) for one, other in zip(some, others, strict=True)
    )


def same(kind: str, one: ExtensionDefinition, other: ExtensionDefinition) -> bool:
    """Whether two definitions are equal or result in equal extensions."""
    if one == other:
        return True
    if one.name != other.name:
        return False
    try:
        return bool(create_extension(kind, one) == create_extension(kind, other))
    except ZarrError:
        return False
