"""Names of dimensions, as dimension scales of HDF5 give them."""

from __future__ import annotations

from typing import Any

_WITHOUT_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"
_RENAMED = "_nc4_non_coord_"  # what NetCDF puts before a variable that only has such a name


def is_bare_dimension(dataset: Any) -> bool:
    """Whether a dataset stands for a dimension of NetCDF that has no variable."""
    name = dataset.attrs.get("NAME", b"") if dataset.is_scale else b""
    text = name.encode() if isinstance(name, str) else bytes(name)
    return text.startswith(_WITHOUT_VARIABLE)


def shown_name(name: str) -> str:
    """The name of a variable, as users of NetCDF know it."""
    return name.removeprefix(_RENAMED)


class Dimensions:
    """The dimensions of a file.

    Parameters
    ----------
    datasets : list of h5py.Dataset
        All datasets that can be scales.
    """

    def __init__(self, datasets: list[Any]) -> None:
        self._numbered: dict[int, str] = {}
        for dataset in datasets:
            number = dataset.attrs.get("_Netcdf4Dimid")
            if number is not None and dataset.is_scale:
                self._numbered[int(number)] = _last(dataset.name)

    def names(self, dataset: Any) -> tuple[str | None, ...] | None:
        """The name of each dimension of a dataset; None if none has one."""
        rank = len(dataset.shape or ())
        numbers = dataset.attrs.get("_Netcdf4Coordinates")
        if numbers is not None and len(numbers) == rank:
            listed = [self._numbered.get(int(number)) for number in numbers]
            if None not in listed:
                return tuple(listed)
        if dataset.is_scale and rank == 1:
            return (_last(dataset.name),)
        names: list[str | None] = []
        for dimension in dataset.dims:
            scales = dimension.keys() if len(dimension) else []
            name = _last(dimension[0].name) if scales else dimension.label
            names.append(name or None)
        if dataset.is_scale and rank > 1 and names[0] is None:
            names[0] = _last(dataset.name)  # a coordinate of several dimensions
        return tuple(names) if any(names) else None


def _last(path: Any) -> str:
    return str(path or "").rpartition("/")[2]
