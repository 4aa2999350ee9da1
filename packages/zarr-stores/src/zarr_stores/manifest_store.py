"""A store that keeps the manifest of a hierarchy up to date while it is written."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from zarr_core.extension import StoreReadError, WrapperStore, check_key, check_prefix
from zarr_core.names import normalise_path

from zarr_stores._after_fork import register_after_fork
from zarr_stores.integrity.manifest import (
    Manifest,
    ManifestEntry,
    entry_of,
    hash_values,
    is_manifest_key,
    keys_below,
)
from zarr_stores.integrity.stored_manifest import StoredManifest, write_manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from zarr_core.extension import Buffers, Change, Store
    from zarr_core.interfaces.store import Listing

    from zarr_stores.integrity.stored_manifest import Changes

__all__ = ["ManifestStore"]

_UNKNOWN = ManifestEntry(-1, "")  # entry of a changed value that has to be read again


class ManifestStore(WrapperStore):
    """A store that records every change in the manifest of a hierarchy.

    Parameters
    ----------
    inner : Store
        The store.  All writers of the hierarchy must use this wrapper.
    path : str
        Path of the root of the hierarchy.

    Notes
    -----
    If the manifest does not exist, every value is read to create one.  Before its first change, the store
    records a writer, and the manifest is *behind* until :meth:`flush` or :meth:`close`; after a
    crash it remains behind until ``zarr-core digest --store`` or
    :func:`zarr_stores.integrity.stored_manifest.write_manifest` writes it again.  A manifest that is not
    behind describes all values, also with several processes that write.

    Values that are set are hashed in memory.  Values that are changed in part, and those that
    several processes have changed, are read again by :meth:`flush`.  Listings do not contain the
    keys of the manifest, and values that are set for these keys are ignored.

    Examples
    --------
    >>> from zarr_core import MemoryStore, create_array
    >>> from zarr_stores.manifest_store import ManifestStore
    >>> from zarr_stores.integrity.verify import verify
    >>> memory = MemoryStore()
    >>> with ManifestStore(memory) as store:
    ...     array = create_array(store, shape=4, dtype="int32", data=[1, 2, 3, 4])
    >>> verify(memory).is_sound
    True
    """

    def __init__(self, inner: Store, path: str = "") -> None:
        super().__init__(inner)
        self.path = normalise_path(path)
        self._stored = StoredManifest(inner, self.path)
        self._prefix = self._stored.prefix
        self._manifest: Manifest | None = None  # with all changes up to the sequence number
        self._sequence = -1  # after the last update by this object
        self._begin_anew()
        register_after_fork(self, ManifestStore._begin_anew)
        if not inner.read_only and not self._stored.exists():
            write_manifest(inner, self.path)

    def _begin_anew(self) -> None:
        self._guard = threading.Lock()
        self._flushing = threading.Lock()
        self._writer: str | None = None
        self._ended: set[str] = set()  # former writers that are still recorded
        self._active: dict[str, int] = {}  # changes that have not returned
        self._overlapping: set[str] = set()
        self._changed: dict[str, ManifestEntry | None] = {}
        self._changed_prefixes: set[str] = set()

    # --- the manifest ---

    def flush(self) -> None:
        """Record all changes that have returned; if others are active, they remain to be recorded."""
        self._record_changes()

    def _record_changes(self) -> None:
        with self._flushing:
            with self._guard:
                changed, prefixes = self._changed, self._changed_prefixes
                self._changed, self._changed_prefixes = {}, set()
                if self._writer is not None and not self._active:
                    self._ended.add(self._writer)
                    self._writer = None
                ended = set(self._ended)
            if not changed and not prefixes and not ended:
                return
            try:
                self._record(changed, prefixes, ended)
            except BaseException:
                with self._guard:
                    self._changed = {**dict.fromkeys(changed, _UNKNOWN), **self._changed}
                    self._changed_prefixes |= prefixes
                raise
            with self._guard:
                self._ended -= ended

    def _record(
        self, changed: Mapping[str, ManifestEntry | None], prefixes: set[str], ended: set[str]
    ) -> None:
        new: Changes | None = None
        while new is None:
            old = self._stored.changes()
            mine = {*ended, self._writer}
            others = old.sequence != self._sequence or not mine.issuperset(old.writers)
            records = self._present(changed, prefixes, others)

            def change(
                now: Changes,
                old: Changes = old,
                records: Mapping[str, ManifestEntry | None] = records,
            ) -> Changes | None:
                if now.sequence != old.sequence:
                    return None  # another writer, which may have recorded the same keys
                writers = {it: at for it, at in now.writers.items() if it not in ended}
                return replace(now, writers=writers, records={**now.records, **records})

            new = self._stored.update(change)
        self._follow(new, records, others)
        self._sequence = self._stored.compact(new)

    def _follow(
        self, new: Changes, records: Mapping[str, ManifestEntry | None], others: bool
    ) -> None:
        """Apply recorded changes to the manifest in memory."""
        if others:
            self._manifest = None
        elif self._manifest is not None:
            for key, record in records.items():
                self._manifest.set(key, record)
        self._sequence = new.sequence

    def _present(
        self, changed: Mapping[str, ManifestEntry | None], prefixes: set[str], others: bool
    ) -> dict[str, ManifestEntry | None]:
        """Return the records of changed keys, relative to the path."""
        records = dict(changed)
        if others:
            records = dict.fromkeys(records, _UNKNOWN)
        if prefixes:
            known, _ = self._stored.read()
            present = [*records, *(self._prefix + key for key in known or ())]
            present += [key for it in prefixes for key in keys_below(self.inner, it)]
            for key in present:
                if key.startswith(tuple(prefixes)):
                    records[key] = _UNKNOWN
        unknown = [key for key, record in records.items() if record == _UNKNOWN]
        for key, found in hash_values(self.inner, unknown).items():
            if isinstance(found, StoreReadError):
                raise found
            records[key] = None if found is None else ManifestEntry(*found)
        return {
            key[len(self._prefix) :]: record
            for key, record in records.items()
            if key.startswith(self._prefix)
        }

    def digest(self) -> str:
        """Record all changes and return the digest of the hierarchy."""
        self.flush()
        if self._manifest is None or self._stored.changes().sequence != self._sequence:
            self._manifest, changes = self._stored.read()
            self._sequence = changes.sequence
        return (self._manifest or Manifest()).digest

    def close(self) -> None:
        """Record all changes and close the inner store."""
        try:
            self.flush()
        finally:
            super().close()

    @contextmanager
    def _change_of(self, *keys: str) -> Iterator[dict[str, ManifestEntry | None]]:
        """Record a change of keys and prefixes; the block sets the new records that it knows."""
        records: dict[str, ManifestEntry | None] = {}
        if self.inner.read_only:  # which raises the error
            yield records
            return
        for key in keys:
            (check_prefix if key.endswith("/") else check_key)(key)
        names = [key for key in keys if not is_manifest_key(key)]
        with self._guard:
            if self._writer is None:
                self._add_writer()
            for key in names:
                self._active[key] = count = self._active.get(key, 0) + 1
                if count > 1:
                    self._overlapping.add(key)
        succeeded = False
        try:
            yield records
            succeeded = True
        finally:
            with self._guard:
                for key in names:
                    if key.endswith("/"):
                        self._changed_prefixes.add(key)
                    else:
                        is_known = succeeded and key not in self._overlapping
                        self._changed[key] = records.get(key, _UNKNOWN) if is_known else _UNKNOWN
                    self._active[key] -= 1
                    if not self._active[key]:
                        del self._active[key]
                        self._overlapping.discard(key)

    def _add_writer(self) -> None:
        self._writer, new = self._stored.add_writer()
        if new.sequence == self._sequence + 1:
            self._sequence = new.sequence
        elif not (self._changed or self._changed_prefixes or self._flushing.locked()):
            # Changes by others that are older than all changes of this object.
            self._sequence = new.sequence
            self._manifest = None

    # --- writeable ---

    def set(self, key: str, value: Buffers) -> None:
        if is_manifest_key(key):
            return  # that of a hierarchy that is copied here
        with self._change_of(key) as records:
            self.inner.set(key, value)
            records[key] = entry_of(value)

    def update(self, key: str, change: Change) -> None:
        with self._change_of(key):
            self.inner.update(key, change)

    def erase(self, key: str) -> None:
        with self._change_of(key) as records:
            self.inner.erase(key)
            records[key] = None

    def erase_values(self, keys: Iterable[str]) -> None:
        names = list(keys)
        with self._change_of(*names) as records:
            self.inner.erase_values(names)
            records.update(dict.fromkeys(names))

    def erase_prefix(self, prefix: str) -> None:
        if self._prefix.startswith(prefix):
            # The manifest itself must remain.
            self.erase_values(keys_below(self.inner, prefix))
            return
        with self._change_of(prefix):
            self.inner.erase_prefix(prefix)

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        return (key for key in self.inner.list_prefix(prefix) if not is_manifest_key(key))

    def list_sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        return (item for item in self.inner.list_sizes(prefix) if not is_manifest_key(item[0]))

    def list_dir(self, prefix: str) -> Listing:
        keys, prefixes = self.inner.list_dir(prefix)
        return [key for key in keys if not is_manifest_key(key)], prefixes

    # --- the object ---

    def _arguments(self) -> tuple[Any, ...]:
        return self.inner, self.path
