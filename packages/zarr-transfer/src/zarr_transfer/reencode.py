"""Copies with another layout: chunks are decoded and encoded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core import Array, MemoryStore, empty_like, override_extensions
from zarr_core.tools import ProgressReporter, StoredArray, keep_nonfinite, stored_node

from zarr_transfer.checkpoint import checkpoint_key
from zarr_transfer.copy_elements import copy_elements
from zarr_transfer.execute import create_first, write_groups
from zarr_transfer.memory import Memory, plan_rechunk
from zarr_transfer.stored import extensions_of, format_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core import Group
    from zarr_core.tools import Rollback

    from zarr_transfer.plan import Plan, Step
    from zarr_transfer.spec import CopyOptions, CopySpec

    Coordinates = tuple[int, ...]
    Draft = tuple[Array, Array]  # source and destination; its metadata is not stored yet


def drafts(plan: Plan, source: Array | Group, options: CopyOptions) -> list[Draft]:
    """Return source and new array for each array; nothing is stored.

    Parameters
    ----------
    plan : Plan
        The plan.
    source : Array or Group
        The source.
    options : CopyOptions
        The layout: arguments of :func:`create_array`; others are those of the source.

    Raises
    ------
    MetadataValidationError, ExtensionError, ValueError, TypeError
        If the layout is not possible for an array.
    """
    with override_extensions(extensions_of(source)):
        arrays = [
            _draft(plan.spec, step, options.layout)
            for step in plan.steps
            if step.is_array and not step.stays
        ]
        if options.max_memory is not None and options.executor is None:
            for old, new in arrays:
                plan_rechunk(
                    old, new, _memory(old, new, options)
                )  # raises an error if it is too small
        return arrays


def reencode(
    plan: Plan, arrays: list[Draft], source: Array | Group, options: CopyOptions, rollback: Rollback
) -> None:
    """Execute a plan by decoding arrays, after :func:`prepare_destination`.

    Parameters
    ----------
    plan, arrays
        The plan, and the result of :func:`drafts`.
    source : Array or Group
        The source.
    options : CopyOptions
        The options.
    rollback : Rollback
        Records created nodes.
    """
    spec = plan.spec
    if spec.dest.store.metadata_first:
        new_groups = [step for step in plan.steps if step.is_new and not step.is_array]
        create_first(plan, new_groups, rollback)
    with (
        ProgressReporter(options.progress, len(arrays)) as reporter,
        override_extensions(extensions_of(source)),
    ):
        for old, new in arrays:
            if spec.dest.store.metadata_first:
                write = spec.dest.format_.write
                rollback.create(spec.dest.store, new.path, spec.dest.format_, new.metadata, write)
            checkpoint = copy_elements(
                old, new, reporter, path=new.path, memory=_memory(old, new, options),
                executor=options.executor, verify=options.verify,
            )  # fmt: skip
            _write_document(new)
            checkpoint.end()
    write_groups(plan)
    rollback.complete()
    if (
        spec.dest.store.supports_erasing
    ):  # checkpoints of arrays that were completed by an interrupted copy
        done = (step.target for step in plan.steps if step.is_array and step.stays)
        spec.dest.store.erase_values(
            [checkpoint_key(spec.dest.format_.chunk_prefix(path)) for path in done]
        )


def _memory(old: Array, new: Array, options: CopyOptions) -> Memory:
    """Return the memory for one array; casting and comparison need copies of elements."""
    return Memory(options.max_memory, 1 + options.verify + (old.dtype != new.dtype))


def _draft(spec: CopySpec, step: Step, layout: Mapping[str, Any]) -> Draft:
    old = stored_node(
        spec.source.store, step.source, spec.source.format_, step.metadata, read_only=True
    )
    assert isinstance(old, StoredArray), "the metadata is that of an array"
    attributes = step.metadata.attributes
    if spec.source.format_.name == spec.dest.format_.name:  # stored NaN is kept
        attributes = keep_nonfinite(attributes)
    options = {"attributes": attributes, **layout, "store": MemoryStore()}
    options["zarr_format"] = spec.dest.format_.name
    if spec.source.format_.name != spec.dest.format_.name:
        options.setdefault("chunk_key_encoding", None)  # the default of the format
    made = empty_like(Array(old), **options)
    new = stored_node(
        spec.dest.store, step.target, spec.dest.format_, made.metadata, read_only=False
    )
    assert isinstance(new, StoredArray), "the result is an array"
    return Array(old), Array(new)


def _write_document(new: Array) -> None:
    """Store the metadata of a complete array."""
    if not new.store.metadata_first:  # stored before
        format_of(new).write(new.store, new.path, new.metadata)
