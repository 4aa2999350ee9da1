"""Choosing the metadata that an array has after a conversion.

First as it is, in the other format's words; then with other keys; then with as few
other codecs as the format asks for, which means to decode and encode.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zarr_core import array_from_metadata
from zarr_core.extension import (
    CodecChain,
    MetadataValidationError,
    Problem,
    ZarrError,
    make_extension,
)

from zarr_formats.conversion.asked import is_keep
from zarr_formats.conversion.conceding import storable
from zarr_formats.conversion.expressing import express_array, left_out, problems_of
from zarr_formats.conversion.laying_out import key_encoding, lay_out, same_fill_value
from zarr_formats.conversion.sameness import same_bytes
from zarr_formats.conversion.transformers import with_codecs, with_sharding_transformer
from zarr_formats.conversion.trying import decodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core import Array
    from zarr_core.extension import ArrayMetadata, ExtensionDefinition

    from zarr_formats.conversion.asked import Asked
    from zarr_formats.conversion.steps import Side


@dataclass(frozen=True, slots=True)
class Choice:
    """What an array becomes.

    Parameters
    ----------
    model : ArrayMetadata
        The source; perhaps in other words for the same stored objects.
    metadata : ArrayMetadata or None
        The target, as its format will read it; None if there is none.
    recode : bool
        Whether chunks have to be decoded.
    problems : tuple of Problem
        Why there is none.
    notes : tuple of str
        What is lost or changed.
    unreadable : tuple of Problem
        Why its chunks could not be decoded, if they cannot.
    """

    model: ArrayMetadata
    metadata: ArrayMetadata | None = None
    recode: bool = False
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    unreadable: tuple[Problem, ...] = ()


def choose(source: Side, dest: Side, path: str, metadata: ArrayMetadata, asked: Asked) -> Choice:
    """Choose what an array becomes.

    Parameters
    ----------
    source, dest : Side
        The two ends.
    path : str
        The array, below both.
    metadata : ArrayMetadata
        Those of the source.
    asked : Asked
        What a user wants to change.
    """
    alike = source.format_.name == dest.format_.name
    try:
        asked = asked.of(metadata)
    except (ZarrError, ValueError) as error:
        return Choice(metadata, problems=problems_of(error))
    if alike and not asked.layout() and asked.chunk_key_encoding is None:
        kept, notes = storable(dest.format_, metadata)
        return Choice(metadata, kept, notes=tuple(notes))
    base, notes = metadata, []
    if not alike:
        base, notes = _in_any_order(metadata), left_out(source.format_, metadata)
        base = base.replace(additional_fields={})
    failure: MetadataValidationError | None = None
    if not asked.layout():
        for model, candidate in _unchanged(base, dest, asked):
            try:
                found, more = express_array(dest, path, candidate, rename=not alike)
            except MetadataValidationError as error:
                failure = failure or error
                continue
            if not same_bytes(model, found) and not decodes(model, found):
                # It is the same array, but for its chunks: take what suits the format best.
                break
            return _checked(source, dest, path, Choice(model, found, False, (), (*notes, *more)))
    refused = [] if failure is None else [p for p in failure.problems if not _bearable(p)]
    if refused:
        return Choice(metadata, problems=tuple(refused), notes=tuple(notes))
    model = with_codecs(base) or base
    try:
        array = _opened(source, path, model)
        relaxed = lay_out(array, dest, path, asked, rename=not alike)
    except (ZarrError, ValueError, TypeError) as error:
        return Choice(metadata, problems=problems_of(error), notes=tuple(notes))
    recode = not same_bytes(model, relaxed.metadata) or relaxed.fill_changed
    choice = Choice(model, relaxed.metadata, recode, (), (*notes, *relaxed.notes))
    return _checked(source, dest, path, choice, another_dtype=not is_keep(asked.dtype))


def _in_any_order(metadata: ArrayMetadata) -> ArrayMetadata:
    """The same, with a fill value that does not depend on the byte order of the elements."""
    given = metadata.fill_value
    try:
        order = CodecChain.from_definitions(metadata.codecs).byte_order
        if order is None:
            return metadata
        data_type = make_extension("data_type", metadata.data_type)
        assert data_type is not None, "data types are never left out"
        value = data_type.fill_value_as_stored(given, order)
        if value.tobytes() == data_type.fill_value_from_json(given).tobytes():
            return metadata
    except (ZarrError, ValueError):  # it will be said of the array, which cannot be opened
        return metadata
    return metadata.replace(fill_value=data_type.fill_value_to_json(value))


def _unchanged(
    base: ArrayMetadata, dest: Side, asked: Asked
) -> Iterator[tuple[ArrayMetadata, ArrayMetadata]]:
    """Models with the same stored objects, each with what the target may say about them."""
    for model in _models(base):
        for encoding in _encodings(model, dest, asked):
            yield model, model.replace(chunk_key_encoding=encoding)


def _models(base: ArrayMetadata) -> Iterator[ArrayMetadata]:
    """Descriptions of the same stored objects; a codec for shards is more widely known."""
    for other in (with_codecs(base), base, with_sharding_transformer(base)):
        if other is not None:
            yield other


def _encodings(model: ArrayMetadata, dest: Side, asked: Asked) -> Iterator[ExtensionDefinition]:
    if asked.chunk_key_encoding is not None:
        yield key_encoding(asked.chunk_key_encoding)
        return
    yield model.chunk_key_encoding
    yield dest.format_.chunk_key_encoding


def _bearable(problem: Problem) -> bool:
    """Whether other codecs, chunks or keys may remove a problem."""
    member = problem.pointer.split("/")[1] if problem.pointer else ""
    return member in (
        "", "codecs", "chunk_grid", "chunk_key_encoding", "storage_transformers",
        "chunk_memory_layout", "fill_value",
    )  # fmt: skip


def _opened(side: Side, path: str, metadata: ArrayMetadata) -> Array:
    return array_from_metadata(
        side.store,
        metadata,
        path=side.at(path),
        zarr_format=side.format_.name,
        read_only=True,
    )


def _checked(
    source: Side, dest: Side, path: str, choice: Choice, *, another_dtype: bool = False
) -> Choice:
    """The choice, with a problem if elements would be read as others."""
    try:
        old = _opened(source, path, choice.model)
    except ZarrError as error:
        # Documents and bytes go on all the same, as they would in a copy.
        note = f"not looked at, as it cannot be opened: {error}"
        return replace(choice, notes=(*choice.notes, note), unreadable=problems_of(error))
    problems: list[Problem] = []
    if old.skipped_extensions:
        names = ", ".join(definition.name for definition in old.skipped_extensions)
        problem = Problem("", f"nobody knows {names}; install them to decode the chunks")
        choice = replace(choice, unreadable=(problem,))
    assert choice.metadata is not None
    try:
        new = _opened(dest, path, choice.metadata)
    except ZarrError as error:
        problems += problems_of(error)
    else:
        if old.dtype != new.dtype and not another_dtype:
            problems.append(Problem("/data_type", f"{old.dtype} would become {new.dtype}"))
        elif not choice.recode and not same_fill_value(old, new, undefined=True):
            message = f"{old.fill_value!r} would become {new.fill_value!r}"
            problems.append(Problem("/fill_value", message))
    if problems:
        return Choice(choice.model, problems=tuple(problems), notes=choice.notes)
    return choice
