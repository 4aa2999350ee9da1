"""Whether blocks that are written at the same time meet in a stored object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_dask.chunking import edges_of, regular, snap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core import Array

    from zarr_dask.chunking import Lengths

Region = tuple[slice, ...]


def stored_lengths(array: Array) -> tuple[Lengths, ...]:
    """Lengths of an array's stored objects: of shards if there are shards, else of chunks."""
    return tuple(lengths or (0,) for lengths in array.write_chunk_sizes)


def region_of(given: Any, shape: tuple[int, ...], blocks: tuple[int, ...]) -> Region:
    """The part of an array that is written, with all ends.

    Parameters
    ----------
    given : tuple of (slice or int), slice, mapping of int to slice, or None
        What the user said; what is left out is the whole dimension.
    shape : tuple of int
        Shape of the stored array.
    blocks : tuple of int
        Shape of what is written.

    Raises
    ------
    ValueError
        If a slice has a step, a dimension is not there, or the shapes differ.
    """
    parts: list[Any] = [slice(None)] * len(shape)
    if isinstance(given, dict):
        for dimension, part in given.items():
            if dimension not in range(-len(shape), len(shape)):
                raise ValueError(
                    f"region {given!r} names the dimension {dimension!r} of an array that has "
                    f"{len(shape)} dimensions; they are numbered from 0"
                )
            parts[dimension] = part
    elif given is not None:
        several = tuple(given) if isinstance(given, list | tuple) else (given,)
        if len(several) > len(shape):
            raise ValueError(f"region {given!r} has more dimensions than the array, {len(shape)}")
        parts[: len(several)] = several
    region = []
    for part, size in zip(parts, shape, strict=True):
        if not isinstance(part, slice) or part.step not in (None, 1):
            raise ValueError(f"a region consists of slices without steps, not {part!r}")
        start, stop, _ = part.indices(size)
        if part.stop is not None and part.stop > size:
            raise ValueError(f"region {given!r} reaches beyond the array, whose shape is {shape}")
        region.append(slice(start, max(start, stop)))
    found = tuple(part.stop - part.start for part in region)
    if found != blocks:
        raise ValueError(f"the region has shape {found}, and what is to be written {blocks}")
    return tuple(region)


def aligned(
    blocks: Sequence[Lengths], region: Region, stored: Sequence[Lengths]
) -> tuple[Lengths, ...]:
    """Lengths of blocks of which no two are in one stored object.

    Parameters
    ----------
    blocks : sequence of tuple of int
        Lengths of the blocks that there are, along each dimension.
    region : tuple of slice
        Where they go.
    stored : sequence of tuple of int
        Lengths of the stored objects.

    Returns
    -------
    tuple of tuple of int
        What is given, if it is so already.
    """
    return tuple(
        tuple(lengths)
        if _fits(lengths, part.start, there)
        else snap(tuple(lengths), part.start, there)
        for lengths, part, there in zip(blocks, region, stored, strict=True)
    )


def _fits(lengths: Lengths, start: int, stored: Lengths) -> bool:
    inner = edges_of(lengths, start)[1:-1]
    return set(inner) <= set(edges_of(stored))


def refuse_meeting(
    blocks: Sequence[Lengths], wanted: Sequence[Lengths], stored: Sequence[Lengths], what: str
) -> None:
    """Raise if blocks are not such as they must be.

    Raises
    ------
    ValueError
        Says in which dimensions, and how to put it right.
    """
    wrong = [d for d, (is_, be) in enumerate(zip(blocks, wanted, strict=True)) if is_ != be]
    if not wrong:
        return
    remedy = ", ".join(f"{d}: {_shown(wanted[d])}" for d in wrong)
    blocks_there = ", ".join(f"{d}: {_shown(blocks[d])}" for d in wrong)
    stored_there = ", ".join(f"{d}: {_shown(stored[d])}" for d in wrong)
    raise ValueError(
        f"blocks of lengths {{{blocks_there}}} would meet in {what} of lengths {{{stored_there}}}: "
        "two tasks would change one stored object at the same time. "
        f"Write x.rechunk({{{remedy}}}), or give align=True to have that done"
    )


def refuse_cut_edges(region: Region, stored: Sequence[Lengths], what: str) -> None:
    """Raise if a region begins or ends within stored objects.

    Raises
    ------
    ValueError
        Says where, and the nearest region that does not.
    """
    for dimension, (part, lengths) in enumerate(zip(region, stored, strict=True)):
        edges = edges_of(lengths)
        if part.start == part.stop or {part.start, part.stop} <= set(edges):
            continue
        start = max(edge for edge in edges if edge <= part.start)
        stop = min(edge for edge in edges if edge >= part.stop)
        raise ValueError(
            f"the region {part.start}:{part.stop} of dimension {dimension} begins or ends within "
            f"{what}, of lengths {_shown(lengths)}; whole ones are {start}:{stop}. "
            "If nobody else writes there at the same time, give partial_edges=True"
        )


def _shown(lengths: Lengths) -> str:
    one = regular(lengths)
    if one is not None:
        return str(one)
    if len(lengths) > 12:
        return "({}, ..., {})".format(", ".join(map(str, lengths[:8])), lengths[-1])
    return str(tuple(lengths))
