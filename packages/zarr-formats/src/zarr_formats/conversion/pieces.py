"""From one layout to a very different one by way of pieces that are parts of both.

From planes to columns, a chunk of the source reaches into more boxes than memory holds, and
would be decoded for each.  So boxes of whole chunks of the source are cut into pieces, which
are stored beside the result; then boxes of the result are put together of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from zarr_core import MemoryStore, array_from_metadata, create_array
from zarr_core.extension import ZarrError

from zarr_formats.conversion.memory import axes, budget, intervals, often
from zarr_formats.conversion.regions import Intervals
from zarr_formats.conversion.resuming import NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core import Array

    from zarr_formats.conversion.steps import Memory, Side

MANY = 4.0
"""Times that a chunk of the source would be decoded for pieces to pay."""

_SMALLEST = 1 << 15  # bytes of a piece; smaller ones take longer to be stored than to be decoded
_CODECS = (
    {
        "name": "blosc",
        "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0},
    },
    "auto",
    None,
)  # of which the first that is installed is taken


@dataclass(frozen=True, slots=True)
class Pieces:
    """How an array is cut.

    Parameters
    ----------
    boxes : tuple of Intervals
        In which the source is read.
    shape : tuple of int
        Shape of a piece; boxes consist of whole ones.
    """

    boxes: tuple[Intervals, ...]
    shape: tuple[int, ...]

    def array(self, old: Array, dest: Side, path: str) -> Array:
        """The array of the pieces, beside the chunks of the result; nothing is stored yet."""
        for compressors in _CODECS:
            try:
                made = create_array(
                    MemoryStore(), shape=old.shape, dtype=old.dtype, chunks=self.shape,
                    fill_value=old.fill_value, compressors=compressors,
                )  # fmt: skip
                break
            except ZarrError:
                continue
        return array_from_metadata(dest.store, made.metadata, path=place(dest, path), zarr_format=3)


def place(dest: Side, path: str) -> str:
    """Where the pieces of an array are stored, as a path of version 3."""
    return f"{dest.format_.chunk_prefix(dest.at(path))}{NAME}-pieces"


def pieces(old: Array, new: Array, dest: Side, memory: Memory) -> Pieces | None:
    """Cut an array into pieces, if that is better than to decode chunks many times.

    Parameters
    ----------
    old, new : Array
        What is read, what is written.
    dest : Side
        Where pieces would be stored.
    memory : Memory
        What may be held.

    Returns
    -------
    Pieces or None
        None where chunks are decoded few times; where the store cannot remove pieces again;
        where they would be too small, or chunks or elements differ in length.
    """
    writing = intervals(old, new, memory)
    uniform = [axis.uniform for axis in axes(old.metadata)]
    if old.dtype.kind not in "biufcmMSV" or None in uniform or often(old, writing) < MANY:
        return None
    if not (dest.store.supports_erasing and dest.store.supports_listing):
        return None
    wanted = [min(axis.length, axis.size) for axis in writing]
    reading = _grown(old, wanted, budget(old, new, memory) // old.itemsize)
    shape = tuple(
        wanted_length if read >= size else _divisor(read, wanted_length)
        for read, wanted_length, size in zip(reading, wanted, old.shape, strict=True)
    )
    if prod(shape) * old.itemsize < _SMALLEST:
        return None
    boxes = tuple(Intervals(size, read) for size, read in zip(old.shape, reading, strict=True))
    return Pieces(boxes, shape)


def _grown(old: Array, wanted: Sequence[int], most: int) -> list[int]:
    """Lengths of boxes of whole chunks, as long as is wanted as far as memory allows."""
    lengths = list(old.chunks)
    while True:
        short = [
            (wanted[d] / lengths[d], d)
            for d in range(old.ndim)
            if lengths[d] < wanted[d] and prod(lengths) * 2 <= most
        ]
        if not short:
            return lengths
        _, dimension = max(short)
        lengths[dimension] *= 2


def _divisor(length: int, most: int) -> int:
    """The largest divisor of a length that is not above another one."""
    return next(number for number in range(min(length, most), 0, -1) if length % number == 0)
