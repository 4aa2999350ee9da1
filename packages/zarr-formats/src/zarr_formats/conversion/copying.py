"""Copying the stored objects of an array to other keys, without decoding them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from zarr_core.extension import ArrayMetadata, run_in_threads

from zarr_formats.conversion.chunk_keys import ChunkKeys, moves, stay

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import ProgressReporter

    from zarr_formats.conversion.steps import Side, Step

_TOGETHER = 32  # stored objects between two reports
_MEMORY = 1 << 27  # bytes that the threads may hold at a time, if one object is no larger


def copy_chunks(source: Side, dest: Side, step: Step, reporter: ProgressReporter) -> None:
    """Copy the stored objects of an array.

    Parameters
    ----------
    source, dest, step
        What is converted.
    reporter : ProgressReporter
        Is told how many stored objects are done.

    Notes
    -----
    Everything is copied, also what an interrupted conversion has copied already: that an
    object has the same length does not mean that it is the same.  Keys that would be taken
    for chunks and that the source does not have are removed.
    """
    assert isinstance(step.source_metadata, ArrayMetadata)
    assert isinstance(step.metadata, ArrayMetadata)
    old = ChunkKeys.of(source, step.path, step.source_metadata)
    new = ChunkKeys.of(dest, step.path, step.metadata)
    if not old.verbatim:
        dest.store.erase_values(list(_strays(old, new)))
    reporter.begin(step.path, step.chunks, "chunks")
    objects = moves(old, new)
    latencies = [store.requests for store in (source.store, dest.store) if store.requests]
    threads = max(latencies, default=None)
    largest = 0

    def copy(move: tuple[str, str]) -> None:
        nonlocal largest
        value = source.store.get(move[0])
        if value is not None:
            dest.store.set(move[1], value)
            largest = max(largest, len(value))

    while some := list(islice(objects, _TOGETHER)):
        at_once = max(1, _MEMORY // largest) if largest else threads
        few = at_once if threads is None else min(threads, at_once or 1)
        run_in_threads(some, copy, parallel=few != 1, threads=few if threads else None)
        reporter.advance(len(some))
    reporter.end()


def _strays(old: ChunkKeys, new: ChunkKeys) -> Iterator[str]:
    """Keys at the target that would be chunks of the new array, but not of the old one."""
    for key in new.others():
        chunk = new.chunk_of(key)
        assert chunk is not None, "others are what the encoding takes for chunks"
        if not old.holds(chunk) or not old.side.store.exists(old.key(chunk)):
            yield key


def erase_copied(source: Side, dest: Side, step: Step) -> None:
    """Remove the stored objects that an array had before they were copied to other keys."""
    assert isinstance(step.source_metadata, ArrayMetadata)
    assert isinstance(step.metadata, ArrayMetadata)
    old = ChunkKeys.of(source, step.path, step.source_metadata)
    if not stay(old, ChunkKeys.of(dest, step.path, step.metadata)):
        source.store.erase_values([key for key, _ in moves(old, old)])
