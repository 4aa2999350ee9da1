"""Copying arrays by way of their elements, to give them another layout."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.copying.leftovers import left_by, refuse_strangers
from zarr_core.engine.stored import stored_chunks
from zarr_core.hierarchy.array import Array
from zarr_core.hierarchy.convenience import empty_like
from zarr_core.hierarchy.from_metadata import node
from zarr_core.hierarchy.values import write_values
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
    reporter.begin(step.target, old.size, "elements")
    if carrier is None:
        if ends.dest.supports_listing:
            refuse_strangers(new, {key for _, key in stored_chunks(new._chunks)})
        write_values(new, _Watched(old, reporter))
        ends.dest_format.write(ends.dest, step.target, made.metadata)
    else:
        note = Note(old, new)
        carrier.elements(old, new, left_by(note, new), reporter.advance)
        ends.dest_format.write(ends.dest, step.target, made.metadata)
        note.end()
    reporter.end()


class _Watched:
    """An array that is read part by part, each reported.

    Parameters
    ----------
    array : Array
        The array.
    reporter : Reporter
        Is told how many elements were read.
    """

    def __init__(self, array: Array, reporter: Reporter) -> None:
        self._array = array
        self._reporter = reporter

    def __getitem__(self, selection: Any) -> Any:
        values = self._array[selection]
        self._reporter.advance(prod(np.shape(values)))
        return values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.asarray(self[...], dtype)
