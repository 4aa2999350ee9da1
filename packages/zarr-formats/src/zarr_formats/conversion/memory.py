"""In which boxes, with how much memory, the chunks of an array are decoded to be written anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core import array_from_metadata
from zarr_core.extension import (
    ArrayMetadata,
    Budget,
    Chunking,
    may_have_pieces,
    plan_stages,
    thread_count,
)

if TYPE_CHECKING:
    from zarr_core import Array
    from zarr_core.extension import RechunkingPlan

    from zarr_formats.conversion.steps import Memory, Side, Step

BUFFER = 1 << 26
"""Bytes of elements that are held at a time, unless a stored object has more."""


def planned(old: Array, new: Array, memory: Memory) -> RechunkingPlan:
    """The boxes that an array is gone through in, at once or by way of pieces.

    Raises
    ------
    ValueError
        If a stored object takes more memory than is allowed.
    """
    source, dest = (Chunking.of(array, thread_count()) for array in (old, new))
    firm = memory.most is not None
    most = memory.copies * BUFFER if memory.most is None else memory.most
    pieces = may_have_pieces(old, new.store)
    budget = Budget(most, memory.copies, between=pieces, firm=firm)
    return plan_stages(source, dest, budget)


def opened(side: Side, step: Step, *, read_only: bool) -> Array:
    """The array at one end of a step: what is read, or what is written."""
    metadata = step.source_metadata if read_only else step.metadata
    assert isinstance(metadata, ArrayMetadata)
    return array_from_metadata(
        side.store,
        metadata,
        path=side.at(step.path),
        zarr_format=side.format_.name,
        read_only=read_only,
    )
