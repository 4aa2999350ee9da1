"""What copies that were interrupted have left of an array."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.errors import NodeExistsError
from zarr_core.rechunking.note import beside, leftovers

if TYPE_CHECKING:
    from zarr_core.hierarchy.array import Array
    from zarr_core.rechunking.note import Note


def left_by(note: Note, new: Array) -> frozenset[tuple[int, ...]]:
    """Grid coordinates of what the same copy has stored before; what others left is removed.

    Parameters
    ----------
    note : Note
        Which copy it is.
    new : Array
        What is written.

    Raises
    ------
    NodeExistsError
        If there is anything that no copy has left.
    """
    if not (new.store.supports_listing and new.store.supports_erasing):
        return frozenset()
    if note.begin():
        return frozenset(at for at, _ in new.stored_chunks())
    own = leftovers(new) if note.is_there else [key for _, key in new.stored_chunks()]
    refuse_strangers(new, {*own, beside(new)})
    new.store.erase_values(own)
    note.write(True)
    return frozenset()


def begin_anew(new: Array) -> None:
    """Remove what a copy that was stopped may have left, without a note on that.

    Raises
    ------
    NodeExistsError
        If there is anything that no copy has left.
    """
    if new.store.supports_listing:
        own = leftovers(new)
        if beside(new) not in own:  # no note that says whose those outside the array are
            own = [key for _, key in new.stored_chunks()]
        refuse_strangers(new, set(own))
        if own and new.store.supports_erasing:
            new.store.erase_values(own)


def refuse_strangers(array: Array, own: set[str]) -> None:
    """Raise if there is anything but what an array will write, or remove.

    Parameters
    ----------
    array : Array
        A new array, whose document is not stored.
    own : set of str
        Keys that it will.
    """
    documents = array._format.documents(array.path)
    strangers = set(array.store.list_prefix(array._chunks.prefix)) - own - {*documents}
    if strangers:
        raise NodeExistsError(
            array._where(),
            f"holds {min(strangers)!r}, which is not part of a node; remove it first",
        )
