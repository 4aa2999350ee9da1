"""The metadata of a copied array: unchanged, in another format, or with another layout."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from zarr_core.engine.chain import CodecChain
from zarr_core.extension import (
    MetadataValidationError,
    ValidationProblem,
    ZarrError,
    create_extension,
)

from zarr_transfer.conventions import by_convention, fill_value_changes
from zarr_transfer.keys import array_keys, keys_unchanged, same_keys
from zarr_transfer.plan import CopyStep
from zarr_transfer.target_layout import (
    key_encoding,
    missing_chunks_agree,
    plan_layout,
    with_shapes,
)
from zarr_transfer.to_format import (
    array_to_format,
    ignored_fields,
    same_bytes,
    with_codecs,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zarr_core.extension import ArrayMetadata

    from zarr_transfer.plan import CopySpec, Cost, NodeLocation


def plan_array(
    spec: CopySpec,
    path: str,
    metadata: ArrayMetadata,
    requested: Mapping[str, Any],
    *,
    is_conversion: bool,
) -> CopyStep:
    """Return the step for an array at a path below both source and destination.

    ``requested`` contains arguments of ``create_array``.  A conversion replaces parts of the layout
    that are not requested and that the format does not support.  Raises an error of the metadata,
    of an extension or of the layout if the step is not possible.
    """
    source, dest, alike = spec.source, spec.dest, spec.same_format
    requested = with_shapes(requested, source, path, metadata)
    if alike and not requested:
        return _with_cost(spec, CopyStep(path, metadata, metadata=metadata))
    base, notes = metadata, []
    if not alike:
        base, notes = _in_any_order(metadata), ignored_fields(source.format_, metadata)
        base = base.replace(additional_fields={})
    failure: MetadataValidationError | None = None
    if not requested.keys() - {"chunk_key_encoding"}:
        for model, candidate in _unchanged(base, dest, requested):
            candidate, note = by_convention(candidate, metadata, source.format_, dest.format_)
            try:
                converted, more = array_to_format(dest, path, candidate, rename=not alike)
            except MetadataValidationError as error:
                failure = failure or error
                continue
            if not same_bytes(model, converted):
                # The chunks must change: choose a layout that suits the format.
                break
            notes += [note] * bool(note)
            fills = fill_value_changes(model, candidate)
            step = CopyStep(path, model, metadata=converted, notes=(*notes, *more), fills=fills)
            return _checked(spec, step)
    refused = [] if failure is None else [p for p in failure.problems if not _is_solvable(p)]
    if failure is not None and refused:
        raise MetadataValidationError(failure.location, refused)
    model = with_codecs(base) or base
    array = source.open_array(path, model, read_only=True)
    exact = alike and not is_conversion
    converted, fill_changed, more = plan_layout(
        array, source.format_, dest, path, requested, rename=not alike, exact=exact
    )
    recode = not same_bytes(model, converted) or fill_changed
    cost: Cost = "recode" if recode else "nothing"
    step = CopyStep(path, model, cost, converted, notes=(*notes, *more))
    return _checked(spec, step, another_dtype="dtype" in requested)


def _in_any_order(metadata: ArrayMetadata) -> ArrayMetadata:
    """Return metadata with a fill value that does not depend on the byte order."""
    fill_value = metadata.fill_value
    try:
        order = CodecChain.from_definitions(metadata.codecs).byte_order
        if order is None:
            return metadata
        data_type = create_extension("data_type", metadata.data_type)
        assert data_type is not None, "data types are never ignored"
        value = data_type.fill_value_as_stored(fill_value, order)
        if value.tobytes() == data_type.fill_value_from_json(fill_value).tobytes():
            return metadata
    except (ZarrError, ValueError):  # reported when the array is opened
        return metadata
    return metadata.replace(fill_value=data_type.fill_value_to_json(value))


def _unchanged(
    base: ArrayMetadata, dest: NodeLocation, requested: Mapping[str, Any]
) -> Iterator[tuple[ArrayMetadata, ArrayMetadata]]:
    """Iterate over descriptions of the same chunks, each with metadata for the destination."""
    # Most readers support the sharding codec.
    for model in (with_codecs(base), base):
        if model is None:
            continue
        encodings = [model.chunk_key_encoding, dest.format_.chunk_key_encoding]
        if "chunk_key_encoding" in requested:
            encodings = [key_encoding(requested["chunk_key_encoding"])]
        for encoding in encodings:
            yield model, model.replace(chunk_key_encoding=encoding)


def _is_solvable(problem: ValidationProblem) -> bool:
    """Whether other codecs, chunks or keys may solve a problem."""
    member = problem.pointer.split("/")[1] if problem.pointer else ""
    return member in (
        "", "codecs", "chunk_grid", "chunk_key_encoding", "storage_transformers",
        "chunk_memory_layout", "fill_value",
    )  # fmt: skip


def _checked(spec: CopySpec, step: CopyStep, *, another_dtype: bool = False) -> CopyStep:
    """Return the step with its cost; raise an error if elements would change."""
    metadata = step.metadata
    try:
        old = spec.source.open_array(step.path, step.source_metadata, read_only=True)
    except ZarrError as error:
        # Metadata and chunks are copied without decoding.
        note = f"not checked, since it cannot be opened: {error}"
        return _with_cost(spec, replace(step, notes=(*step.notes, note)), error)
    unreadable: ZarrError | None = None
    if old.ignored_extensions:
        names = ", ".join(definition.name for definition in old.ignored_extensions)
        message = f"unknown extensions: {names}; install them to decode the chunks"
        unreadable = _problem(spec, step.path, "", message)
    new = spec.dest.open_array(step.path, metadata, read_only=True)
    if old.dtype != new.dtype and not another_dtype:
        raise _problem(spec, step.path, "/data_type", f"{old.dtype} would become {new.dtype}")
    is_kept = step.cost != "recode" and not step.fills
    if is_kept and not missing_chunks_agree(old, new, undefined=True):
        message = f"{old.fill_value!r} would become {new.fill_value!r}"
        raise _problem(spec, step.path, "/fill_value", message)
    return _with_cost(spec, step, unreadable)


def _problem(spec: CopySpec, path: str, pointer: str, message: str) -> MetadataValidationError:
    location = spec.dest.location(path)
    return MetadataValidationError(location, [ValidationProblem(pointer, message)])


def _with_cost(spec: CopySpec, step: CopyStep, unreadable: ZarrError | None = None) -> CopyStep:
    """Return the step with its cost; ``unreadable`` is raised if it requires decoding."""
    old, new = array_keys(spec, step)
    cost = step.cost
    if cost != "recode":
        cost = "document" if keys_unchanged(old, new) else "copy"
        if old.verbatim and not same_keys(old.encoding, new.encoding, len(old.counts)):
            cost = "recode"  # only the transformers know the keys
    if cost == "recode" and unreadable is not None:
        raise unreadable
    fills = step.fills and cost != "recode"
    notes = step.notes + ("chunks that are not stored are written",) * fills
    return replace(step, cost=cost, notes=notes, fills=fills)
