"""Copying the stored objects of an array to other keys, without decoding them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from zarr_core.extension import ArrayMetadata, Moved, Pair, run_in_threads

from zarr_formats.conversion.chunk_keys import ChunkKeys, moves, stay

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_core.extension import Carrier, ProgressReporter, Store

    from zarr_formats.conversion.steps import Side, Step

_TOGETHER = 32  # stored objects between two reports
_MEMORY = 1 << 27  # bytes that the threads may hold at a time, if one object is no larger


def copy_chunks(
    source: Side,
    dest: Side,
    step: Step,
    reporter: ProgressReporter,
    carrier: Carrier | None = None,
) -> None:
    """Copy the stored objects of an array.

    Parameters
    ----------
    source, dest, step
        What is converted.
    reporter : ProgressReporter
        Is told how many stored objects are done.
    carrier : Carrier, optional
        Who copies them; by default threads of this process.

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
    if carrier is not None:
        pairs = [Pair(*move) for move in objects]
        move = Move(source.store, dest.store)
        carrier.values(pairs, move, lambda some, moved: reporter.advance(len(some), moved.nbytes))
        reporter.end()
        return
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


class Move:
    """Copies some values wherever it is called; pickles with its stores.

    Parameters
    ----------
    source, dest : Store
        From where, where to.
    """

    def __init__(self, source: Store, dest: Store) -> None:
        self._source = source
        self._dest = dest

    def __call__(self, pairs: Sequence[Pair]) -> Moved:
        sizes = []
        for pair in pairs:
            value = self._source.get(pair.source)
            if value is not None:
                self._dest.set(pair.target, value)
                sizes.append(len(value))
        return Moved(len(sizes), len(pairs) - len(sizes), sum(sizes))


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
