"""Chunks of an HDF5 dataset, as they are stored."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class EncodedChunks:
    """The stored chunks of a dataset.

    Parameters
    ----------
    dataset : callable
        Gives the dataset, which is not kept open.
    within : tuple of int
        Shape of an element that is an array.

    Notes
    -----
    A filter may have been left out of a single chunk, as its result was longer; what of it
    the library has noted is told here, and such chunks are decoded.  So are chunks at the
    edge that are as long as without any filter, which nothing is noted of.
    """

    def __init__(self, dataset: Callable[[], Any], within: tuple[int, ...]) -> None:
        self._dataset = dataset
        self._within = len(within)
        opened = dataset()
        if opened.file.mode != "r":
            opened.flush()  # what h5py still has to write
        self._lengths: tuple[int, ...] = opened.chunks
        self._shape: tuple[int, ...] = opened.shape
        self._full = prod(opened.chunks) * opened.id.get_type().get_size()
        self._counts = [
            -(-size // length) for size, length in zip(self._shape, self._lengths, strict=True)
        ]
        self.complete: bool = opened.id.get_num_chunks() == prod(self._counts)
        self._listed: tuple[list[tuple[int, ...]], list[tuple[int, ...]]] | None = None

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return iter(self._both()[0])

    def others(self) -> list[tuple[int, ...]]:
        """Those that have to be decoded."""
        return self._both()[1]

    def read(self, chunk: tuple[int, ...]) -> bytes:
        """The bytes of one, as the filters made them."""
        corner = tuple(
            number * length for number, length in zip(chunk, self._lengths, strict=False)
        )
        _, data = self._dataset().id.read_direct_chunk(corner)
        return bytes(data)

    def _both(self) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        if self._listed is None:
            plain: list[tuple[int, ...]] = []
            others: list[tuple[int, ...]] = []

            def sort(info: Any) -> None:
                corner = info.chunk_offset
                chunk = tuple(
                    start // length for start, length in zip(corner, self._lengths, strict=True)
                )
                unclear = info.size == self._full and any(
                    start + length > size
                    for start, length, size in zip(corner, self._lengths, self._shape, strict=True)
                )
                if all(number < count for number, count in zip(chunk, self._counts, strict=True)):
                    (others if info.filter_mask or unclear else plain).append(
                        chunk + (0,) * self._within
                    )

            self._dataset().id.chunk_iter(sort)
            self._listed = plain, others
        return self._listed
