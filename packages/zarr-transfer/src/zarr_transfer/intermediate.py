"""The intermediate array between chunks that do not nest, such as rows and columns."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from zarr_core import array_from_metadata
from zarr_core.extension import ZarrError

from zarr_transfer.checkpoint import sidecar_key

if TYPE_CHECKING:
    from zarr_core import Array
    from zarr_core.extension import Store

_NAME = "-pieces"
_CODECS = (
    {
        "name": "blosc",
        "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0},
    },
    "auto",
    None,
)  # the first that is installed is used


def intermediate_path(new: Array) -> str:
    """Return the path of the intermediate array, next to the chunks of the destination."""
    return sidecar_key(new, _NAME)


def intermediate_array(
    old: Array,
    new: Array,
    shape: tuple[int, ...],
    store: Store | None = None,
    path: str | None = None,
) -> Array:
    """Create the intermediate array; its metadata document is not stored.

    Parameters
    ----------
    old, new : Array
        The source and the destination.
    shape : tuple of int
        Shape of its chunks.
    store : Store, optional
        Its store; by default that of ``new``.
    path : str, optional
        Its path; by default next to the chunks of ``new``.
    """
    store = new.store if store is None else store
    path = intermediate_path(new) if path is None else path
    for compressors in _CODECS:
        with suppress(ZarrError):
            return array_from_metadata(
                store, path=path, shape=old.shape, dtype=old.dtype, chunks=shape,
                fill_value=old.fill_value, compressors=compressors,
            )  # fmt: skip
    raise AssertionError("arrays without compressors need no extension")
