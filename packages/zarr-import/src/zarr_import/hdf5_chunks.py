"""Encoded chunks of HDF5 datasets."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_import.hdf5_contents import LazyDataset


class EncodedChunks:
    """The encoded chunks of a dataset.

    Parameters
    ----------
    source : LazyDataset
        The dataset, which is not kept open.
    inner_shape : tuple of int
        Shape of an element that is an array.

    Notes
    -----
    HDF5 skips a filter for a chunk if its result is longer.  Such chunks, marked by the filter
    mask, are decoded.  So are chunks at the edge with the length of unfiltered ones, for which
    the mask does not tell.
    """

    def __init__(self, source: LazyDataset, inner_shape: tuple[int, ...]) -> None:
        self._source = source
        self._within = len(inner_shape)
        opened = source.dataset()
        if opened.file.mode != "r":
            opened.flush()  # unwritten data of h5py
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

    def chunks_to_decode(self) -> list[tuple[int, ...]]:
        """Return the chunk coordinates of the chunks that have to be decoded."""
        return self._both()[1]

    def read(self, chunk: tuple[int, ...]) -> bytes:
        """Read the bytes of one chunk, as the filters encoded them."""
        corner = tuple(
            number * length for number, length in zip(chunk, self._lengths, strict=False)
        )
        return self._source.read_chunk(corner)

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

            self._source.each_chunk(sort)
            self._listed = plain, others
        return self._listed
