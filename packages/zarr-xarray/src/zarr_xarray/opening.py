"""What may be said when datasets are opened, with what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from zarr_xarray import _xarray
from zarr_xarray.reading import GroupStore, open_for_reading, subgroups

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from xarray import Dataset
    from zarr_core import Group

_DECODING = (
    "mask_and_scale",
    "decode_times",
    "concat_characters",
    "decode_coords",
    "drop_variables",
    "use_cftime",
    "decode_timedelta",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """Arguments of :func:`xarray.open_dataset` that are for the engine.

    Parameters
    ----------
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

    def dataset(self, place: Any) -> Dataset:
        """The dataset of one group."""
        group, closes = self._open(place)
        return self._dataset_of(group, closes)

    def datasets(self, place: Any) -> dict[str, Dataset]:
        """Those of a group, of all groups below it, by paths: relative if there is ``group``."""
        group, closes = self._open(place)
        return {
            (path or ".") if self.group else f"/{path}": self._dataset_of(found, closes)
            for path, found in subgroups(group)
        }

    def _open(self, place: Any) -> tuple[Group, bool]:
        return open_for_reading(
            place, self.group, consolidated=self.consolidated,
            storage_options=self.storage_options, zarr_format=self.zarr_format,
        )  # fmt: skip

    def _dataset_of(self, group: Group, closes: bool) -> Dataset:
        dropped = self.drop_variables or ()
        names = frozenset((dropped,) if isinstance(dropped, str) else dropped)
        store = GroupStore(group, self.use_zarr_fill_value_as_mask, closes, names)
        entry: Any = _xarray.StoreBackendEntrypoint()
        try:
            dataset: Dataset = entry.open_dataset(
                store, **{name: getattr(self, name) for name in _DECODING}
            )
        except BaseException:
            store.close()
            raise
        return dataset


PARAMETERS = ("filename_or_obj", *(field.name for field in fields(Opening)))
"""The names of all arguments, which xarray wants to know."""
