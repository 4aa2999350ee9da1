"""Normalization of the shapes of chunks and shards."""

from __future__ import annotations

from math import gcd, isqrt, prod
from operator import index as as_integer
from typing import Any, TypeAlias

Lengths: TypeAlias = tuple[Any, ...]
"""One length for all chunks along a dimension, or the length of each."""

CHUNK_BYTES = 1 << 20
SHARD_BYTES = 1 << 25


def chunk_and_shard_shape(
    shape: tuple[int, ...], item_size: int, chunks: Any = "auto", shards: Any = None
) -> tuple[Lengths, Lengths | None]:
    """Choose the shapes of chunks and shards.

    Parameters
    ----------
    shape : tuple of int
        Shape of the array.
    item_size : int
        Bytes per element.
    chunks : int, sequence, bool, None or "auto"
        One length for all dimensions or one per dimension; -1 or None for the whole dimension.
        False: one chunk.  ``"auto"`` or True: see Notes.  A sequence in place of a length has the
        length of every chunk along the dimension.
    shards : int, sequence, "auto" or None
        The same for shards; None for no shards.  Chunks within shards have one length per
        dimension, even if the lengths of shards differ.

    Returns
    -------
    chunks : tuple of (int or tuple of int)
    shards : tuple of (int or tuple of int), or None

    Raises
    ------
    ValueError
        If a length is not positive, the number of lengths is wrong, a shard is not a multiple of
        a chunk, or chunks within shards have different lengths.

    Notes
    -----
    ``"auto"``: a chunk starts as the whole array, and its longest dimension is halved (rounded
    up) until it has at most 1 MiB.  A shard starts as a chunk, and the dimension with the most
    shards is doubled while the shard has at most 32 MiB and does not cover that dimension.  If
    only shards are given, the shard is divided instead of the array, along each dimension by a
    divisor of its length.

    Examples
    --------
    >>> chunk_and_shard_shape((20000, 20000), 8)
    ((313, 313), None)
    >>> chunk_and_shard_shape((20000, 20000), 8, shards="auto")
    ((313, 313), (2504, 1252))
    >>> chunk_and_shard_shape((100, 100), 4, chunks=30, shards=60)
    ((30, 30), (60, 60))
    >>> chunk_and_shard_shape((60, 10), 4, chunks=[[10, 20, 30], 5])
    (((10, 20, 30), 5), None)
    """
    if shards is None or shards is False:
        if _is_auto(chunks):
            return _chunk(shape, item_size), None
        return _explicit(chunks, shape, "chunks"), None
    if _is_auto(shards):
        chunk = _chunk(shape, item_size) if _is_auto(chunks) else _inner(chunks, shape)
        return chunk, _shard(shape, chunk, item_size)
    shard = _explicit(shards, shape, "shards")
    if _is_auto(chunks):
        return _divided(tuple(map(_common, shard)), item_size), shard
    chunk = _inner(chunks, shape)
    shard = tuple(map(_whole, shard, chunk, shape))
    if any(_common(outer) % inner for outer, inner in zip(shard, chunk, strict=True)):
        raise ValueError(
            f"shards {shard} are not multiples of chunks {chunk} in every dimension; "
            "a shard contains whole chunks"
        )
    return chunk, shard


def _inner(chunks: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    lengths = _explicit(chunks, shape, "chunks")
    if any(isinstance(item, tuple) for item in lengths):
        raise ValueError(
            f"chunks={chunks!r}: chunks within shards must have one length per dimension; "
            "shards may have different lengths: shards=[[10, 20], [5, 5]]"
        )
    return lengths


def _common(lengths: int | tuple[int, ...]) -> int:
    """The greatest common divisor of all lengths."""
    return lengths if isinstance(lengths, int) else gcd(*lengths)


def _whole(shard: int | tuple[int, ...], chunk: int, size: int) -> int | tuple[int, ...]:
    """Extend the last shard to whole chunks if it ends with the array."""
    if isinstance(shard, int) or sum(shard) != size:
        return shard
    *others, last = shard
    return (*others, -(-last // chunk) * chunk)


def _is_auto(value: Any) -> bool:
    return value is True or (isinstance(value, str) and value == "auto")


def _explicit(value: Any, shape: tuple[int, ...], argument: str) -> Lengths:
    if value is None or value is False:
        return tuple(max(1, length) for length in shape)
    if isinstance(value, str):
        raise ValueError(f'{argument} must be integers or "auto", not {value!r}')
    if not hasattr(value, "__iter__"):
        value = (value,) * len(shape)
    items = tuple(value)
    if len(items) != len(shape):
        raise ValueError(
            f"{argument}={items} has {len(items)} lengths for {len(shape)} dimensions (shape {shape})"
        )
    lengths: list[int | tuple[int, ...]] = []
    for item, size in zip(items, shape, strict=True):
        is_sequence = hasattr(item, "__iter__") and not isinstance(item, str)
        if item is None or (not is_sequence and item == -1):
            lengths.append(max(1, size))
            continue
        try:
            each = tuple(map(as_integer, item if is_sequence else (item,)))
        except TypeError:
            raise ValueError(
                f"{argument}={value!r}: lengths must be integers, -1 or None, or sequences of "
                "integers for different lengths along a dimension"
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


def _chunk(shape: tuple[int, ...], item_size: int) -> tuple[int, ...]:
    chunk = [max(1, length) for length in shape]
    while prod(chunk) * item_size > CHUNK_BYTES and max(chunk) > 1:
        longest = chunk.index(max(chunk))
        chunk[longest] = -(-chunk[longest] // 2)
    return tuple(chunk)


def _shard(shape: tuple[int, ...], chunk: tuple[int, ...], item_size: int) -> tuple[int, ...]:
    shard = list(chunk)
    while prod(shard) * item_size * 2 <= SHARD_BYTES:
        left = [-(-size // length) for size, length in zip(shape, shard, strict=True)]
        most = max(left, default=0)
        if most <= 1:
            break
        shard[left.index(most)] *= 2
    return tuple(shard)


def _divided(shard: tuple[int, ...], item_size: int) -> tuple[int, ...]:
    chunk = list(shard)
    while prod(chunk) * item_size > CHUNK_BYTES and max(chunk) > 1:
        longest = chunk.index(max(chunk))
        chunk[longest] = _divisor_below(shard[longest], chunk[longest])
    return tuple(chunk)


def _divisor_below(number: int, limit: int) -> int:
    """The largest divisor of a number that is less than ``limit``; 1 if none is found."""
    best = 1
    # Divisors come in pairs, of which the smaller is at most the square root.  The limit of
    # the search matters only for shards of more than 10^12 elements along one dimension.
    for small in range(1, min(isqrt(number), 10**6) + 1):
        if number % small == 0:
            if number // small < limit:
                return number // small
            if small < limit:
                best = small
    return best
