"""Chunks that go from a source into a store as they are encoded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core import array_from_metadata
from zarr_core.extension import ZarrError, make_extension, run_in_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core import Array
    from zarr_core.extension import Format, ProgressReporter

    from zarr_import.variable import StoredChunks, Variable


def copy_chunks(
    variable: Variable,
    stored: StoredChunks,
    array: Array,
    format_: Format,
    reporter: ProgressReporter,
) -> bool:
    """Store the encoded chunks of a source as those of an array.

    Parameters
    ----------
    variable, stored
        The source, and its chunks.
    array : Array
        Where to.
    format_ : Format
        Knows where the chunks of the array lie.
    reporter : ProgressReporter
        Is told how many elements are done.

    Returns
    -------
    bool
        Whether our codecs make of the first of them what the source does; if not, nothing
        was stored, and the array has to be written otherwise.

    Notes
    -----
    Chunks that a source has stored in another way are decoded and written one by one.
    """
    key_of = _keys(array, format_)
    first = next(iter(stored), None)
    if first is not None and not _reads_the_same(
        variable, array, format_, first, {key_of(first): stored.read(first)}
    ):
        return False

    def take(chunk: tuple[int, ...]) -> None:
        array.store.set(key_of(chunk), stored.read(chunk))
        reporter.advance(_elements(array, chunk))

    def decode(chunk: tuple[int, ...]) -> None:
        box = _box(array, chunk)
        array[box] = variable.read(box)
        reporter.advance(_elements(array, chunk))

    requests = array.store.requests
    run_in_threads(stored, take, requests is not None, requests)
    run_in_threads(stored.others(), decode, None, requests)
    return True


def _keys(array: Array, format_: Format) -> Callable[[tuple[int, ...]], str]:
    definition = array.metadata.chunk_key_encoding
    encoding: Any = make_extension("chunk_key_encoding", definition, array.name)
    prefix = format_.chunk_prefix(array.path)
    return lambda chunk: prefix + encoding.encode(chunk)


def _reads_the_same(
    variable: Variable,
    array: Array,
    format_: Format,
    chunk: tuple[int, ...],
    stored: dict[str, bytes],
) -> bool:
    """Whether our codecs make of a chunk what those of the source do, bit by bit."""
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


def _elements(array: Array, chunk: tuple[int, ...]) -> int:
    count = 1
    for part in _box(array, chunk):
        count *= part.stop - part.start
    return count
