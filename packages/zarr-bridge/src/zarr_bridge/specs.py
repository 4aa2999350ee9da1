"""Conversion between ``ArrayRepresentation`` and ``ArraySpec`` of zarr-python."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from zarr.core.array_spec import ArrayConfig, ArraySpec
from zarr.core.buffer import cpu
from zarr.core.metadata import v3
from zarr.dtype import parse_dtype
from zarr_core.extension import ArrayRepresentation

from zarr_bridge.data_types import data_type_of, elements, zdtype_of

if TYPE_CHECKING:
    import numpy as np

PROTOTYPE = cpu.buffer_prototype
"""Buffers of zarr-python in NumPy arrays, independent of its settings."""

# zarr-python 3.2 renamed the class.
_GRID: Any = vars(v3).get("RegularChunkGridMetadata") or vars(v3)["RegularChunkGrid"]


@lru_cache(maxsize=256)
def spec_of(decoded: ArrayRepresentation) -> ArraySpec:
    """Return the array specification of zarr-python for a chunk."""
    zdtype = zdtype_of(decoded.data_type)
    return ArraySpec(
        shape=decoded.shape,
        dtype=zdtype,
        fill_value=zdtype.cast_scalar(decoded.fill_value[()]),
        config=_config(decoded.write_empty_chunks),
        prototype=PROTOTYPE,
    )


def spec_of_elements(shape: tuple[int, ...], dtype: np.dtype[Any]) -> ArraySpec:
    """Return an array specification for a shape and a dtype."""
    zdtype = parse_dtype(dtype, zarr_format=3)
    return ArraySpec(shape, zdtype, zdtype.default_scalar(), _config(False), PROTOTYPE)


def grid_of(shape: tuple[int, ...]) -> Any:
    """Return a regular chunk grid of zarr-python, for ``validate`` of its codecs."""
    return _GRID(chunk_shape=shape)


def representation_of(spec: ArraySpec) -> ArrayRepresentation:
    """Return the array representation for an array specification of zarr-python."""
    data_type = data_type_of(spec.dtype)
    fill_value = _fill_value(spec, data_type.numpy_dtype)
    return ArrayRepresentation(
        tuple(spec.shape), data_type, fill_value, spec.config.write_empty_chunks
    )


def _config(write_empty_chunks: bool) -> ArrayConfig:
    return ArrayConfig.from_dict({"order": "C", "write_empty_chunks": write_empty_chunks})


def _fill_value(spec: ArraySpec, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if spec.fill_value is None:
        return elements(spec.dtype.default_scalar(), dtype)
    try:
        return elements(spec.fill_value, dtype)
    except (TypeError, ValueError):  # the data type was changed by a codec
        return elements(spec.dtype.cast_scalar(spec.fill_value), dtype)
