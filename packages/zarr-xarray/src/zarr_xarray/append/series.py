"""Create the arrays of a group that grows along one dimension, with no steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from xarray.indexes import PandasMultiIndex

from zarr_xarray import _xarray
from zarr_xarray.consolidated_metadata import ConsolidatedCopies
from zarr_xarray.encoded_elements import RESOLUTIONS
from zarr_xarray.plans import Rules
from zarr_xarray.store import DatasetStore
from zarr_xarray.target import Target

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from xarray import Dataset, Variable
    from zarr_core import Group
    from zarr_core.extension import Format, Store

_MAX_CHUNK_BYTES = 1 << 24
_UNITS = {resolution: unit for unit, resolution in RESOLUTIONS.items()}
_LAYOUT_KEYS = ("chunks", "preferred_chunks", "shards")


class _EmptyDatasetStore(DatasetStore):
    """Stores variables without steps: they are encoded first, so that they have a data type."""

    __slots__ = ("growing_dim",)

    def __init__(self, target: Target, dim: str) -> None:
        super().__init__(target, Rules("a"))
        self.growing_dim = dim

    def encode_variable(self, variable: Variable, name: Hashable | None = None) -> Variable:
        encoded = super().encode_variable(variable, name)
        dim = self.growing_dim
        return encoded.isel({dim: slice(0, 0)}) if dim in encoded.dims else encoded


def check_storable(data: Dataset) -> None:
    """Raise ValueError if a variable cannot be stored in an array."""
    for name, variable in data.variables.items():
        if not isinstance(variable.dtype, np.dtype):
            raise ValueError(
                f"{name!r} has the data type {variable.dtype} of pandas; convert it to a data type "
                "of NumPy (times with a time zone: to UTC without a time zone)"
            )
        if isinstance(data.xindexes.get(name), PandasMultiIndex):
            raise ValueError(
                f"{name!r} belongs to a MultiIndex, which cannot be stored; call "
                "reset_index() or encode_multi_index_as_compress() of cf_xarray"
            )


def create_series(
    store: Store,
    group: Group,
    format_: Format,
    data: Dataset,
    dim: str,
    encoding: Mapping[str, Mapping[str, Any]],
    chunk: int,
    coordinate_chunk: int,
) -> None:
    """Create the variables of a dataset, with no steps along one dimension.

    Variables without the dimension are stored with their elements.  Coordinates that have only this
    dimension have ``coordinate_chunk`` steps in a chunk, others ``chunk``.
    """
    data = data.copy()
    explicit: dict[str, dict[str, Any]] = {}
    for name, variable in data.variables.items():
        if dim not in variable.dims:
            continue
        small = name in data.coords and variable.dims == (dim,)
        variable = _growable(variable)
        inherited = {
            key: value for key, value in variable.encoding.items() if key not in _LAYOUT_KEYS
        }
        defaults = {
            **_time_encoding(variable),
            "chunks": _chunks(variable, dim, coordinate_chunk if small else chunk),
        }
        if name in encoding:
            explicit[str(name)] = {**defaults, **encoding[str(name)]}
        variable.encoding = {**defaults, **inherited}
        data[name] = variable
    copies = ConsolidatedCopies(store, group.path, format_, consolidate=True)
    target = Target(store, group.path, format_, copies, group, False, None)
    node = _EmptyDatasetStore(target, dim)
    others = {
        name: dict(item)
        for name, item in encoding.items()
        if name in data.variables and name not in explicit
    }
    _xarray.dump_to_store(data, node, _xarray.ArrayWriter(), encoding={**others, **explicit})
    node.write()
    copies.write()


def _growable(variable: Variable) -> Variable:
    """Return the variable with text of any length instead of a fixed one."""
    if variable.dtype.kind == "U" and "dtype" not in variable.encoding:
        return variable.astype(np.dtypes.StringDType())
    return variable.copy(deep=False)


def _time_encoding(variable: Variable) -> dict[str, Any]:
    """Return units in which all later times can be stored.

    xarray chooses the coarsest units for the first times, such as days for one midnight.
    """
    if variable.dtype.kind in "mM":
        unit = _UNITS.get(np.datetime_data(variable.dtype)[0], "nanoseconds")
    elif (
        variable.dtype == object and variable.size and hasattr(variable.values.flat[0], "calendar")
    ):
        unit = "microseconds"  # the resolution of cftime
    else:
        return {}
    units = unit if variable.dtype.kind == "m" else f"{unit} since 1970-01-01"
    return {"units": units, "dtype": "int64"}


def _chunks(variable: Variable, dim: str, length: int) -> tuple[int, ...]:
    """Return chunk lengths: all elements of up to ``length`` steps, in at most 16 MiB."""
    rest = {name: max(1, size) for name, size in variable.sizes.items() if name != dim}
    itemsize = max(1, variable.dtype.itemsize)
    while itemsize * int(np.prod([*rest.values()])) > _MAX_CHUNK_BYTES:
        largest = max(rest, key=lambda name: rest[name], default=None)
        if largest is None or rest[largest] == 1:
            break
        rest[largest] = -(-rest[largest] // 2)
    step = itemsize * int(np.prod([*rest.values()], dtype=np.int64))
    rest[dim] = max(1, min(length, _MAX_CHUNK_BYTES // step))
    return tuple(rest[name] for name in variable.dims)
