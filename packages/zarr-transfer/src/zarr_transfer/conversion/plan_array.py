"""The metadata of an array after a conversion.

Candidates are tried in this order: the same metadata in the other format; with other chunk keys;
with as few other codecs as the format requires, which means decoding and encoding chunks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zarr_core.extension import MetadataValidationError, ValidationProblem, ZarrError
from zarr_core.tools import CodecChain, create_extension

from zarr_transfer.conversion.conventions import by_convention, fill_value_changes
from zarr_transfer.conversion.equivalence import decodes, same_bytes
from zarr_transfer.conversion.requested_layout import is_keep
from zarr_transfer.conversion.target_layout import key_encoding, missing_chunks_agree, plan_layout
from zarr_transfer.conversion.to_format import (
    array_to_format,
    ignored_fields,
    problems_of,
    storable,
)
from zarr_transfer.conversion.transformers import with_codecs, with_sharding_transformer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import ArrayMetadata, ExtensionDefinition

    from zarr_transfer.conversion.requested_layout import RequestedLayout
    from zarr_transfer.spec import CopySpec, NodeLocation


@dataclass(frozen=True, slots=True)
class Choice:
    """The metadata of a converted array.

    Parameters
    ----------
    model : ArrayMetadata
        Metadata that describes the chunks of the source, possibly in another way.
    metadata : ArrayMetadata or None
        The result as its format will read it; None if there are problems.
    recode : bool
        Whether chunks must be decoded.
    problems : tuple of ValidationProblem
        Why the conversion is not possible.
    notes : tuple of str
        What is lost or changed.
    unreadable : tuple of ValidationProblem
        Why the chunks cannot be decoded.
    fills : bool
        Whether missing chunks are stored, since the new fill value is another one.
    """

    model: ArrayMetadata
    metadata: ArrayMetadata | None = None
    recode: bool = False
    problems: tuple[ValidationProblem, ...] = ()
    notes: tuple[str, ...] = ()
    unreadable: tuple[ValidationProblem, ...] = ()
    fills: bool = False


def plan_array(
    spec: CopySpec, path: str, metadata: ArrayMetadata, requested: RequestedLayout
) -> Choice:
    """Choose the metadata of an array at a path below both source and destination."""
    source, dest, alike = spec.source, spec.dest, spec.same_format
    try:
        requested = requested.of(metadata)
    except (ZarrError, ValueError) as error:
        return Choice(metadata, problems=problems_of(error))
    if alike and not requested.layout() and requested.chunk_key_encoding is None:
        kept, notes = storable(dest.format_, metadata)
        return Choice(metadata, kept, notes=tuple(notes))
    base, notes = metadata, []
    if not alike:
        base, notes = _in_any_order(metadata), ignored_fields(source.format_, metadata)
        base = base.replace(additional_fields={})
    failure: MetadataValidationError | None = None
    if not requested.layout():
        for model, candidate in _unchanged(base, dest, requested):
            candidate, note = by_convention(candidate, metadata, source.format_, dest.format_)
            try:
                converted, more = array_to_format(dest, path, candidate, rename=not alike)
            except MetadataValidationError as error:
                failure = failure or error
                continue
            if not same_bytes(model, converted) and not decodes(model, converted):
                # The chunks must change: choose a layout that suits the format.
                break
            fills = fill_value_changes(model, candidate)
            notes += [note] * bool(note)
            choice = Choice(model, converted, False, (), (*notes, *more), fills=fills)
            return _checked(spec, path, choice)
    refused = [] if failure is None else [p for p in failure.problems if not _is_solvable(p)]
    if refused:
        return Choice(metadata, problems=tuple(refused), notes=tuple(notes))
    model = with_codecs(base) or base
    try:
        array = source.open_array(path, model, read_only=True)
        relaxed = plan_layout(array, source.format_, dest, path, requested, rename=not alike)
    except (ZarrError, ValueError, TypeError) as error:
        return Choice(metadata, problems=problems_of(error), notes=tuple(notes))
    recode = not same_bytes(model, relaxed.metadata) or relaxed.fill_changed
    choice = Choice(model, relaxed.metadata, recode, (), (*notes, *relaxed.notes))
    return _checked(spec, path, choice, another_dtype=not is_keep(requested.dtype))


def _in_any_order(metadata: ArrayMetadata) -> ArrayMetadata:
    """Return metadata with a fill value that does not depend on the byte order."""
    given = metadata.fill_value
    try:
        order = CodecChain.from_definitions(metadata.codecs).byte_order
        if order is None:
            return metadata
        data_type = create_extension("data_type", metadata.data_type)
        assert data_type is not None, "data types are never ignored"
        value = data_type.fill_value_as_stored(given, order)
        if value.tobytes() == data_type.fill_value_from_json(given).tobytes():
            return metadata
    except (ZarrError, ValueError):  # reported when the array is opened
        return metadata
    return metadata.replace(fill_value=data_type.fill_value_to_json(value))


def _unchanged(
    base: ArrayMetadata, dest: NodeLocation, requested: RequestedLayout
) -> Iterator[tuple[ArrayMetadata, ArrayMetadata]]:
    """Iterate over descriptions of the same chunks, each with metadata for the destination."""
    for model in _models(base):
        for encoding in _encodings(model, dest, requested):
            yield model, model.replace(chunk_key_encoding=encoding)


def _models(base: ArrayMetadata) -> Iterator[ArrayMetadata]:
    """Iterate over descriptions of the same chunks; most readers support the sharding codec."""
    for other in (with_codecs(base), base, with_sharding_transformer(base)):
        if other is not None:
            yield other


def _encodings(
    model: ArrayMetadata, dest: NodeLocation, requested: RequestedLayout
) -> Iterator[ExtensionDefinition]:
    if requested.chunk_key_encoding is not None:
        yield key_encoding(requested.chunk_key_encoding)
        return
    yield model.chunk_key_encoding
    yield dest.format_.chunk_key_encoding


def _is_solvable(problem: ValidationProblem) -> bool:
    """Whether other codecs, chunks or keys may solve a problem."""
    member = problem.pointer.split("/")[1] if problem.pointer else ""
    return member in (
        "", "codecs", "chunk_grid", "chunk_key_encoding", "storage_transformers",
        "chunk_memory_layout", "fill_value",
    )  # fmt: skip


def _checked(
    spec: CopySpec,
    path: str,
    choice: Choice,
    *,
    another_dtype: bool = False,
) -> Choice:
    """Return the choice, with a problem if elements would change."""
    try:
        old = spec.source.open_array(path, choice.model, read_only=True)
    except ZarrError as error:
        # Metadata and chunks are copied without decoding.
        note = f"not checked, since it cannot be opened: {error}"
        return replace(choice, notes=(*choice.notes, note), unreadable=problems_of(error))
    problems: list[ValidationProblem] = []
    if old.ignored_extensions:
        names = ", ".join(definition.name for definition in old.ignored_extensions)
        problem = ValidationProblem(
            "", f"unknown extensions: {names}; install them to decode the chunks"
        )
        choice = replace(choice, unreadable=(problem,))
    assert choice.metadata is not None
    try:
        new = spec.dest.open_array(path, choice.metadata, read_only=True)
    except ZarrError as error:
        problems += problems_of(error)
    else:
        if old.dtype != new.dtype and not another_dtype:
            problems.append(
                ValidationProblem("/data_type", f"{old.dtype} would become {new.dtype}")
            )
        elif (
            not choice.recode
            and not choice.fills
            and not missing_chunks_agree(old, new, undefined=True)
        ):
            message = f"{old.fill_value!r} would become {new.fill_value!r}"
            problems.append(ValidationProblem("/fill_value", message))
    if problems:
        return Choice(choice.model, problems=tuple(problems), notes=choice.notes)
    return choice
