"""The engine ``zarr_core`` of xarray."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from xarray.backends import BackendEntrypoint
from zarr_core import Group, Store

from zarr_xarray import _xarray
from zarr_xarray.group_store import GroupStore, open_readable_group, subgroups

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from xarray import Dataset, DataTree

_METADATA_KEYS = ("zarr.json", ".zgroup", ".zmetadata")
_DECODE_OPTIONS = (
    "mask_and_scale",
    "decode_times",
    "concat_characters",
    "decode_coords",
    "drop_variables",
    "use_cftime",
    "decode_timedelta",
)
_OPEN_OPTIONS = (
    "group",
    "mode",
    "consolidated",
    "storage_options",
    "zarr_format",
    "use_zarr_fill_value_as_mask",
)


class ZarrCoreBackend(BackendEntrypoint):
    """Backend of xarray for Zarr hierarchies of every installed format.

    xarray uses it by name: ``xr.open_dataset(store, engine="zarr_core")``.
    """

    description = "Open Zarr hierarchies (.zarr) with zarr-core"
    url = "https://github.com/zarr-developers/zarr-specs"
    supports_groups = True
    open_dataset_parameters = ("filename_or_obj", *_DECODE_OPTIONS, *_OPEN_OPTIONS)

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
            ``mask_and_scale``, ``decode_times``, ``concat_characters``, ``decode_coords``,
            ``drop_variables``, ``use_cftime`` and ``decode_timedelta`` as for all engines of
            xarray; ``group``, the path of the group; ``consolidated``, whether to use consolidated
            metadata, by default if it exists; ``storage_options`` for the store if it is a URL;
            ``zarr_format``, to accept only this format; ``use_zarr_fill_value_as_mask``, whether
            fill values of arrays mark missing elements, by default only in version 2.  ``mode`` is
            ignored: groups are opened for reading.

        Raises
        ------
        FileNotFoundError
            If the group does not exist.
        KeyError
            If an array has no dimension names.
        """
        group, dataset_of = _open(filename_or_obj, options)
        return dataset_of(group)

    def open_groups_as_dict(self, filename_or_obj: Any, **options: Any) -> dict[str, Dataset]:
        """Open a group and all groups below it.

        Parameters are those of :meth:`open_dataset`.

        Returns
        -------
        dict
            Datasets by path: absolute, or relative to ``group`` if it is passed.
        """
        group, dataset_of = _open(filename_or_obj, options)
        return {
            (path or ".") if options.get("group") else f"/{path}": dataset_of(member)
            for path, member in subgroups(group)
        }

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> DataTree:
        """Open a hierarchy as a tree; parameters are those of :meth:`open_dataset`."""
        return _xarray.tree_from(self.open_groups_as_dict(filename_or_obj, **options))


def _open(store_like: Any, options: Mapping[str, Any]) -> tuple[Group, Callable[[Group], Dataset]]:
    """Open a group; also return the function that reads it, and groups below it, as datasets."""
    arguments = dict(options)
    known = ZarrCoreBackend.open_dataset_parameters
    if unknown := sorted(arguments.keys() - set(known)):
        raise TypeError(
            f"unknown argument {', '.join(unknown)} for the engine zarr_core; "
            f"expected {', '.join(known[1:])}"
        )
    decoding = {name: arguments.pop(name) for name in _DECODE_OPTIONS if name in arguments}
    mask = arguments.pop("use_zarr_fill_value_as_mask", None)
    arguments.pop("mode", None)
    group, closes = open_readable_group(store_like, arguments.pop("group", None), **arguments)
    dropped = decoding.get("drop_variables") or ()
    names = frozenset((dropped,) if isinstance(dropped, str) else dropped)

    def dataset_of(group: Group) -> Dataset:
        store = GroupStore(group, mask, closes, names)
        entry: Any = _xarray.StoreBackendEntrypoint()
        try:
            dataset: Dataset = entry.open_dataset(store, **decoding)
        except BaseException:
            store.close()
            raise
        return dataset

    return group, dataset_of
