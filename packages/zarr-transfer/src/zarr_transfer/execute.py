"""Execution of a plan: chunks first, then metadata; the reverse if the store requires it."""

from __future__ import annotations

import threading
from itertools import product
from typing import TYPE_CHECKING

from zarr_core.errors import NodeExistsError
from zarr_core.extension import GroupMetadata
from zarr_core.hierarchy.create_node import prepare_path
from zarr_core.threads import parallel_for

from zarr_transfer.checkpoint import checkpoint_key
from zarr_transfer.copy_elements import copy_elements
from zarr_transfer.copy_executor import KeyPair
from zarr_transfer.copy_values import copy_pairs
from zarr_transfer.keys import (
    array_keys,
    extra_keys,
    key_pairs,
    largest_value,
    present_keys,
    top_level,
)
from zarr_transfer.plan import same_metadata

if TYPE_CHECKING:
    from zarr_core.hierarchy.rollback import Rollback
    from zarr_core.interfaces.format import NodeMetadata
    from zarr_core.optional import Reporter

    from zarr_transfer.checkpoint import Checkpoint
    from zarr_transfer.copy_executor import CopyResult
    from zarr_transfer.plan import CopyPlan, CopyStep


def prepare_destination(plan: CopyPlan, rollback: Rollback, remedy: str) -> list[str]:
    """Remove what is replaced and create parent groups; return the paths of new groups."""
    dest = plan.dest
    store, format_ = dest.store, dest.format_
    tops = top_level(step.path for step in plan.steps)
    snapshot = dest.snapshot
    made: list[str] = []
    if plan.in_place:
        if not plan.options.overwrite:
            remedy += " to continue; what existed before is unchanged"
            rollback.note_incomplete(store, format_, [dest.path], remedy)
        return made
    for step in plan.todo:
        if step.action == "replace" or (step.action == "copy" and step.path in tops):
            assert step.metadata is not None, "a step without problems has metadata"
            made += prepare_path(
                store, dest.at(step.path), format_, step.metadata, rollback,
                overwrite=step.action == "replace",
                existing=plan.source.at(step.path).split("/"), snapshot=snapshot,
            )  # fmt: skip
            snapshot = None  # out of date, as groups may have been created
    remedy += " to continue, or remove it with zarr_core.rmdir"
    rollback.note_incomplete(store, format_, [*map(dest.at, tops)], remedy)
    return made


def execute(plan: CopyPlan, reporter: Reporter, rollback: Rollback) -> CopyResult:
    """Execute a plan: chunks first, then arrays, then groups, if the store permits this order."""
    todo = plan.todo
    arrays = [step for step in todo if step.is_array]
    groups = [step for step in todo if not step.is_array]
    if plan.metadata_first:
        for step in groups if plan.pairs is None else todo:
            _create_first(plan, step, rollback)
    nbytes = 0
    if plan.pairs is not None:
        nbytes = _copy_keys(plan, plan.pairs, reporter)
        arrays = []
    for step in arrays:
        if plan.metadata_first:
            _create_first(plan, step, rollback)
        checkpoint = _copy_array(plan, step, reporter)
        _write(plan, [step])
        if checkpoint is not None:
            checkpoint.end()
    for steps in _levels(groups):
        _write(plan, steps)
        if plan.options.is_conversion:
            for step in steps:
                reporter.begin(step.path, 1, "documents")
                reporter.end()
    rollback.complete()
    if plan.pairs is None:
        _erase_checkpoints(plan)
    return plan.result(nbytes)


def _copy_keys(plan: CopyPlan, pairs: list[KeyPair], reporter: Reporter) -> int:
    """Copy the keys of all nodes; write the metadata of an array after its last key."""
    steps = plan.steps
    left = [0] * len(steps)
    for pair in pairs:
        left[pair.owner] += 1
    empty = [
        step
        for step, count in zip(steps, left, strict=True)
        if step.is_array and step.cost != "nothing" and not count
    ]
    guard = threading.Lock()

    def after(pair: KeyPair) -> None:
        with guard:
            left[pair.owner] -= 1
            done = not left[pair.owner]
        if done and steps[pair.owner].is_array:
            _write(plan, [steps[pair.owner]])

    sizes = {number: largest_value(step.metadata) for number, step in enumerate(steps)}
    reporter.begin(plan.dest.path, len(pairs), "keys")
    result = copy_pairs(
        plan.source.store, plan.dest.store, pairs, reporter,
        executor=plan.options.executor, after=after, sizes=sizes,
    )  # fmt: skip
    _write(plan, empty)
    reporter.end()
    return result.nbytes


