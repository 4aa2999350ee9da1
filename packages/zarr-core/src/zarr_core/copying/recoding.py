"""Copying arrays by way of their elements, to give them another layout."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from zarr_core.copying.elements import move_elements
from zarr_core.copying.leftovers import begin_anew, left_by
from zarr_core.hierarchy.array import Array
from zarr_core.hierarchy.convenience import empty_like
from zarr_core.hierarchy.from_metadata import node
from zarr_core.interfaces.progress import Reporter
from zarr_core.rechunking.note import Note
from zarr_core.registry.scope import extensions
from zarr_core.stores.memory import MemoryStore
from zarr_core.transfer.executing import write_groups

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.copying.asked import Asked
    from zarr_core.hierarchy.group import Group
    from zarr_core.interfaces.carrier import Carrier
    from zarr_core.transfer.ends import Ends
    from zarr_core.transfer.plan import Plan, Step


_FEW = 16  # stored objects of which no note is taken how far they have come


def recode(plan: Plan, source: Array | Group, asked: Asked) -> None:
    """Do what a plan says by decoding arrays, once the places are made.

    Parameters
    ----------
    plan : Plan
        What becomes of each node.
    source : Array or Group
        What is copied.
    asked : Asked
        The layout: arguments of :func:`create_array`; what is not among them stays as it
        is.  Also the progress, and the carrier.
    """
    arrays = [step for step in plan.steps if step.is_array and not step.stays]
    with Reporter(asked.progress, len(arrays)) as reporter, extensions(source._extensions):
        for step in arrays:
            _recode(plan.ends, step, asked.layout, reporter, asked.carrier)
    write_groups(plan)


def _recode(
    ends: Ends,
    step: Step,
    layout: Mapping[str, Any],
    reporter: Reporter,
    carrier: Carrier | None,
) -> None:
    old = node(ends.source, step.source, ends.format_, step.metadata, read_only=True)
    assert isinstance(old, Array), "the metadata are those of an array"
    options = {"attributes": step.metadata.attributes, **layout, "store": MemoryStore()}
    options["zarr_format"] = ends.dest_format.name
    if ends.format_.name != ends.dest_format.name:
        options.setdefault("chunk_key_encoding", None)  # that of the format
    made = empty_like(old, **options)
    new = node(ends.dest, step.target, ends.dest_format, made.metadata, read_only=False)
    assert isinstance(new, Array), "what was made is an array"
    if carrier is None and prod(new.cdata_shape) <= _FEW:
        begin_anew(new)
        move_elements(old, new, frozenset(), reporter)
        ends.dest_format.write(ends.dest, step.target, made.metadata)
    else:
        note = Note(old, new)
        there = left_by(note, new)
        if carrier is None:
            move_elements(old, new, there, reporter)
        else:
            reporter.begin(step.target, old.size, "elements")
            carrier.elements(old, new, there, reporter.advance)
        ends.dest_format.write(ends.dest, step.target, made.metadata)
        note.end()
    reporter.end()
