"""Copy encoded chunks of a source into a store."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np
from zarr_core import array_from_metadata
from zarr_core.extension import ZarrError
from zarr_core.threads import parallel_for

if TYPE_CHECKING:
    from zarr_core import Array
    from zarr_core.extension import Format
    from zarr_core.optional import Reporter

    from zarr_import.variable import StoredChunks, Variable


def copy_chunks(
    variable: Variable,
    stored: StoredChunks,
    array: Array,
    format_: Format,
    reporter: Reporter,
) -> bool:
    """Store the encoded chunks of a source as chunks of an array; return whether it was possible.

    The codecs of the array must decode the first chunk as the source does; otherwise nothing is
    stored.  Chunks that the source has encoded differently are decoded and written one by one.
    """
    key_of, extent = array.stored.chunk_key, array.stored.chunk_extent
    encoded, to_decode = stored.listed()
    first = encoded[0] if encoded else None
    if first is not None and not _decodes_equally(
        variable, array, format_, first, {key_of(first): stored.read(first)}
    ):
        return False

    def take(chunk: tuple[int, ...]) -> None:
        array.store.set(key_of(chunk), stored.read(chunk))
        reporter.advance(prod(extent(chunk)))

    def decode(chunk: tuple[int, ...]) -> None:
        box = _box(array, chunk)
        array[box] = variable.read(box)
        reporter.advance(prod(extent(chunk)))

    max_concurrency = array.store.max_concurrency
    parallel_for(encoded, take, max_concurrency is not None, max_concurrency)
    parallel_for(to_decode, decode, None, max_concurrency)
    return True


def _decodes_equally(
    variable: Variable,
    array: Array,
    format_: Format,
    chunk: tuple[int, ...],
    stored: dict[str, bytes],
) -> bool:
    """Return whether the codecs of the array decode a chunk exactly as the source does."""
    box = _box(array, chunk)
    alone = array_from_metadata(
        stored, array.metadata, path=array.path, zarr_format=format_.name, read_only=True
    )
    try:
        ours = np.asarray(alone[box])
    except ZarrError:
        return False
    theirs = np.asarray(variable.read(box)).astype(ours.dtype, copy=False)
    return ours.shape == theirs.shape and ours.tobytes() == theirs.tobytes()


def _box(array: Array, chunk: tuple[int, ...]) -> tuple[slice, ...]:
    return tuple(
        slice(number * length, min((number + 1) * length, size))
        for number, length, size in zip(chunk, array.chunks, array.shape, strict=True)
    )