def _copy_array(plan: CopyPlan, step: CopyStep, reporter: Reporter) -> Checkpoint | None:
    """Copy the chunks or elements of an array; return its checkpoint, if it has one."""
    if step.cost == "recode":
        options = plan.options
        old = plan.source.open_array(step.path, step.source_metadata, read_only=True)
        new = plan.dest.open_array(step.path, step.metadata)
        return copy_elements(
            old, new, reporter, path=step.path, max_memory=options.max_memory,
            executor=options.executor, verify=options.verify,
        )  # fmt: skip
    if step.cost == "copy":
        # All chunks are copied again after an interruption: equal sizes do not mean equal contents.
        before, after = array_keys(plan.spec, step)
        if not before.verbatim:
            plan.dest.store.erase_values(list(extra_keys(before, after)))
        reporter.begin(step.path, step.chunks, "chunks")
        pairs = (KeyPair(*pair) for pair in key_pairs(before, after))
        copy_pairs(
            plan.source.store, plan.dest.store, pairs, reporter, executor=plan.options.executor
        )
    else:
        reporter.begin(step.path, 1, "documents")
    if step.fills:
        _store_missing_chunks(plan, step)
    reporter.end()
    return None


def _store_missing_chunks(plan: CopyPlan, step: CopyStep) -> None:
    """Store the chunks that the source does not have, with its fill value."""
    before, after = array_keys(plan.spec, step)
    old = plan.source.open_array(step.path, step.source_metadata, read_only=True)
    new = plan.dest.open_array(step.path, step.metadata)
    source, store = plan.source.store, plan.dest.store
    stored = {
        chunk for chunk, key in before.stored() if source.supports_listing or source.exists(key)
    }
    missing = [chunk for chunk in product(*map(range, after.counts)) if chunk not in stored]

    def write(chunk: tuple[int, ...]) -> None:
        new.set_block_selection(chunk, old.fill_value)

    parallel_for(missing, write, store.max_concurrency is not None, store.max_concurrency)


def _levels(groups: list[CopyStep]) -> list[list[CopyStep]]:
    """Return groups by depth, members before their groups."""
    levels: dict[int, list[CopyStep]] = {}
    for step in groups:
        levels.setdefault(step.path.count("/") + bool(step.path), []).append(step)
    return [levels[depth] for depth in sorted(levels, reverse=True)]


def _create_first(plan: CopyPlan, step: CopyStep, rollback: Rollback) -> None:
    """Create a new node before its chunks."""
    if step.is_new:
        store, format_ = plan.dest.store, plan.dest.format_
        at, new = plan.dest.at(step.path), _metadata(step)
        if not plan.options.is_conversion:
            rollback.write(store, at, format_, new)
        elif not rollback.create(store, at, format_, new):
            _update_existing(plan, step)


def _write(plan: CopyPlan, steps: list[CopyStep]) -> None:
    """Write the metadata of nodes that are not nested, unless it was created first."""
    store, format_ = plan.dest.store, plan.dest.format_
    first = plan.metadata_first
    replaces = not plan.options.is_conversion or (plan.in_place and plan.options.overwrite)

    def write(step: CopyStep) -> None:
        if first and step.is_new:
            return
        at, new = plan.dest.at(step.path), _metadata(step)
        if replaces:
            format_.write(store, at, new)
        elif not format_.create(store, at, new):
            _update_existing(plan, step)

    parallel_for(steps, write, store.max_concurrency is not None, store.max_concurrency)


def _update_existing(plan: CopyPlan, step: CopyStep) -> None:
    """Add metadata to an implied group or one without attributes; raise an error for another node."""
    dest, new = plan.dest, _metadata(step)
    at, existing = dest.at(step.path), dest.read(step.path)
    if existing is None and dest.format_.implicit_groups:
        # A group was implied by the new chunks.
        dest.format_.write(dest.store, at, new)
    elif isinstance(new, GroupMetadata) and existing is not None and is_bare(existing):
        dest.format_.update(dest.store, at, lambda group: group.replace(attributes=new.attributes))
    elif existing is None or not same_metadata(dest.format_, existing, new):
        raise NodeExistsError(
            dest.location(step.path), "another writer has created a node here during the copy"
        )


def is_bare(metadata: NodeMetadata) -> bool:
    """Whether metadata is that of a group without any fields, as parent groups are created."""
    return isinstance(metadata, GroupMetadata) and not (
        metadata.attributes or metadata.additional_fields or metadata.consolidated
    )


def _metadata(step: CopyStep) -> NodeMetadata:
    assert step.metadata is not None, "a step without problems has metadata"
    return step.metadata


def _erase_checkpoints(plan: CopyPlan) -> None:
    """Remove checkpoints of arrays that an interrupted copy has completed."""
    dest = plan.dest
    if dest.store.traits.supports_erasing and not plan.in_place:
        keys = [
            checkpoint_key(dest.format_.chunk_prefix(dest.at(step.path)))
            for step in plan.steps
            if step.is_array and step.cost == "nothing" and not step.problems
        ]
        dest.store.erase_values([*present_keys(dest.store, keys)])
