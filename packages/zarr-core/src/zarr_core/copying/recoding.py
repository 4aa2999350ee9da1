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
from zarr_core.rechunking.note import Note, note_at
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

    Draft = tuple[Array, Array]  # what is read, and what is written: its document is not there


_FEW = 16  # stored objects of which no note is taken how far they have come


def drafts(plan: Plan, source: Array | Group, asked: Asked) -> list[Draft]:
    """Say what becomes of each array; nothing is stored, so that a layout is refused in time.

    Parameters
    ----------
    plan : Plan
        What becomes of each node.
    source : Array or Group
        What is copied.
    asked : Asked
        The layout: arguments of :func:`create_array`; what is not among them stays as it
        is.

    Raises
    ------
    MetadataValidationError, ExtensionError, ValueError, TypeError
        If an array cannot have it.
    """
    with extensions(source._extensions):
        return [
            _draft(plan.ends, step, asked.layout)
            for step in plan.steps
            if step.is_array and not step.stays
        ]


def recode(plan: Plan, arrays: list[Draft], source: Array | Group, asked: Asked) -> None:
    """Do what a plan says by decoding arrays, once the places are made.

    Parameters
    ----------
    plan, arrays
        What becomes of each node, of each array.
    source : Array or Group
        What is copied.
    asked : Asked
        The progress, and the carrier.
    """
    with Reporter(asked.progress, len(arrays)) as reporter, extensions(source._extensions):
        for old, new in arrays:
            _recode(old, new, reporter, asked.carrier)
    write_groups(plan)
    ends = plan.ends
    if ends.dest.supports_erasing:  # of what was stopped between a document and its note
        done = (step.target for step in plan.steps if step.is_array and step.stays)
        ends.dest.erase_values([note_at(ends.dest_format.chunk_prefix(path)) for path in done])


def _draft(ends: Ends, step: Step, layout: Mapping[str, Any]) -> Draft:
    old = node(ends.source, step.source, ends.format_, step.metadata, read_only=True)
    assert isinstance(old, Array), "the metadata are those of an array"
    options = {"attributes": step.metadata.attributes, **layout, "store": MemoryStore()}
    options["zarr_format"] = ends.dest_format.name
    if ends.format_.name != ends.dest_format.name:
        options.setdefault("chunk_key_encoding", None)  # that of the format
    made = empty_like(old, **options)
    new = node(ends.dest, step.target, ends.dest_format, made.metadata, read_only=False)
    assert isinstance(new, Array), "what was made is an array"
    return old, new


def _recode(old: Array, new: Array, reporter: Reporter, carrier: Carrier | None) -> None:
    if carrier is None and prod(new.cdata_shape) <= _FEW:
        begin_anew(new)
        move_elements(old, new, frozenset(), reporter)
        new._format.write(new.store, new.path, new.metadata)
    else:
        note = Note(old, new)
        there = left_by(note, new)
        if carrier is None:
            move_elements(old, new, there, reporter)
        else:
            reporter.begin(new.path, old.size, "elements")
            carrier.elements(old, new, there, reporter.advance)
        new._format.write(new.store, new.path, new.metadata)
        note.end()
    reporter.end()
