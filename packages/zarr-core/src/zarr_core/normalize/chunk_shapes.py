"""Normalization of the shapes of chunks and shards."""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from math import gcd, isqrt, prod
from typing import Any, TypeAlias

from zarr_core.selection.parse import as_integer

Lengths: TypeAlias = tuple[Any, ...]
"""One length for all chunks along a dimension, or the length of each; AUTO while it is not chosen."""

AUTO = "auto"

CHUNK_BYTES = 1 << 20
SHARD_BYTES = 1 << 25


def chunk_and_shard_shape(
    shape: tuple[int, ...], item_size: int, chunks: Any = "auto", shards: Any = None
) -> tuple[Lengths, Lengths | None]:
    """Choose the shapes of chunks and shards; arguments and errors as for ``create_array``.

    A chunk starts as the whole array, and its longest dimension is halved (rounded up) until it
    has at most ``CHUNK_BYTES``.  A shard starts as a chunk, and the dimension with the most shards
    is doubled while the shard has at most ``SHARD_BYTES`` and does not cover that dimension.  If
    only shards are given, they are divided instead of the array, by divisors of their lengths.
    """
    for value in (chunks, shards):
        if hasattr(value, "choose_shapes"):  # a ChunkLayout
            shapes: tuple[Lengths, Lengths | None]
            shapes = value.choose_shapes(shape, item_size, chunks, shards)
            return shapes
    chunk = parse_lengths(chunks, shape, "chunks")
    if shards is None or shards is False:
        return _chunk(shape, chunk, (AUTO,) * len(shape), item_size), None
    if any(isinstance(item, tuple) for item in chunk):
        raise ValueError(
            f"chunks={chunks!r}: chunks within shards must have one length per dimension; "
            "shards may have different lengths: shards=[[10, 20], [5, 5]]"
        )
    shard = parse_lengths(shards, shape, "shards")
    chunk = _chunk(shape, chunk, shard, item_size)
    shard = tuple(map(_whole, _shard(shape, chunk, shard, item_size), chunk, shape))
    if any(_common(outer) % inner for outer, inner in zip(shard, chunk, strict=True)):
        raise ValueError(
            f"shards {shard} are not multiples of chunks {chunk} in every dimension; "
            "a shard contains whole chunks"
        )
    return chunk, shard


def _common(lengths: int | tuple[int, ...]) -> int:
    """The greatest common divisor of all lengths."""
    return lengths if isinstance(lengths, int) else gcd(*lengths)


def _whole(shard: int | tuple[int, ...], chunk: int, size: int) -> int | tuple[int, ...]:
    """Extend the last shard to whole chunks if it ends with the array."""
    if isinstance(shard, int) or sum(shard) != size:
        return shard
    *others, last = shard
    return (*others, -(-last // chunk) * chunk)


def parse_lengths(value: Any, shape: tuple[int, ...], argument: str) -> Lengths:
    """The lengths of an argument for each dimension, integers, tuples or AUTO.

    Raises a ValueError that names ``argument``.
    """
    if value is True or (isinstance(value, str) and value == AUTO):
        return (AUTO,) * len(shape)
    if value is None or value is False:
        return tuple(max(1, length) for length in shape)
    if isinstance(value, str):
        raise ValueError(f'{argument} must be integers or "auto", not {value!r}')
    if not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0:
        value = (value,) * len(shape)
    items = tuple(value)
    if len(items) != len(shape):
        raise ValueError(
            f"{argument}={items} has {len(items)} lengths for {len(shape)} dimensions (shape {shape})"
        )
    lengths: list[int | tuple[int, ...] | str] = []
    for item, size in zip(items, shape, strict=True):
        if isinstance(item, str) and item == AUTO:
            lengths.append(AUTO)
            continue
        is_sequence = hasattr(item, "__iter__") and getattr(item, "ndim", 1) != 0
        is_sequence = is_sequence and not isinstance(item, str)
        if item is None or (not is_sequence and item == -1):
            lengths.append(max(1, size))
            continue
        try:
            each = tuple(map(as_integer, item if is_sequence else (item,)))
        except TypeError:
            raise ValueError(
                f'{argument}={value!r}: lengths must be integers, -1, None or "auto", or sequences '
                "of integers for different lengths along a dimension"
            ) from None
        if min(each, default=0) < 1:
            raise ValueError(
                f"{argument}={items}: a length must be at least 1, or -1 for the whole dimension"
            )
        if is_sequence and sum(each) < size:
            raise ValueError(
                f"{argument}={items}: the lengths {each} add up to {sum(each)}, not to {size}"
            )
        lengths.append(each if is_sequence else each[0])
    return tuple(lengths)


def _chunk(shape: tuple[int, ...], chunk: Lengths, shard: Lengths, item_size: int) -> Lengths:
    """Choose the lengths of chunks that are AUTO, as divisors of the lengths of shards if given."""
    wholes = [None if item is AUTO else _common(item) for item in shard]
    free = [dimension for dimension, item in enumerate(chunk) if item is AUTO]
    lengths = list(chunk)
    for dimension in free:
        lengths[dimension] = wholes[dimension] or max(1, shape[dimension])
    others = prod(max(item) if isinstance(item, tuple) else item for item in chunk if item != AUTO)
    while (
        free and others * prod(lengths[dimension] for dimension in free) * item_size > CHUNK_BYTES
    ):
        longest = max(free, key=lengths.__getitem__)
        if lengths[longest] == 1:
            break
        whole = wholes[longest]
        lengths[longest] = (
            -(-lengths[longest] // 2) if whole is None else divisor_below(whole, lengths[longest])
        )
    return tuple(lengths)


def _shard(shape: tuple[int, ...], chunk: Lengths, shard: Lengths, item_size: int) -> Lengths:
    """Choose the lengths of shards that are AUTO, as multiples of the lengths of chunks."""
    free = [dimension for dimension, item in enumerate(shard) if item is AUTO]
    lengths = [inner if item is AUTO else item for item, inner in zip(shard, chunk, strict=True)]
    others = prod(max(item) if isinstance(item, tuple) else item for item in shard if item != AUTO)
    while free and others * prod(lengths[at] for at in free) * item_size * 2 <= SHARD_BYTES:
        left = {dimension: -(-shape[dimension] // lengths[dimension]) for dimension in free}
        axis = max(free, key=left.__getitem__)
        if left[axis] <= 1:
            break
        lengths[axis] *= 2
    return tuple(lengths)


def divisor_below(number: int, limit: int) -> int:
    """The largest divisor of a number that is less than ``limit``; 1 if none is found."""
    divisors = _divisors(number)
    return divisors[max(0, bisect_left(divisors, limit) - 1)]


@lru_cache(maxsize=16)
def _divisors(number: int) -> list[int]:
    # Divisors come in pairs, of which the smaller is at most the square root.  The limit of
    # the search matters only for shards of more than 10^12 elements along one dimension.
    small = [one for one in range(1, min(isqrt(number), 10**6) + 1) if number % one == 0]
    return sorted({*small, *(number // one for one in small)})
