"""Copying chunks of an array to other keys without decoding them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import ArrayMetadata

from zarr_transfer.conversion.chunk_keys import ChunkKeys, moves, stay
from zarr_transfer.copy_executor import KeyPair
from zarr_transfer.copy_values import copy_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.tools import ProgressReporter

    from zarr_transfer.conversion.steps import ConversionStep
    from zarr_transfer.copy_executor import CopyExecutor
    from zarr_transfer.spec import NodeLocation


def copy_chunks(
    source: NodeLocation,
    dest: NodeLocation,
    step: ConversionStep,
    reporter: ProgressReporter,
    executor: CopyExecutor | None = None,
) -> None:
    """Copy the stored chunks of an array.

    Parameters
    ----------
    source, dest, step
        The source, the destination and the array.
    reporter : ProgressReporter
        Receives the number of copied chunks.
    executor : CopyExecutor, optional
        By default the threads of this process.

    Notes
    -----
    Everything is copied again after an interruption, since an equal size does not mean equal
    contents.  Chunk keys at the destination that the source does not have are removed.
    """
    assert isinstance(step.source_metadata, ArrayMetadata)
    assert isinstance(step.metadata, ArrayMetadata)
    old = ChunkKeys.of(source, step.path, step.source_metadata)
    new = ChunkKeys.of(dest, step.path, step.metadata)
    if not old.verbatim:
        dest.store.erase_values(list(_extra_keys(old, new)))
    reporter.begin(step.path, step.chunks, "chunks")
    pairs = (KeyPair(*move) for move in moves(old, new))
    copy_pairs(source.store, dest.store, pairs, reporter, executor=executor)
    reporter.end()


def _extra_keys(old: ChunkKeys, new: ChunkKeys) -> Iterator[str]:
    """Iterate over chunk keys at the destination that the source does not have."""
    for key in new.others():
        chunk = new.chunk_of(key)
        assert chunk is not None, "others() returns only chunk keys"
        if not old.holds(chunk) or not old.side.store.exists(old.key(chunk)):
            yield key


def erase_copied(source: NodeLocation, dest: NodeLocation, step: ConversionStep) -> None:
    """Remove the old chunks of an array whose chunks were copied to other keys."""
    assert isinstance(step.source_metadata, ArrayMetadata)
    assert isinstance(step.metadata, ArrayMetadata)
    old = ChunkKeys.of(source, step.path, step.source_metadata)
    if not stay(old, ChunkKeys.of(dest, step.path, step.metadata)):
        source.store.erase_values([key for key, _ in moves(old, old)])
