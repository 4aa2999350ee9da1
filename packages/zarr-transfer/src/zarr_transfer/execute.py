"""Execution of a plan: values first, then metadata; the reverse if the store requires it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from zarr_core.tools import make_room, parallel_for

from zarr_transfer.copy_values import copy_pairs
from zarr_transfer.source_keys import largest_value, tops_of

if TYPE_CHECKING:
    from zarr_core.tools import ProgressReporter, Rollback

    from zarr_transfer.copy_executor import CopyExecutor, CopyResult, KeyPair
    from zarr_transfer.copy_values import Compare
    from zarr_transfer.plan import Plan, Step
    from zarr_transfer.spec import CopySpec


def prepare_destination(plan: Plan, rollback: Rollback, remedy: str) -> list[str]:
    """Remove what is replaced and create parent groups; return the paths of new groups."""
    spec = plan.spec
    tops = set(tops_of([(step.source, step.metadata) for step in plan.steps]))
    made: list[str] = []
    for step in plan.steps:
        replaced = step.action == "replace"
        if replaced or (step.action == "copy" and step.source in tops):
            made += make_room(
                spec.dest.store, step.target, spec.dest.format_, step.metadata, rollback,
                overwrite=replaced, existing=step.source.split("/"),
            )  # fmt: skip
    targets = [spec.target(top) for top in tops]
    remedy = f"{remedy} to continue, or remove it with zarr_core.rmdir"
    rollback.note_incomplete(spec.dest.store, spec.dest.format_, targets, remedy)
    return made


def execute(
    plan: Plan,
    compare: Compare,
    reporter: ProgressReporter,
    rollback: Rollback,
    executor: CopyExecutor | None = None,
) -> CopyResult:
    """Execute a plan, after :func:`prepare_destination`.

    Notes
    -----
    The metadata of an array is written after its last value, the metadata of groups at the end,
    members first; at the beginning if the store requires it.
    """
    spec, steps = plan.spec, plan.steps
    if spec.dest.store.metadata_first:
        create_first(plan, [step for step in steps if step.is_new], rollback)
    left = [0] * len(steps)
    for pair in plan.pairs:
        left[pair.owner] += 1
    empty = [step for step, count in zip(steps, left, strict=True) if step.is_array and not count]
    guard = threading.Lock()

    def after(pair: KeyPair) -> None:
        with guard:
            left[pair.owner] -= 1
            done = not left[pair.owner]
        if done and steps[pair.owner].is_array:
            _write(spec, [steps[pair.owner]])

    sizes = {number: largest_value(step.metadata) for number, step in enumerate(steps)}
    result = copy_pairs(
        spec.source.store, spec.dest.store, plan.pairs, reporter, compare=compare, executor=executor,
        after=after, sizes=sizes,
    )  # fmt: skip
    _write(spec, empty)
    write_groups(plan)
    rollback.complete()
    return plan.counted(result.nbytes)


def write_groups(plan: Plan) -> None:
    """Write the metadata of all groups, members before their groups."""
    levels: dict[int, list[Step]] = {}
    for step in plan.steps:
        if not step.is_array:
            levels.setdefault(step.target.count("/") + bool(step.target), []).append(step)
    for depth in sorted(levels, reverse=True):
        _write(plan.spec, levels[depth])


def create_first(plan: Plan, steps: list[Step], rollback: Rollback) -> None:
    """Create new nodes, parents first, before their values."""
    spec = plan.spec
    for step in steps:
        write = spec.dest.format_.write
        rollback.create(spec.dest.store, step.target, spec.dest.format_, step.metadata, write)


def _write(spec: CopySpec, steps: list[Step]) -> None:
    """Write the metadata of nodes that are not nested."""

    def write(step: Step) -> None:
        if not (step.stays or (step.is_new and spec.dest.store.metadata_first)):
            spec.dest.format_.write(spec.dest.store, step.target, step.metadata)

    parallel_for(
        steps, write, spec.dest.store.max_concurrency is not None, spec.dest.store.max_concurrency
    )
