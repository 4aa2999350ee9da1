"""The engine ``zarr_core`` of xarray."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from xarray.backends import BackendEntrypoint, refresh_engines
from zarr_core import Group, Store

from zarr_xarray import _xarray
from zarr_xarray.opening import PARAMETERS, Opening

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xarray import Dataset, DataTree

# What xr.open_zarr hands on before xarray 2026.9, though it was not given.
_OF_OLDER_XARRAY = ("chunk_store", "synchronizer", "zarr_version")
_MARKS = ("zarr.json", ".zgroup", ".zmetadata")


class ZarrCoreBackend(BackendEntrypoint):
    """Datasets and trees from Zarr hierarchies of every format that is installed.

    Used by name: ``xr.open_dataset(store, engine="zarr_core")``.
    """

    description = "Open Zarr hierarchies (.zarr) with zarr-core"
    url = "https://github.com/zarr-developers/zarr-specs"
    supports_groups = True
    open_dataset_parameters = PARAMETERS

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether something is plainly Zarr: by its suffix, its documents, or its type."""
        if isinstance(filename_or_obj, Store | Group):
            return True
        if not isinstance(filename_or_obj, str | os.PathLike):
            return False
        path = os.fspath(filename_or_obj).rstrip("/")
        if not isinstance(path, str):
            return False
        if path.endswith((".zarr", ".zarr.zip")):
            return True
        return "://" not in path and any(
            os.path.isfile(os.path.join(path, mark)) for mark in _MARKS
        )

    def open_dataset(self, filename_or_obj: Any, **options: Any) -> Dataset:
        """Open one group; what :func:`xarray.open_dataset` calls.

        Parameters
        ----------
        filename_or_obj : store-like
            A path, a URL, a store, a mapping, a group: what :func:`zarr_core.open` takes.
        **options
            See :class:`zarr_xarray.opening.Opening`.

        Raises
        ------
        FileNotFoundError
            If there is no group.
        KeyError
            If nothing names the dimensions of an array.
        """
        return _opening(options).dataset(filename_or_obj)

    def open_groups_as_dict(self, filename_or_obj: Any, **options: Any) -> dict[str, Dataset]:
        """Open a group, with all groups below it; arguments as for one.

        Returns
        -------
        dict
            Datasets by path: absolute, or relative to ``group`` if it is given.
        """
        return _opening(options).datasets(filename_or_obj)

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> DataTree:
        """Open a hierarchy; arguments as for :meth:`open_groups_as_dict`."""
        return _xarray.tree_from(self.open_groups_as_dict(filename_or_obj, **options))


def _opening(options: dict[str, Any]) -> Opening:
    given = {
        name: value
        for name, value in options.items()
        if value is not None or name not in _OF_OLDER_XARRAY
    }
    if unknown := sorted(given.keys() - set(PARAMETERS)):
        raise TypeError(
            f"the engine zarr_core has no argument called {', '.join(unknown)}; "
            f"there are {', '.join(PARAMETERS[1:])}"
        )
    return Opening(**given)


@contextmanager
def use_for_zarr_engine() -> Iterator[None]:
    """Read by ``xr.open_zarr`` and ``engine="zarr"`` through zarr-core, within a block.

    zarr-python is not needed then, nor imported.  Writing is not redirected: xarray has no
    way to do so.

    Examples
    --------
    >>> import xarray as xr, zarr_xarray
    >>> with zarr_xarray.use_for_zarr_engine():
    ...     "zarr" in xr.backends.list_engines()
    True
    """
    before = _xarray.ENGINES.get("zarr")
    _xarray.ENGINES["zarr"] = (None, ZarrCoreBackend)
    refresh_engines()
    try:
        yield
    finally:
        if before is None:
            del _xarray.ENGINES["zarr"]
        else:
            _xarray.ENGINES["zarr"] = before
        refresh_engines()
