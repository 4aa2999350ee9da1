"""The engine ``zarr_core`` of xarray."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from xarray.backends import BackendEntrypoint, refresh_engines
from zarr_core import Group, Store

from zarr_xarray import _xarray
from zarr_xarray.reading import GroupStore, open_for_reading, subgroups

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from xarray import Dataset, DataTree

_MARKS = ("zarr.json", ".zgroup", ".zmetadata")


class ZarrCoreBackend(BackendEntrypoint):
    """Datasets and trees from Zarr hierarchies of every format that is installed.

    Used by name: ``xr.open_dataset(store, engine="zarr_core")``.
    """

    description = "Open Zarr hierarchies (.zarr) with zarr-core"
    url = "https://github.com/zarr-developers/zarr-specs"
    supports_groups = True

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

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: bool | None = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        mode: str = "r",
        consolidated: bool | None = None,
        storage_options: Mapping[str, Any] | None = None,
        zarr_format: int | str | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
    ) -> Dataset:
        """Open one group; what :func:`xarray.open_dataset` calls.

        Parameters
        ----------
        filename_or_obj : store-like
            A path, a URL, a store, a mapping, a group: what :func:`zarr_core.open` takes.
        mask_and_scale, decode_times, concat_characters, decode_coords, drop_variables, \
use_cftime, decode_timedelta
            How variables are decoded, as xarray has it for all engines.
        group : str, optional
            Path of the group.
        mode : str
            Ignored: it is opened for reading.  xarray's engine has it.
        consolidated : bool, optional
            Whether to use consolidated metadata; by default if there are some.
        storage_options : mapping, optional
            Further arguments for the store that a URL names.
        zarr_format : int or str, optional
            Accept this format only.
        use_zarr_fill_value_as_mask : bool, optional
            Whether fill values of arrays mark missing elements; by default in version 2.

        Raises
        ------
        FileNotFoundError
            If there is no group.
        KeyError
            If nothing names the dimensions of an array.
        """
        decoding = {
            "mask_and_scale": mask_and_scale,
            "decode_times": decode_times,
            "concat_characters": concat_characters,
            "decode_coords": decode_coords,
            "drop_variables": drop_variables,
            "use_cftime": use_cftime,
            "decode_timedelta": decode_timedelta,
        }
        opened, closes = open_for_reading(
            filename_or_obj, group, consolidated=consolidated, storage_options=storage_options,
            zarr_format=zarr_format,
        )  # fmt: skip
        store = GroupStore(opened, use_zarr_fill_value_as_mask, closes, _names(drop_variables))
        return _dataset(store, decoding)

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: bool | None = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        mode: str = "r",
        consolidated: bool | None = None,
        storage_options: Mapping[str, Any] | None = None,
        zarr_format: int | str | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
    ) -> dict[str, Dataset]:
        """Open a group, with all groups below it; arguments as for one.

        Returns
        -------
        dict
            Datasets by path: absolute, or relative to ``group`` if it is given.
        """
        decoding = {
            "mask_and_scale": mask_and_scale,
            "decode_times": decode_times,
            "concat_characters": concat_characters,
            "decode_coords": decode_coords,
            "drop_variables": drop_variables,
            "use_cftime": use_cftime,
            "decode_timedelta": decode_timedelta,
        }
        opened, closes = open_for_reading(
            filename_or_obj, group, consolidated=consolidated, storage_options=storage_options,
            zarr_format=zarr_format,
        )  # fmt: skip
        datasets: dict[str, Dataset] = {}
        for path, found in subgroups(opened):
            name = (path or ".") if group else f"/{path}"
            store = GroupStore(found, use_zarr_fill_value_as_mask, closes, _names(drop_variables))
            datasets[name] = _dataset(store, decoding)
        return datasets

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> DataTree:
        """Open a hierarchy; arguments as for :meth:`open_groups_as_dict`."""
        return _xarray.tree_from(self.open_groups_as_dict(filename_or_obj, **options))


def _names(dropped: str | Iterable[str] | None) -> frozenset[str]:
    return frozenset((dropped,) if isinstance(dropped, str) else dropped or ())


def _dataset(store: GroupStore, decoding: dict[str, Any]) -> Dataset:
    entry: Any = _xarray.StoreBackendEntrypoint()
    try:
        dataset: Dataset = entry.open_dataset(store, **decoding)
    except BaseException:
        store.close()
        raise
    return dataset


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
