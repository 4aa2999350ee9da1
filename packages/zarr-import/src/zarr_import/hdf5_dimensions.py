"""Dimension names from the dimension scales of HDF5."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from zarr_import.errors import UnsupportedSourceError, read_errors

_WITHOUT_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"
_RENAMED = "_nc4_non_coord_"  # prefix of variables that share their name with a dimension


def is_dimension_without_variable(dataset: Any) -> bool:
    """Return whether a dataset represents a NetCDF dimension without a variable."""
    name = dataset.attrs.get("NAME", b"") if dataset.is_scale else b""
    text = name.encode() if isinstance(name, str) else bytes(name)
    return text.startswith(_WITHOUT_VARIABLE)


def netcdf_name(name: str) -> str:
    """Return the name of a variable as NetCDF shows it."""
    return name.removeprefix(_RENAMED)


class Dimensions:
    """The dimensions of a file, from all datasets that can be dimension scales.

    ``has_dimids`` tells whether dimensions have numbers, as in NetCDF files.
    """

    def __init__(self, datasets: list[Any]) -> None:
        self._names_by_dimid: dict[int, str] = {}
        self.has_dimids = False
        for dataset in datasets:
            with suppress(UnsupportedSourceError), read_errors(dataset.name):
                # Damage is reported when the variable itself is read.
                number = dataset.attrs.get("_Netcdf4Dimid")
                self.has_dimids = self.has_dimids or number is not None
                if number is not None and dataset.is_scale:
                    self._names_by_dimid[int(number)] = _last(dataset.name)

    def names(self, dataset: Any) -> tuple[str | None, ...] | None:
        """Return the name of each dimension of a dataset, or None if no dimension has one."""
        rank = len(dataset.shape or ())
        numbers = dataset.attrs.get("_Netcdf4Coordinates")
        if numbers is not None and len(numbers) == rank:
            listed = [self._names_by_dimid.get(int(number)) for number in numbers]
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
            names[0] = _last(dataset.name)  # a multidimensional coordinate
        return tuple(names) if any(names) else None


def _last(path: Any) -> str:
    return str(path or "").rpartition("/")[2]
