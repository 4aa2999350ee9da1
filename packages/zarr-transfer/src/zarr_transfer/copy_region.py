"""Reading and writing regions of arrays."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from zarr_core.tools import parallel_for

from zarr_transfer.elements import same_fill_value
from zarr_transfer.rechunk import edges_of
from zarr_transfer.regions import box_at, common, reached, regions_with, within

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from zarr_core import Array
    from zarr_core.extension import Store

    from zarr_transfer.rechunk import RechunkStage
    from zarr_transfer.regions import Coordinates, Region

    NDArray = np.ndarray[Any, Any]

_FEW = 16  # stored objects below which single requests are faster than listing


def regions_of(stage: RechunkStage, source: Array, *, only_stored: bool) -> Iterator[Region]:
    """Return the regions of a stage.

    Parameters
    ----------
    stage : RechunkStage
        The stage.
    source : Array
        The array to read.
    only_stored : bool
        Whether to omit regions without stored chunks, if the store supports listing.
    """
    if (
        not only_stored
        or not source.store.supports_listing
        or source.metadata.storage_transformers
        or source.stored.missing_is_error
        or prod(source.cdata_shape) <= _FEW
    ):
        return stage.tasks()
    stored = (chunk for chunk, _ in source.stored.stored_chunks())
    return regions_with(stored, edges_of(source), stage.cuts)


def supports_intermediate(source: Array, store: Store) -> bool:
    """Whether an intermediate array can be stored and removed.

    It has no metadata, which some stores require before chunks, and its elements must have a
    fixed size.
    """
    return (
        store.traits.supports_erasing
        and store.supports_listing
        and not store.traits.metadata_first
        and source.dtype.kind not in "OT"
    )


def keeps_missing_chunks(source: Array, dest: Array) -> bool:
    """Whether chunks that are missing in one array can be missing in the other.

    This is the case if both read as the same value, bit by bit.
    """
    if dest.metadata.fill_value_undefined:  # every chunk is stored
        return False
    return same_fill_value(source.stored.resolved.fill_value, dest.stored.resolved.fill_value)


def read_region(task: Region, source: Array, out: NDArray) -> None:
    """Read the elements of a region, without requests for missing chunks.

    Parameters
    ----------
    task : Region
        The region.
    source : Array
        The array to read.
    out : ndarray
        Receives the elements; has the shape of the region.
    """
    if task.stored is None:
        source.get_basic_selection(task.box, out=out)
        return
    out[...] = source.stored.resolved.fill_value
    cuts = edges_of(source)

    def part(chunk: Coordinates) -> None:
        box = common(box_at(cuts, chunk), task.box)
        source.get_basic_selection(box, out=out[within(box, task.box)])

    max_concurrency = source.store.max_concurrency
    parallel_for(task.stored, part, True if max_concurrency else None, max_concurrency)


def write_region(task: Region, source: Array, dest: Array, values: NDArray) -> None:
    """Write the elements of a region of which no chunk is stored.

    Parameters
    ----------
    task : Region
        The region.
    source : Array
        The array that was read.
    dest : Array
        The array to write.
    values : ndarray
        The elements, of the shape of the region.
    """
    if task.stored is None:
        dest.set_basic_selection(task.box, values)
        return
    cuts, source_edges = edges_of(dest), edges_of(source)
    boxes = (common(box_at(source_edges, chunk), task.box) for chunk in task.stored)
    objects = {at for box in boxes for at in product(*reached(cuts, box))}

    def part(at: Coordinates) -> None:
        box = box_at(cuts, at)
        dest.set_basic_selection(box, values[within(box, task.box)])

    max_concurrency = dest.store.max_concurrency
    parallel_for(sorted(objects), part, True if max_concurrency else None, max_concurrency)
