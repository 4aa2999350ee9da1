"""The intermediate array of chunks that are rechunked in two stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarr_core import array_from_metadata, create_array, locate
from zarr_core.extension import Note, beside

if TYPE_CHECKING:
    from zarr_core import Array

    Coordinates = tuple[int, ...]

_NAME = "-pieces"


@dataclass(frozen=True, slots=True)
class Between:
    """An array that is there while another is rechunked.

    Parameters
    ----------
    array : Array
        The array; it has no document, so that nobody takes it for a part of the hierarchy.
    note : Note
        Says which copy it belongs to.
    is_complete : bool
        Whether all of it was written before.
    """

    array: Array
    note: Note
    is_complete: bool

    @classmethod
    def of(cls, source: Array, dest: Array, chunks: tuple[int, ...], work: Any) -> Between:
        """Find the one that an interrupted copy has left, or make a new one.

        Parameters
        ----------
        source, dest : Array
            What is rechunked, what becomes of it.
        chunks : tuple of int
            Shape of the chunks of the array.
        work : store-like, optional
            Where it is kept; by default beside the chunks of the destination.
        """
        made = create_array(
            None,
            shape=source.shape,
            dtype=source.dtype,
            chunks=chunks,
            fill_value=source.fill_value,
        )
        store, path = (dest.store, "") if work is None else locate(work)
        at = f"{path}/{beside(dest, _NAME)}".strip("/")
        array = array_from_metadata(store, made.metadata, path=at)
        note = Note(source, array, dest.store.url, dest.path)
        done = note.begin()
        if done is None:
            array.store.erase_prefix(f"{at}/")
            note.write(False)
        return cls(array, note, bool(done))

    def there(self) -> frozenset[Coordinates]:
        """Grid coordinates of the chunks that are stored."""
        return frozenset(at for at, _ in self.array.stored_chunks())

    def complete(self) -> None:
        """Note that all of it is written."""
        self.note.write(True)

    def remove(self) -> None:
        """Remove the array, once it was read."""
        self.array.store.erase_prefix(f"{self.array.path}/")
