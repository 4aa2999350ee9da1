"""Options of the backend for opening datasets."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from zarr_xarray import _xarray
from zarr_xarray.group_store import GroupStore, open_readable_group, subgroups

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from xarray import Dataset
    from zarr_core import Group

_DECODE_OPTIONS = (
    "mask_and_scale",
    "decode_times",
    "concat_characters",
    "decode_coords",
    "drop_variables",
    "use_cftime",
    "decode_timedelta",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenOptions:
    """Arguments of :func:`xarray.open_dataset` for the engine ``zarr_core``.

    Parameters
    ----------
    mask_and_scale, decode_times, concat_characters, decode_coords, drop_variables, \
use_cftime, decode_timedelta
        How variables are decoded, as for all engines of xarray.
    group : str, optional
        Path of the group.
    mode : str
        Ignored: groups are opened for reading.  It exists because xarray's engine has it.
    consolidated : bool, optional
        Whether to use consolidated metadata; by default if it exists.
    storage_options : mapping, optional
        Options for the store if it is a URL.
    zarr_format : int or str, optional
        Accept only this format.
    use_zarr_fill_value_as_mask : bool, optional
        Whether fill values of arrays mark missing elements; by default only in version 2.
    """

    mask_and_scale: Any = True
    decode_times: Any = True
    concat_characters: Any = True
    decode_coords: Any = True
    drop_variables: str | Iterable[str] | None = None
    use_cftime: bool | None = None
    decode_timedelta: Any = None
    group: str | None = None
    mode: str = "r"
    consolidated: bool | None = None
    storage_options: Mapping[str, Any] | None = None
    zarr_format: int | str | None = None
    use_zarr_fill_value_as_mask: bool | None = None

    def dataset(self, store_like: Any) -> Dataset:
        """Return the dataset of one group."""
        group, closes = self._open(store_like)
        return self._dataset_of(group, closes)

    def datasets(self, store_like: Any) -> dict[str, Dataset]:
        """Return the datasets of a group and of all groups below it, by path.

        Paths are relative if ``group`` is set.
        """
        group, closes = self._open(store_like)
        return {
            (path or ".") if self.group else f"/{path}": self._dataset_of(member, closes)
            for path, member in subgroups(group)
        }

    def _open(self, store_like: Any) -> tuple[Group, bool]:
        return open_readable_group(
            store_like, self.group, consolidated=self.consolidated,
            storage_options=self.storage_options, zarr_format=self.zarr_format,
        )  # fmt: skip

    def _dataset_of(self, group: Group, closes: bool) -> Dataset:
        dropped = self.drop_variables or ()
        names = frozenset((dropped,) if isinstance(dropped, str) else dropped)
        store = GroupStore(group, self.use_zarr_fill_value_as_mask, closes, names)
        entry: Any = _xarray.StoreBackendEntrypoint()
        try:
            dataset: Dataset = entry.open_dataset(
                store, **{name: getattr(self, name) for name in _DECODE_OPTIONS}
            )
        except BaseException:
            store.close()
            raise
        return dataset


PARAMETERS = ("filename_or_obj", *(field.name for field in fields(OpenOptions)))
"""The names of all arguments, for xarray."""
