"""Create arrays like others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core import Array, create, override_extensions
from zarr_core.hierarchy.assigned_values import data_to_array

if TYPE_CHECKING:
    from collections.abc import Mapping


def empty_like(like: Any, **options: Any) -> Array:
    """Create an empty array with the shape and dtype of another; of a Zarr array, also its layout.

    Parameters
    ----------
    like : array-like
        The other array.
    **options
        Arguments of :func:`zarr_core.create_array`, which take precedence.  Another ``dtype`` implies its
        default filters, serializer and fill value; other ``chunks`` imply no shards; another
        number of dimensions implies default chunks.
    """
    with override_extensions(like.stored.extensions if isinstance(like, Array) else None):
        return create(**{**_like_options(like, options), **options})


def _like_options(like: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options that a new array takes from another, unless ``options`` contradict."""
    if not isinstance(like, Array):
        values = data_to_array(like)
        return {"shape": values.shape, "dtype": values.dtype}
    metadata = like.metadata
    defaults: dict[str, Any] = {
        "shape": like.shape,
        "dtype": metadata.data_type,
        "chunks": like.chunks if like.stored.is_sharded else metadata.chunk_grid,
        "shards": like.shards,
        "filters": like.stored.inner_codecs.array_to_array,
        "serializer": like.serializer,
        "compressors": like.stored.inner_codecs.bytes_to_bytes,
        "fill_value": like.stored.resolved.fill_value,
        "chunk_key_encoding": metadata.chunk_key_encoding,
        "dimension_names": metadata.dimension_names,
    }
    if options.get("zarr_format", like.zarr_format) != like.zarr_format:
        del defaults["chunk_key_encoding"]  # formats have different ones
    if "dtype" in options:  # they depend on the dtype
        for name in ("fill_value", "filters", "serializer"):
            del defaults[name]
    if "shape" in options and np.size(options["shape"]) != like.ndim:
        for name in ("chunks", "shards", "filters", "dimension_names"):
            defaults.pop(name, None)
    elif "shape" in options and not like.stored.resolved.is_uniform:
        del defaults["chunks"], defaults["shards"]
    if "chunks" in options and "shards" not in options:
        defaults.pop("shards", None)
    return defaults


def zeros_like(like: Any, **options: Any) -> Array:
    """Create an array of zeros like another; see :func:`empty_like`."""
    return full_like(like, 0, **options)


def ones_like(like: Any, **options: Any) -> Array:
    """Create an array of ones like another; see :func:`empty_like`."""
    return full_like(like, 1, **options)


def full_like(like: Any, fill_value: Any, **options: Any) -> Array:
    """Create an array of one value like another; see :func:`empty_like`."""
    return empty_like(like, **{**options, "fill_value": fill_value})
