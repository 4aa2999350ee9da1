"""Checkpoints: what an interrupted copy of an array has completed, stored next to its chunks."""

from __future__ import annotations

from hashlib import sha256
from operator import lt
from typing import TYPE_CHECKING, Any

from zarr_core.errors import MetadataError, NodeExistsError
from zarr_core.extension import StoreError, read_metadata, strictjson
from zarr_core.messages import log
from zarr_core.names import CHECKPOINT_NAME

if TYPE_CHECKING:
    from zarr_core import Array
    from zarr_core.extension import JSON


class Checkpoint:
    """The checkpoint of one array.  If it exists, the chunks are from the copy that it describes.

    ``more`` is other data that the chunks depend on.  A store that cannot remove keys, or accepts
    only metadata and chunks, has no checkpoints; copies start again.
    """

    def __init__(self, source: Array, dest: Array, *more: JSON) -> None:
        work: list[JSON] = [
            source.store.url, source.path, source.stored.format.to_json(source.metadata),
            dest.stored.format.to_json(dest.metadata), *more,
        ]  # fmt: skip
        self.work = sha256(strictjson.encode(work)).hexdigest()
        """Identifies the copy."""
        self._store = dest.store
        self._key = sidecar_key(dest)
        self._possible = dest.store.traits.supports_erasing
        self._stored: JSON = None
        self.is_there = False

    def begin(self) -> JSON:
        """Return what the same copy has completed; None if there is no checkpoint of it.

        Sets ``is_there``: whether there is a checkpoint of any copy.
        """
        try:
            data = read_metadata(self._store, self._key) if self._possible else None
            if data is None:
                return None
            self.is_there = True
            stored: Any = strictjson.loads(data)
        except MetadataError:
            self.is_there = True
            return None
        if isinstance(stored, dict) and stored.get("work") == self.work:
            self._stored = stored.get("done")
            log("recovery", "%s %r: an interrupted copy is resumed", self._store, self._key)
        return self._stored

    def write(self, done: JSON) -> None:
        """Store what is completed; any JSON value except None."""
        if not self._possible or done == self._stored:
            return
        try:
            self._store.set(self._key, strictjson.encode({"work": self.work, "done": done}))
        except StoreError:
            self._possible = False
        else:
            self._stored, self.is_there = done, True

    def end(self) -> None:
        """Remove the checkpoint, after the metadata of the array is stored."""
        if self.is_there:
            self._store.erase(self._key)
            self.is_there = False


def sidecar_key(array: Array, name: str = "") -> str:
    """Return the key of the checkpoint of an array, or of a temporary path next to it."""
    return f"{checkpoint_key(array.stored.prefix)}{name}"


def checkpoint_key(prefix: str) -> str:
    """Return the key of the checkpoint of an array with a chunk prefix."""
    return prefix + CHECKPOINT_NAME


def erase_interrupted(new: Array) -> None:
    """Remove the keys of an interrupted copy without a usable checkpoint; others are an error."""
    store, prefix, mark = new.store, new.stored.prefix, sidecar_key(new)
    if not store.supports_listing:
        return
    decode = new.stored.resolved.key_encoding.decode
    chunks = {key: decode(key[len(prefix) :], new.ndim) for key in store.list_prefix(prefix)}
    # Without a checkpoint, keys outside the array are not from a copy.
    anywhere = mark in chunks
    own = [
        key
        for key, chunk in chunks.items()
        if key.startswith(mark)
        or (chunk is not None and (anywhere or all(map(lt, chunk, new.cdata_shape))))
    ]
    unmanaged = chunks.keys() - {*own, *new.stored.format.documents(new.path)}
    if unmanaged:
        raise NodeExistsError(
            new.stored.location,
            f"holds {min(unmanaged)!r}, which is not part of a node; remove it first",
        )
    if own and store.traits.supports_erasing:
        log("recovery", "%s: %d keys of an interrupted copy removed", new.stored.location, len(own))
        store.erase_values(sorted(own, key=lambda key: key == mark))  # the checkpoint last
