"""All private names of xarray that this package uses.

xarray has no public interface for writing to other stores.  How it encodes variables, checks
regions and compares chunks is imported here, so that datasets are stored as xarray's own
engine stores them, and changes in xarray affect only this file.  No module of this package
imports zarr-python.
"""

# ruff: noqa: SLF001 - the only module that uses private names of xarray

from __future__ import annotations

from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray
import xarray.backends.zarr as _zarr
from xarray.backends import api as _api
from xarray.backends import chunks as _chunks
from xarray.backends import common as _common
from xarray.backends import store as _store
from xarray.backends import writers as _writers
from xarray.coding import strings as _strings
from xarray.core import indexing as _indexing
from xarray.namedarray.parallelcompat import get_chunked_array_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from xarray import DataTree

# Few of these have types.
_api_module: Any = _api
_zarr_module: Any = _zarr
_chunks_module: Any = _chunks
_common_module: Any = _common
_writers_module: Any = _writers
_indexing_module: Any = _indexing
_strings_module: Any = _strings
_extensions: Any = xarray

StoreBackendEntrypoint = _store.StoreBackendEntrypoint
ZarrStore = _zarr.ZarrStore
DIMENSION_KEY: str = _zarr_module.DIMENSION_KEY
NAME_KEY: str = _api_module.DATAARRAY_NAME
NAME_OF_UNNAMED: str = _api_module.DATAARRAY_VARIABLE
FillValueCoder: Any = _zarr_module.FillValueCoder
choose_mode: Callable[..., str] = _zarr_module._choose_default_mode
extract_encoding: Callable[..., dict[str, Any]] = _zarr_module.extract_zarr_variable_encoding
check_append_dtype: Callable[..., None] = _zarr_module._validate_datatypes_for_zarr_append
fit_dimensions: Callable[..., Any] = _zarr_module._validate_and_transpose_existing_dims
encode_attribute: Callable[[Any], Any] = _zarr_module.encode_zarr_attr_value
encode_variable: Callable[..., Any] = _zarr_module.encode_zarr_variable
if "zarr_format" in signature(encode_variable).parameters:  # since xarray 2026.9
    # Variable-length text is not converted in version 2 either.
    encode_variable = partial(encode_variable, zarr_format=3)

rechunk_to_grid: Callable[..., Any] = _chunks_module.grid_rechunk
check_alignment: Callable[..., None] = _chunks_module.validate_grid_chunks_alignment

encode_name: Callable[[Any], str] = _common_module._encode_variable_name
tree_from: Callable[[Any], DataTree] = _common_module.datatree_from_dict_with_io_cleanup
ArrayWriter: Any = _common_module.ArrayWriter

check_names: Callable[[Any], None] = _writers_module._validate_dataset_names
dump_to_store: Callable[..., None] = _writers_module.dump_to_store
close_after: Callable[..., Any] = _writers_module.delayed_close_after_writes

select: Callable[..., Any] = _indexing_module.explicit_indexing_adapter
VECTORIZED: Any = _indexing_module.IndexingSupport.VECTORIZED
vlen_type: Callable[[Any], type | None] = _strings_module.check_vlen_dtype

# Decorators that have no types either.
register_dataset: Callable[[str], Callable[[type], type]] = _extensions.register_dataset_accessor
register_dataarray: Callable[[str], Callable[[type], type]] = (
    _extensions.register_dataarray_accessor
)
register_datatree: Callable[[str], Callable[[type], type]] = _extensions.register_datatree_accessor

LazilyIndexedArray: Any = _indexing_module.LazilyIndexedArray
BasicIndexer: Any = _indexing_module.BasicIndexer
OuterIndexer: Any = _indexing_module.OuterIndexer


def map_chunks(function: Any, data: Any, dtype: Any, *others: Any) -> Any:
    """Return a chunked array of the results of a function of each chunk."""
    manager = get_chunked_array_type(data)
    return manager.map_blocks(
        function, data, *others, dtype=dtype, meta=np.empty((0,) * data.ndim, dtype)
    )
