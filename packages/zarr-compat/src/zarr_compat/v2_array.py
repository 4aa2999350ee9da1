"""The class ``zarr.Array`` of zarr-python 2 whose elements this library reads and writes.

Metadata, views, locks and everything else are those of the installed zarr-python 2.
"""

from __future__ import annotations

import json
from operator import is_
from typing import Any

import numpy as np
import zarr_core
from zarr.core import Array as ZarrPythonArray  # type: ignore[attr-defined]  # only version 2 has it
from zarr_core.extension import StoreReadOnlyError

from zarr_compat.metadata import metadata_of_document

__all__ = ["Array"]

# Stores of zarr-python 2 that several threads can use at once.
_CONCURRENT = {"DirectoryStore", "NestedDirectoryStore", "TempStore", "MemoryStore", "ZipStore"}


class Array(ZarrPythonArray):  # type: ignore[misc]  # untyped
    """An array of version 2, with the interface of zarr-python 2.

    With a synchronizer, zarr-python 2 writes the elements.  Arrays with pickled objects cannot be
    opened.
    """

    __module__ = "zarr.core"  # where programs, and pickles, look for it
    __doc__ = ZarrPythonArray.__doc__

    _core: zarr_core.Array | None = None
    _state: tuple[Any, ...] = (None,) * 6  # the metadata of the array of the core

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if self._version != 2:
            raise ValueError(
                f"cannot open an array with zarr_version={self._version}: "
                "install_as_zarr(version=2) supports version 2 only. Use install_as_zarr(version=3)"
            )
        if not isinstance(self._meta_array, np.ndarray):
            raise TypeError(
                f"meta_array must be an array of NumPy, not {type(self._meta_array)}; copy results "
                "to another device afterwards"
            )
        self._open_core()  # raises an error for codecs that this library does not have

    def _open_core(self) -> zarr_core.Array | None:
        """Return the array of the core for the current metadata; None for a view with its own.

        zarr-python 2 reads such views: NumPy casts their elements.
        """
        state = (
            self._meta, self._shape, self._chunks, self._dtype, self._fill_value, self._filters
        )  # fmt: skip
        if not all(map(is_, state, self._state)):
            self._core, self._state = self._new_core(), state
        return self._core

    def _new_core(self) -> zarr_core.Array | None:
        if self._is_view:
            return None
        members = {
            "shape": self._shape,
            "chunks": self._chunks,
            "dtype": self._dtype,
            "compressor": self._meta.get("compressor"),
            "filters": [codec.get_config() for codec in self._filters or ()] or None,
            "fill_value": self._fill_value,
            "order": self._order,
            "dimension_separator": self._dimension_separator,
        }
        document = self._store._metadata_class.encode_array_metadata(members)  # noqa: SLF001 - of zarr-python 2
        values = zarr_core.MemoryStore(self.chunk_store)
        if type(self.chunk_store).__name__ not in _CONCURRENT:
            values.max_concurrency = 1
        return zarr_core.array_from_metadata(
            values,
            metadata_of_document(json.loads(document)),
            path=self._path,
            zarr_format=2,
            config={"write_empty_chunks": self._write_empty_chunks},
        )

    def _get_selection(self, indexer: Any, out: Any = None, fields: Any = None) -> Any:
        core = self._open_core()
        if core is None:
            return super()._get_selection(indexer, out, fields)
        kind, selection = _selection_of(indexer)
        read = getattr(core, f"get_{kind}_selection")
        result = read(selection, fields=self._field_names(fields))
        if getattr(getattr(result, "dtype", None), "kind", "") == "T":
            result = result.astype(object)
        if out is None:
            return result
        if not hasattr(out, "dtype"):
            raise TypeError(f"out must be an array, not {type(out)}")
        if np.shape(out) != np.shape(result):
            raise ValueError(
                f"out must have the shape of the selection, {np.shape(result)}, not {np.shape(out)}"
            )
        out[...] = result  # an array of NumPy or of Zarr
        return out

    def _set_selection(self, indexer: Any, value: Any, fields: Any = None) -> None:
        core = self._open_core()
        if core is None or self._synchronizer is not None:
            super()._set_selection(indexer, value, fields)
            return
        names = self._field_names(fields)
        if isinstance(names, list | tuple):
            if len(names) > 1:
                raise IndexError(
                    f"only one field can be written at once, not {names}; write them one by one"
                )
            names = names[0]
        kind, selection = _selection_of(indexer)
        write = getattr(core, f"set_{kind}_selection")
        try:
            write(selection, value[...] if isinstance(value, Array) else value, fields=names)
        except StoreReadOnlyError as error:
            raise PermissionError(str(error)) from error

    def _field_names(self, fields: Any) -> Any:
        """Return names of fields; an empty list stands for all."""
        if not isinstance(fields, str | list | tuple | None):
            raise IndexError(f"invalid fields: {fields!r}; pass names of {self.dtype.names}")
        return fields or None


def _selection_of(indexer: Any) -> tuple[str, Any]:
    """Return the kind of the selection of an indexer of zarr-python 2, and the selection."""
    if hasattr(indexer, "sel_shape"):
        order = indexer.sel_sort
        return "coordinate", tuple(_in_order(items, order) for items in indexer.selection)
    return "orthogonal", tuple(map(_dimension_of, indexer.dim_indexers))


def _dimension_of(indexer: Any) -> Any:
    if hasattr(indexer, "step"):
        return slice(indexer.start, max(indexer.start, indexer.stop), indexer.step)
    if hasattr(indexer, "dim_out_sel"):
        return _in_order(indexer.dim_sel, indexer.dim_out_sel)
    return indexer.dim_sel


def _in_order(items: Any, order: Any) -> Any:
    """Return items, which an indexer sorted by chunk, in the order of the selection."""
    if order is None:
        return items
    selected = np.empty_like(items)
    selected[order] = items
    return selected
