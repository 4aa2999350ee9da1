"""A store that compares every value with a manifest when it is read."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from zarr_core.extension import (
    BufferByteReader,
    Store,
    StoreReadError,
    check_key,
    check_prefix,
)
from zarr_core.names import normalise_path

from zarr_stores.integrity.manifest import (
    Manifest,
    difference,
    is_manifest_key,
    load_manifest,
)
from zarr_stores.integrity.verify import find_manifest
from zarr_stores.sorted_keys import SortedKeys
from zarr_stores.wrappers.read_only import ReadOnlyStore

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from zarr_core.extension import Buffer, ByteRange, ByteReader
    from zarr_core.interfaces.store import Listing


__all__ = ["VerifiedStore"]


class VerifiedStore(ReadOnlyStore):
    """A read-only view of a hierarchy that returns only values that are in its manifest.

    A value that differs, is missing or is not in the manifest raises an error that names its key.
    Listings contain the keys of the manifest, also if the store cannot be listed.

    Parameters
    ----------
    inner : Store
        The store.
    manifest : Manifest or path, optional
        The manifest, or the file that has it.  By default the one that is stored at the path or
        above it.
    path : str
        Path of the node that the manifest describes.  Values outside it are not compared.

    Notes
    -----
    Values are always read as a whole, also if only a part is needed; a
    :class:`~zarr_stores.cache.lru_cache.LRUCacheStore` around this store keeps them for the next part.  A
    value that differs is read once more from a store with latency.

    Raises
    ------
    NodeNotFoundError
        If the manifest does not exist.
    StoreError
        If the manifest is not valid.
    """

    def __init__(
        self,
        inner: Store,
        manifest: Manifest | str | os.PathLike[str] | None = None,
        path: str = "",
    ) -> None:
        super().__init__(inner)
        self.path = normalise_path(path)
        if manifest is None:
            self._manifest, self.path = find_manifest(inner, self.path)
        else:
            self._manifest = load_manifest(manifest)
        self._prefix = f"{self.path}/" if self.path else ""
        self._keys = SortedKeys(self._manifest)
        self.supports_listing = True
        self.in_memory = True

    def _verified(self, key: str, value: Buffer | int | None) -> Buffer | None:
        """Return a value if it is in the manifest; read it again if it differs."""
        name = self._described(key)
        if name is None:
            return None if isinstance(value, int) else value
        expected = self._manifest.get(name)
        problem = difference(_found(value), expected)
        if problem and self.max_concurrency is not None:
            self.discard_cached(key)
            value = self._get(key)
            problem = difference(_found(value), expected)
        if problem is None:
            assert not isinstance(value, int)
            return value
        again = ", also when it was read again" if self.max_concurrency is not None else ""
        raise StoreReadError(f"the value is not verified: it {problem[1]}{again}", self, key)

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        return self._verified(key, self._get(key))

    def _get(self, key: str) -> Buffer | int | None:
        """Return a value; its length if it is longer than in the manifest."""
        name = self._described(key)
        if name is None:
            return self.inner.get(key)
        expected = self._manifest[name].size if name in self._manifest else 0
        return self.inner.get_limited(key, expected)

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        value = self.get(key)
        return None if value is None else BufferByteReader(value)

    def _described(self, key: str) -> str | None:
        """Return the key in the manifest; None if the manifest does not describe it."""
        check_key(key)
        if not key.startswith(self._prefix) or is_manifest_key(key):
            return None
        return key[len(self._prefix) :]

    def exists(self, key: str) -> bool:
        name = self._described(key)
        return self.inner.exists(key) if name is None else name in self._manifest

    def getsize(self, key: str) -> int | None:
        name = self._described(key)
        if name is None:
            return self.inner.getsize(key)
        return self._manifest[name].size if name in self._manifest else None

    # --- listable ---

    def _within(self, prefix: str) -> str | None:
        """Return the prefix in the manifest; None if the manifest does not describe it."""
        check_prefix(prefix)
        return prefix[len(self._prefix) :] if prefix.startswith(self._prefix) else None

    def list_prefix(self, prefix: str) -> Iterator[str]:
        within = self._within(prefix)
        if within is None:
            return (key for key in self.inner.list_prefix(prefix) if not is_manifest_key(key))
        return map(self._prefix.__add__, self._keys.below(within))

    def list_sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        within = self._within(prefix)
        if within is None:
            return Store.list_sizes(self, prefix)
        sizes = ((key, self._manifest[key].size) for key in self._keys.below(within))
        return ((self._prefix + key, size) for key, size in sizes)

    def list_dir(self, prefix: str) -> Listing:
        within = self._within(prefix)
        if within is None:
            return self.inner.list_dir(prefix)
        keys, prefixes = self._keys.list_dir(within)
        return [self._prefix + key for key in keys], [self._prefix + it for it in prefixes]

    # --- the object ---

    def _arguments(self) -> tuple[Any, ...]:
        return self.inner, self._manifest, self.path


def _found(value: Buffer | int | None) -> tuple[int, str] | None:
    """Return the size and hash of a value, or of one that is longer than in the manifest."""
    if value is None or isinstance(value, int):
        return None if value is None else (value, "")
    return len(value), sha256(value).hexdigest()
