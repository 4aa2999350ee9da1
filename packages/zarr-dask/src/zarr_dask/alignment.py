"""Alignment of Dask blocks with stored objects, so that no two tasks write to the same one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_dask.block_lengths import edges_of, is_edge, part_lengths, regular, regular_edges, snap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_transfer import ChunkEdges

    from zarr_dask.block_lengths import Lengths

Region = tuple[slice, ...]


def normalize_region(value: Any, shape: tuple[int, ...], blocks: tuple[int, ...]) -> Region:
    """Return a region with a start and stop for each dimension.

    ``value`` is the region as the user passed it; missing dimensions are complete.  Raises
    ValueError if a slice has a step, a dimension does not exist, or the region does not have
    the shape ``blocks`` of the array to write.
    """
    parts: list[Any] = [slice(None)] * len(shape)
    if isinstance(value, dict):
        for dimension, part in value.items():
            if dimension not in range(-len(shape), len(shape)):
                raise ValueError(
                    f"region {value!r} contains the dimension {dimension!r}, but the array has "
                    f"{len(shape)} dimensions, numbered from 0"
                )
            parts[dimension] = part
    elif value is not None:
        several = tuple(value) if isinstance(value, list | tuple) else (value,)
        if len(several) > len(shape):
            raise ValueError(
                f"region {value!r} has more dimensions than the array, which has {len(shape)}"
            )
        parts[: len(several)] = several
    region = []
    for part, size in zip(parts, shape, strict=True):
        if not isinstance(part, slice) or part.step not in (None, 1):
            raise ValueError(f"a region must consist of slices without steps, not {part!r}")
        start, stop, _ = part.indices(size)
        if part.stop is not None and part.stop > size:
            raise ValueError(f"region {value!r} exceeds the array of shape {shape}")
        region.append(slice(start, max(start, stop)))
    sizes = tuple(part.stop - part.start for part in region)
    if sizes != blocks:
        raise ValueError(f"the region has shape {sizes}, but the array to write has shape {blocks}")
    return tuple(region)


def align_blocks(
    blocks: Sequence[Lengths], region: Region, stored: Sequence[ChunkEdges]
) -> tuple[Lengths, ...]:
    """Return block lengths such that no two blocks share a stored object.

    Blocks that are aligned already keep their lengths.
    """
    return tuple(
        tuple(lengths)
        if _fits(lengths, part.start, there)
        else snap(tuple(lengths), part.start, there)
        for lengths, part, there in zip(blocks, region, stored, strict=True)
    )


def _fits(lengths: Lengths, start: int, stored: ChunkEdges) -> bool:
    return all(is_edge(stored, edge) for edge in edges_of(lengths, start)[1:-1])


def check_alignment(
    blocks: Sequence[Lengths], wanted: Sequence[Lengths], stored: Sequence[ChunkEdges], what: str
) -> None:
    """Raise ValueError with the required ``rechunk`` if blocks are not aligned."""
    wrong = [d for d, (is_, be) in enumerate(zip(blocks, wanted, strict=True)) if is_ != be]
    if not wrong:
        return
    remedy = ", ".join(f"{d}: {_shown(wanted[d])}" for d in wrong)
    block_lengths = ", ".join(f"{d}: {_shown(blocks[d])}" for d in wrong)
    object_lengths = ", ".join(f"{d}: {_shown_edges(stored[d])}" for d in wrong)
    raise ValueError(
        f"blocks of lengths {{{block_lengths}}} are not aligned with {what} of lengths "
        f"{{{object_lengths}}}: two tasks would write to the same stored object. "
        f"Pass x.rechunk({{{remedy}}}), or align=True to rechunk automatically"
    )


def check_region_edges(region: Region, stored: Sequence[ChunkEdges], what: str) -> None:
    """Raise ValueError with the aligned region if a region starts or ends within stored objects."""
    for dimension, (part, edges) in enumerate(zip(region, stored, strict=True)):
        wrong = [at for at in (part.start, part.stop) if not is_edge(edges, at)]
        if part.start == part.stop or not wrong:
            continue
        start = edges[edges.part_of(part.start)].start
        stop = edges[edges.part_of(part.stop - 1)].stop
        raise ValueError(
            f"the region {part.start}:{part.stop} of dimension {dimension} starts or ends within "
            f"{what} of lengths {_shown_edges(edges)}; the aligned region is {start}:{stop}. "
            "Pass partial_edges=True if no other process writes to these at the same time"
        )


def _shown_edges(edges: ChunkEdges) -> str:
    one = regular_edges(edges)
    return _shown(part_lengths(edges)) if one is None else str(one)


def _shown(lengths: Lengths) -> str:
    one = regular(lengths)
    if one is not None:
        return str(one)
    if len(lengths) > 12:
        return "({}, ..., {})".format(", ".join(map(str, lengths[:8])), lengths[-1])
    return str(tuple(lengths))
