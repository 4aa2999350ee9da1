"""Chunk layouts: the shapes of chunks and shards from a number of elements and an aspect ratio."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, prod
from typing import TYPE_CHECKING, Any, TypeAlias

from zarr_core.normalize.chunk_shapes import CHUNK_BYTES, SHARD_BYTES, divisor_below, parse_lengths
from zarr_core.selection.parse import is_integer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["ChunkLayout"]

Lengths: TypeAlias = "tuple[Any, ...]"
AUTO = "auto"


@dataclass(frozen=True, kw_only=True, slots=True)
class ChunkLayout:
    """Constraints for the shape of the chunks, or shards, of a new array.

    Accepted by the arguments ``chunks``, for the unit of reading, and ``shards``, for the unit of
    writing, of :func:`zarr_core.create_array`.  The terms are those of TensorStore.

    Parameters
    ----------
    shape : int or sequence, optional
        Lengths: a number; -1 or None for the whole dimension; ``"auto"``, also for the whole
        argument, for a length that is chosen.
    elements : int, optional
        Maximum number of elements of a chunk.  By default those of 1 MiB, for shards of 32 MiB.
    aspect_ratio : sequence of float, optional
        Ratio of the lengths that are chosen, one number per dimension; by default all equal.
    soft : bool
        Whether the lengths in ``shape`` can be changed so that a shard contains whole chunks;
        otherwise the other shape must fit them, or an error is raised.

    Raises
    ------
    ValueError
        If ``elements`` or a ratio is not positive.

    Notes
    -----
    If one of the arguments ``chunks`` and ``shards`` is a ChunkLayout, both shapes are chosen by
    this rule, and ``"auto"`` means ``ChunkLayout()`` for the other one:

    1. The lengths of ``shape`` are used.  If the shape of shards is soft, its lengths are rounded to
       multiples of hard lengths of chunks.  If the shape of chunks is soft, its lengths are rounded
       to divisors of the lengths of shards.
    2. The other lengths of chunks are ``aspect_ratio`` times the same factor, rounded down, but at
       most the length of the dimension, and divisors of the length of shards if it is known.  The
       factor is the largest for which a chunk has at most ``elements`` elements.
    3. The other lengths of shards are chosen in the same way, as multiples of the lengths of
       chunks, until a shard covers the dimension.
    4. If shards and chunks have the same shape, there are no shards.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> array = zarr.create_array(
    ...     shape=(1000, 2000, 3000),
    ...     dtype="uint16",
    ...     chunks=zarr.ChunkLayout(elements=2_000_000, aspect_ratio=(2, 1, 1)),
    ...     shards=zarr.ChunkLayout(elements=1_000_000_000),
    ... )
    >>> array.chunks, array.shards
    ((200, 100, 100), (1000, 1000, 1000))
    >>> zarr.create_array(shape=(100, 721, 1440), chunks=zarr.ChunkLayout(shape=(1, "auto", None))).chunks
    (1, 91, 1440)
    """

    shape: Any = AUTO
    elements: int | None = None
    aspect_ratio: Sequence[float] | None = None
    soft: bool = False

    def __post_init__(self) -> None:
        if self.elements is not None and not (is_integer(self.elements) and self.elements > 0):
            raise ValueError(
                f"elements={self.elements!r}: a chunk has a positive number of elements"
            )
        if self.aspect_ratio is not None:
            ratios: tuple[Any, ...] = tuple(self.aspect_ratio)
            if any(isinstance(item, str) or not (item > 0 and isfinite(item)) for item in ratios):
                raise ValueError(f"aspect_ratio={ratios}: a ratio is a positive number")
            object.__setattr__(self, "aspect_ratio", ratios)

    @staticmethod
    def choose_shapes(
        shape: tuple[int, ...], item_size: int, chunks: Any, shards: Any
    ) -> tuple[Lengths, Lengths | None]:
        """Choose the shapes of chunks and shards, one of which has a layout; for zarr-core.

        Parameters
        ----------
        shape : tuple of int
            Shape of the array.
        item_size : int
            Bytes per element.
        chunks, shards : ChunkLayout, or as for :func:`zarr_core.create_array`
            The arguments.

        Returns
        -------
        chunks : tuple of int
        shards : tuple of int, or None

        Raises
        ------
        ValueError
            If the layouts are invalid for this shape, or contradict each other.
        """
        inner = _Grid(chunks, shape, "chunks")
        if shards is None or shards is False:
            return _chosen(inner, inner.lengths, shape, CHUNK_BYTES // item_size, _any_length), None
        outer = _Grid(shards, shape, "shards")
        fixed = list(outer.lengths)
        for dimension, (length, step) in enumerate(zip(fixed, inner.lengths, strict=True)):
            if length != AUTO and step != AUTO and not inner.soft:
                if outer.soft:
                    fixed[dimension] = step * max(1, -((step - 2 * length) // (2 * step)))
                elif length % step:
                    raise ValueError(
                        f"shards {outer.lengths} are not multiples of chunks {inner.lengths} in every "
                        "dimension; a shard contains whole chunks.  With soft=True, a ChunkLayout is "
                        "rounded"
                    )
        lengths = list(inner.lengths)
        if inner.soft:
            for dimension, (length, whole) in enumerate(zip(lengths, fixed, strict=True)):
                if AUTO not in (length, whole):
                    lengths[dimension] = _nearest_divisor(whole, length)
        rules = [_any_length if whole == AUTO else _divisor_of(whole) for whole in fixed]
        chunk = _chosen(inner, lengths, shape, CHUNK_BYTES // item_size, *rules)
        covering = [
            -(-max(1, size) // length) * length for size, length in zip(shape, chunk, strict=True)
        ]
        shard = _chosen(outer, fixed, covering, SHARD_BYTES // item_size, *map(_multiple_of, chunk))
        return chunk, None if shard == chunk else shard


class _Grid:
    """An argument for chunks or shards, with the lengths that it determines."""

    def __init__(self, value: Any, shape: tuple[int, ...], argument: str) -> None:
        layout = value if isinstance(value, ChunkLayout) else ChunkLayout(shape=value)
        self.lengths = parse_lengths(layout.shape, shape, argument)
        if any(isinstance(item, tuple) for item in self.lengths):
            raise ValueError(
                f"{argument}={layout.shape!r}: different lengths along a dimension cannot be "
                "combined with a ChunkLayout"
            )
        self.soft = layout.soft
        self.elements = layout.elements
        ratios = layout.aspect_ratio
        if ratios is not None and len(ratios) != len(shape):
            raise ValueError(
                f"{argument}: aspect_ratio={ratios} has {len(ratios)} numbers for {len(shape)} "
                f"dimensions (shape {shape})"
            )
        self.aspect_ratio = (1.0,) * len(shape) if ratios is None else ratios


def _chosen(
    grid: _Grid,
    lengths: Sequence[Any],
    limits: Sequence[int],
    default_elements: int,
    *rules: Callable[[int], int],
) -> Lengths:
    """Choose the lengths that are AUTO.

    Parameters
    ----------
    grid : _Grid
        Number of elements and ratio.
    lengths : sequence
        Lengths, or AUTO.
    limits : sequence of int
        The largest lengths.
    default_elements : int
        Number of elements if the grid has none.
    *rules : callable
        For each dimension, or for all, the largest permitted length up to a length.
    """
    if len(rules) == 1:
        rules *= len(lengths)
    elements = max(1, default_elements) if grid.elements is None else grid.elements

    def scaled(factor: float) -> Lengths:
        return tuple(
            # The margin is for rounding errors of the factor.
            rule(max(1, min(limit, int(ratio * factor * (1 + 1e-9))))) if length == AUTO else length
            for length, limit, ratio, rule in zip(
                lengths, limits, grid.aspect_ratio, rules, strict=True
            )
        )

    low, high = (
        0.0,
        1.0
        + max(
            (limit / ratio for limit, ratio in zip(limits, grid.aspect_ratio, strict=True)),
            default=0,
        ),
    )
    if prod(scaled(high)) <= elements:
        return scaled(high)
    for _ in range(100):  # more than the bits of a float, so that the result is exact
        middle = (low + high) / 2
        if prod(scaled(middle)) <= elements:
            low = middle
        else:
            high = middle
    return scaled(low)


def _any_length(length: int) -> int:
    return length


def _multiple_of(step: int) -> Callable[[int], int]:
    return lambda length: max(1, length // step) * step


def _divisor_of(whole: int) -> Callable[[int], int]:
    return lambda length: divisor_below(whole, length + 1)


def _nearest_divisor(whole: int, length: int) -> int:
    """The divisor of a length that is nearest to another; the smaller of two."""
    below = divisor_below(whole, length + 1)
    if below == length or length >= whole:
        return below
    # The smallest larger divisor is the counterpart of the largest smaller one.
    above = whole // divisor_below(whole, -(-whole // length))
    return below if length - below <= above - length else above
