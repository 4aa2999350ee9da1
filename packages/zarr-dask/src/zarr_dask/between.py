"""The intermediate array of chunks that are rechunked in two stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarr_core import empty_like, locate, open_array, rmdir
from zarr_core.extension import (
    NodeNotFoundError,
    StoreError,
    format_named,
    make_extension,
    normalise_path,
)

from zarr_dask import _dask

if TYPE_CHECKING:
    from zarr_core import Array

    from zarr_dask.stages import Coordinates

_NAME = "rechunking"
_MARK = "zarr_dask"


@dataclass(frozen=True, slots=True)
class Between:
    """An array that is there while another is rechunked.

    Parameters
    ----------
    array : Array
        The array.  Its attributes say which copy it belongs to.
    """

    array: Array

    @classmethod
    def of(cls, source: Array, dest: Array, chunks: tuple[int, ...], work: Any) -> Between:
        """Find the one that an interrupted copy has left, or make a new one.

        Parameters
        ----------
        source, dest : Array
            What is rechunked, what becomes of it.
        chunks : tuple of int
            Shape of the chunks of the array.
        work : store-like, optional
            Where it is kept; by default beside the destination.

        Raises
        ------
        StoreError
            If it cannot be told where to keep it.
        """
        if work is None:
            if not dest.path:
                raise StoreError(
                    "the array is the root of its store, so that there is no place beside it "
                    "for the intermediate array: say where, by work=, or allow more memory",
                    store=dest.store,
                )
            store, path = dest.store, f"{dest.path}.{_NAME}"
        else:
            store, path = locate(work)
            path = normalise_path(f"{path}/{dest.path or _NAME}.{_NAME}")
        token = _dask.tokenize(source, dest, chunks)
        try:
            found = open_array(store, "r+", path=path)
        except NodeNotFoundError:
            pass
        else:
            if found.attrs.get(_MARK) == token:
                return cls(found)
        made = empty_like(
            source, store=store, name=path, chunks=chunks, shards=None, zarr_format=3,
            compressors="auto", chunk_key_encoding="default", dimension_names=None,
            attributes={_MARK: token}, overwrite=True,
        )  # fmt: skip
        return cls(made)

    def there(self) -> frozenset[Coordinates]:
        """Grid coordinates of the chunks that are stored."""
        array = self.array
        encoding: Any = make_extension("chunk_key_encoding", array.metadata.chunk_key_encoding)
        prefix = format_named(3).chunk_prefix(array.path)
        below = (key[len(prefix) :] for key in array.store.list_prefix(prefix))
        found = (encoding.decode(key, array.ndim) for key in below)
        return frozenset(at for at in found if at is not None)

    @property
    def is_complete(self) -> bool:
        """Whether all of it was written."""
        return bool(self.array.attrs.get("complete"))

    def complete(self) -> None:
        """Note that all of it is written."""
        self.array.attrs["complete"] = True

    def remove(self) -> None:
        """Remove the array, once it was read."""
        rmdir(self.array.store, self.array.path)
