"""Chunks along one dimension, of one length or of several."""

from zarr_core.chunk_grids import RegularGrid
from zarr_grids.rectilinear import RectilinearGrid, Runs


def even(size, length):
    """Chunks of one length; the last one may extend beyond the array."""
    return RegularGrid((length,)).axes((size,))[0]


def uneven(size, lengths):
    """Chunks of the given lengths; the last one may extend beyond the array."""
    return RectilinearGrid((Runs(tuple(lengths), (1,) * len(lengths)),)).axes((size,))[0]
