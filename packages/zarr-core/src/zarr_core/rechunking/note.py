"""A note beside the chunks of an array whose document is not there yet: whose chunks they are."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from zarr_core import strictjson
from zarr_core.errors import MetadataError, StoreError

if TYPE_CHECKING:
    from zarr_core.definition import JSON
    from zarr_core.hierarchy.array import Array

NAME = ".copying"
"""What the note is called; overwriting a hierarchy removes it like a document."""


class Note:
    """The note on one array; while it is there, chunks are those of this very work.

    Parameters
    ----------
    source, dest : Array
        What is copied, where to.
    *more : JSON
        What else chunks, or the way to them, depend on.

    Notes
    -----
    Stores that remove nothing get no notes, nor do those that take documents and chunks
    alone: there, one begins anew.
    """

    def __init__(self, source: Array, dest: Array, *more: JSON) -> None:
        work: list[JSON] = [
            source.store.url, source.path, source._format.to_json(source.metadata),
            dest._format.to_json(dest.metadata), *more,
        ]  # fmt: skip
        self._work = sha256(strictjson.encode(work)).hexdigest()
        self._store = dest.store
        self._key = beside(dest)
        self._possible = dest.store.supports_erasing
        self._stored: JSON = None
        self.is_there = False

    def begin(self) -> JSON:
        """How far the same work has come before, as it was noted; None if it was not.

        Afterwards ``is_there`` says whether there is a note, of this or of other work.
        """
        data = self._store.get(self._key) if self._possible else None
        if data is None:
            return None
        self.is_there = True
        try:
            note: Any = strictjson.loads(bytes(data))
        except MetadataError:
            return None
        if isinstance(note, dict) and note.get("work") == self._work:
            self._stored = note.get("done")
        return self._stored

    def write(self, done: JSON) -> None:
        """Say how far the work has come: anything but None."""
        if not self._possible or done == self._stored:
            return
        try:
            self._store.set(self._key, strictjson.encode({"work": self._work, "done": done}))
        except StoreError:
            self._possible = False
        else:
            self._stored, self.is_there = done, True

    def end(self) -> None:
        """All is done; the document says so."""
        if self.is_there:
            self._store.erase(self._key)
            self.is_there = False


def beside(array: Array, name: str = "") -> str:
    """A key beside the chunks of an array, or a path, that is removed before it is complete."""
    return f"{note_at(array._chunks.prefix)}{name}"


def note_at(prefix: str) -> str:
    """The key of the note on an array with a prefix of its chunks."""
    return prefix + NAME


def leftovers(array: Array) -> list[str]:
    """What work that was stopped may have left where a new array is to be; the note last.

    Keys that would be taken for chunks, also those of another layout, and what lies beside.
    """
    if not array.store.supports_listing:
        return []
    prefix, mark = array._chunks.prefix, beside(array)
    decode = array._binding.key_encoding.decode
    keys = (
        key
        for key in array.store.list_prefix(prefix)
        if decode(key[len(prefix) :], array.ndim) is not None or key.startswith(mark)
    )
    return sorted(keys, key=lambda key: key == mark)
