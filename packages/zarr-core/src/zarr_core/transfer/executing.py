"""Doing what a plan says: values first, then the documents that show them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from zarr_core.nodes.placing import make_room
from zarr_core.threads import run
from zarr_core.transfer.plan import tops_of
from zarr_core.transfer.source import largest_value
from zarr_core.transfer.values import Move, Transfer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.interfaces.carrier import Carrier, Moved, Pair
    from zarr_core.interfaces.progress import Reporter
    from zarr_core.transfer.ends import Ends
    from zarr_core.transfer.plan import Copied, Plan, Step
    from zarr_core.transfer.values import Compare


def make_places(plan: Plan) -> list[str]:
    """Remove what is replaced, and make the groups that lead to the copies; give their paths."""
    ends = plan.ends
    tops = set(tops_of([(step.source, step.metadata) for step in plan.steps]))
    made: list[str] = []
    for step in plan.steps:
        replaced = step.action == "replace"
        if replaced or (step.action == "copy" and step.source in tops):
            made += make_room(
                ends.dest, step.target, ends.dest_format, step.metadata, overwrite=replaced
            )
    return made


def execute(
    plan: Plan, compare: Compare, reporter: Reporter, carrier: Carrier | None = None
) -> Copied:
    """Do what a plan says, once the places are made.

    Notes
    -----
    The document of an array is written as soon as all its values are there; those of
    groups at the end, members first.
    """
    ends, steps = plan.ends, plan.steps
    left = [0] * len(steps)
    for pair in plan.pairs:
        left[pair.owner] += 1
    empty = [step for step, count in zip(steps, left, strict=True) if step.is_array and not count]
    guard = threading.Lock()

    def after(pair: Pair) -> None:
        with guard:
            left[pair.owner] -= 1
            done = not left[pair.owner]
        if done and steps[pair.owner].is_array:
            _write(ends, [steps[pair.owner]])

    if carrier is None:
        sizes = {number: largest_value(step.metadata) for number, step in enumerate(steps)}
        transfer = Transfer(ends.source, ends.dest, compare, reporter, sizes)
        transfer.run(plan.pairs, after)
        nbytes = transfer.nbytes
    else:
        nbytes = 0

        def done(pairs: Sequence[Pair], moved: Moved) -> None:
            nonlocal nbytes
            nbytes += moved.nbytes
            reporter.advance(len(pairs), moved.nbytes)
            for pair in pairs:
                after(pair)

        carrier.values(plan.pairs, Move(ends.source, ends.dest, compare), done)
    _write(ends, empty)
    write_groups(plan)
    return plan.counted(nbytes)


def write_groups(plan: Plan) -> None:
    """Write the documents of all groups, those of members before those of their groups."""
    levels: dict[int, list[Step]] = {}
    for step in plan.steps:
        if not step.is_array:
            levels.setdefault(step.target.count("/") + bool(step.target), []).append(step)
    for depth in sorted(levels, reverse=True):
        _write(plan.ends, levels[depth])


def _write(ends: Ends, steps: list[Step]) -> None:
    """Write the documents of nodes, of which none lies in another."""

    def write(step: Step) -> None:
        if not step.stays:
            ends.dest_format.write(ends.dest, step.target, step.metadata)

    run(steps, write, ends.dest.requests is not None, ends.dest.requests)
