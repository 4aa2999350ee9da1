"""A note beside the chunks of an array that is copied: which copy it is."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from zarr_core import strictjson
from zarr_core.engine.stored import stored_chunks
from zarr_core.errors import NodeExistsError, StoreError

if TYPE_CHECKING:
    from zarr_core.hierarchy.array import Array

_NAME = ".copying"  # overwriting a hierarchy removes it like a document


class CopyNote:
    """The note on one array; while it is there, chunks are those of this very copy.

    Parameters
    ----------
    old, new : Array
        What is copied, where to.
    """

    def __init__(self, old: Array, new: Array) -> None:
        self._new = new
        self._key = new._chunks.prefix + _NAME
        work = [
            old.store.url, old.path, old._format.to_json(old.metadata),
            new._format.to_json(new.metadata),
        ]  # fmt: skip
        self._text = sha256(strictjson.encode(work)).hexdigest().encode()
        self._possible = new.store.supports_listing and new.store.supports_erasing

    def begin(self) -> frozenset[tuple[int, ...]]:
        """Grid coordinates of what this copy has stored before; what others left is removed.

        Raises
        ------
        NodeExistsError
            If there is anything that no copy has left.
        """
        if not self._possible:
            return frozenset()
        store, chunks = self._new.store, self._new._chunks
        note = store.get(self._key)
        if note == self._text:
            return frozenset(at for at, _ in stored_chunks(chunks))
        own = {key for _, key in stored_chunks(chunks)}
        if note is not None:  # those of another layout, too
            decode, prefix = chunks.binding.key_encoding.decode, chunks.prefix
            below = (key[len(prefix) :] for key in store.list_prefix(prefix))
            own |= {prefix + key for key in below if decode(key, self._new.ndim) is not None}
        refuse_strangers(self._new, {*own, self._key})
        store.erase_values(list(own))
        try:
            store.set(self._key, self._text)
        except StoreError:  # it takes documents and chunks alone: then a copy begins anew
            self._possible = False
        return frozenset()

    def end(self) -> None:
        """All is done; the document says so."""
        if self._possible:
            self._new.store.erase(self._key)


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
