"""The engine ``zarr_core`` of xarray."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from xarray.backends import BackendEntrypoint, refresh_engines
from zarr_core import Group, Store

from zarr_xarray import _xarray
from zarr_xarray.open_options import PARAMETERS, OpenOptions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xarray import Dataset, DataTree

# xr.open_zarr before xarray 2026.9 passes these as None if the user did not pass them.
_IGNORED_IF_NONE = ("chunk_store", "synchronizer", "zarr_version")
_METADATA_KEYS = ("zarr.json", ".zgroup", ".zmetadata")


class ZarrCoreBackend(BackendEntrypoint):
    """Backend of xarray for Zarr hierarchies of every installed format.

    xarray uses it by name: ``xr.open_dataset(store, engine="zarr_core")``.
    """

    description = "Open Zarr hierarchies (.zarr) with zarr-core"
    url = "https://github.com/zarr-developers/zarr-specs"
    supports_groups = True
    open_dataset_parameters = PARAMETERS

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether the suffix, the metadata documents or the type identify Zarr."""
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
            os.path.isfile(os.path.join(path, mark)) for mark in _METADATA_KEYS
        )

    def open_dataset(self, filename_or_obj: Any, **options: Any) -> Dataset:
        """Open one group, for :func:`xarray.open_dataset`.

        Parameters
        ----------
        filename_or_obj : store-like
            A path, URL, store, mapping or group, as for :func:`zarr_core.open`.
        **options
            See :class:`zarr_xarray.open_options.OpenOptions`.

        Raises
        ------
        FileNotFoundError
            If the group does not exist.
        KeyError
            If an array has no dimension names.
        """
        return _parse_options(options).dataset(filename_or_obj)

    def open_groups_as_dict(self, filename_or_obj: Any, **options: Any) -> dict[str, Dataset]:
        """Open a group and all groups below it.

        Parameters are those of :meth:`open_dataset`.

        Returns
        -------
        dict
            Datasets by path: absolute, or relative to ``group`` if it is passed.
        """
        return _parse_options(options).datasets(filename_or_obj)

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> DataTree:
        """Open a hierarchy as a tree; parameters are those of :meth:`open_dataset`."""
        return _xarray.tree_from(self.open_groups_as_dict(filename_or_obj, **options))


def _parse_options(options: dict[str, Any]) -> OpenOptions:
    given = {
        name: value
        for name, value in options.items()
        if value is not None or name not in _IGNORED_IF_NONE
    }
    if unknown := sorted(given.keys() - set(PARAMETERS)):
        raise TypeError(
            f"unknown argument {', '.join(unknown)} for the engine zarr_core; "
            f"expected {', '.join(PARAMETERS[1:])}"
        )
    return OpenOptions(**given)


@contextmanager
def use_for_zarr_engine() -> Iterator[None]:
    """Use zarr-core for ``xr.open_zarr`` and ``engine="zarr"`` within a block.

    zarr-python is neither needed nor imported.  Writing is not redirected, since xarray does not
    support this.

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
