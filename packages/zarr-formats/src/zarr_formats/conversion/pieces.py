"""The array of pieces that lies beside the result while chunks of very different shapes are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core import MemoryStore, array_from_metadata, create_array
from zarr_core.extension import ZarrError, beside

if TYPE_CHECKING:
    from zarr_core import Array

_CODECS = (
    {
        "name": "blosc",
        "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0},
    },
    "auto",
    None,
)  # of which the first that is installed is taken


def array_of_pieces(old: Array, new: Array, shape: tuple[int, ...]) -> Array:
    """The array; nothing is stored yet, nor will its document be.

    Parameters
    ----------
    old, new : Array
        What is read, what is written.
    shape : tuple of int
        Shape of a piece.
    """
    for compressors in _CODECS:
        try:
            made = create_array(
                MemoryStore(), shape=old.shape, dtype=old.dtype, chunks=shape,
                fill_value=old.fill_value, compressors=compressors,
            )  # fmt: skip
            break
        except ZarrError:
            continue
    return array_from_metadata(new.store, made.metadata, path=beside(new, "-pieces"))
