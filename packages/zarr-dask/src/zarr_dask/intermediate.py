"""The intermediate array for rechunking in two stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_transfer import Checkpoint, intermediate_array, intermediate_path

if TYPE_CHECKING:
    from zarr_core import Array, Store

    Coordinates = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class IntermediateArray:
    """A temporary array that exists while another array is rechunked.

    It has no metadata document, so it is not part of the hierarchy.  The checkpoint identifies the
    copy that it belongs to; ``is_complete`` tells whether an earlier call has written all of it.
    """

    array: Array
    checkpoint: Checkpoint
    is_complete: bool

    @classmethod
    def open_or_create(
        cls, source: Array, dest: Array, chunks: tuple[int, ...], store: Store, path: str
    ) -> IntermediateArray:
        """Open the intermediate array of an interrupted copy below a path, or create a new one."""
        at = f"{path}/{intermediate_path(dest)}".strip("/")
        array = intermediate_array(source, dest, chunks, store, at)
        checkpoint = Checkpoint(source, array, dest.store.url, dest.path)
        done = checkpoint.begin()
        if done is None:
            array.store.erase_prefix(f"{at}/")
            checkpoint.write(False)
        return cls(array, checkpoint, bool(done))

    def stored_chunks(self) -> frozenset[Coordinates]:
        """Return the coordinates of the stored chunks."""
        return frozenset(at for at, _ in self.array.stored.stored_chunks())

    def mark_complete(self) -> None:
        """Record that all chunks are written."""
        self.checkpoint.write(True)

    def remove(self) -> None:
        """Remove the array."""
        self.array.store.erase_prefix(f"{self.array.path}/")
