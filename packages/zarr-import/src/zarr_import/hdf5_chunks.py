"""Encoded chunks of HDF5 datasets."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zarr_import.hdf5_contents import LazyDataset
    from zarr_import.variable import ListedChunks


class EncodedChunks:
    """The encoded chunks of a dataset; ``inner_shape`` is that of an element that is an array.

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

    def read(self, chunk: tuple[int, ...]) -> bytes:
        """Read the bytes of one chunk, as the filters encoded them."""
        corner = tuple(
            number * length for number, length in zip(chunk, self._lengths, strict=False)
        )
        return self._source.read_chunk(corner)

    def listed(self) -> ListedChunks:
        """Return the chunks that can be copied, and those that have to be decoded."""
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
        return plain, others
