"""Read data while others append to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import xarray
from zarr_core import open_group, resolve_store_path
from zarr_core.names import normalise_path

from zarr_xarray.backend import ZarrCoreBackend
from zarr_xarray.consolidated_metadata import consolidated_key
from zarr_xarray.group_store import is_opened_here

if TYPE_CHECKING:
    from typing import Self

    from xarray import Dataset


class LiveReader:
    """The dataset of a group that others append to.

    Parameters
    ----------
    store : store-like
        Path, URL or store, as for :func:`zarr_core.open`.
    group : str, optional
        Path of the group below the store.
    storage_options : mapping, optional
        Options for the store if it is a URL.
    **options
        As for :func:`xarray.open_dataset`, such as ``chunks``.

    Raises
    ------
    NodeNotFoundError
        If the group does not exist.

    Notes
    -----
    All lengths come from one value, the consolidated metadata of the group.  So all variables of
    a dataset have the same steps, and all of their elements are stored.  A dataset does not
    change: it keeps the length with which it was opened.

    Examples
    --------
    >>> import xarray as xr
    >>> from zarr_xarray import LiveReader, append
    >>> step = xr.Dataset({"a": 1.5}, coords={"t": 0})
    >>> _ = append(step, "live.zarr", "t")
    >>> with LiveReader("live.zarr") as reader:
    ...     before = reader.dataset.sizes["t"]
    ...     _ = append(step.assign_coords(t=1), "live.zarr", "t")
    ...     before, reader.refresh().sizes["t"]
    (1, 2)
    """

    def __init__(self, store: Any, group: str | None = None, **options: Any) -> None:
        storage_options = options.pop("storage_options", None)
        self._closes = is_opened_here(store)
        store, root = resolve_store_path(store, read_only=True, storage_options=storage_options)
        self._store = store
        self._path = "/".join(part for part in (root, normalise_path(group or "")) if part)
        self._options = options
        self._generation: str | None = None
        self._dataset: Dataset | None = None
        try:
            format_ = open_group(self._store, "r", path=self._path).stored.format
            self._key = consolidated_key(format_, self._path)
            self.refresh()
        except BaseException:
            self.close()
            raise

    @property
    def dataset(self) -> Dataset:
        """The dataset, as it was opened last."""
        assert self._dataset is not None, "opened when the reader was created"
        return self._dataset

    def refresh(self) -> Dataset:
        """Return the dataset with the current lengths; the same object if nothing was appended.

        This takes one request if nothing has changed.  The elements of earlier datasets can still
        be read.
        """
        generation = self._store.generation(self._key)  # before the lengths are read
        if generation is None or generation != self._generation:
            # Any: xarray's types are those of its own engines.
            readable: Any = open_group(self._store, "r", path=self._path)
            self._dataset = xarray.open_dataset(readable, engine=ZarrCoreBackend, **self._options)
            self._generation = generation
        return self.dataset

    def close(self) -> None:
        """Close the store if this object opened it; then elements can no longer be read."""
        if self._closes:
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
