"""A store that compares every value with a manifest when it is read."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from zarr_core.extension import (
    BufferByteReader,
    StoreReadError,
    check_key,
    check_prefix,
)

from zarr_stores.integrity.manifest import (
    Manifest,
    ManifestEntry,
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

    from zarr_core.extension import Buffer, ByteRange, ByteReader, Store
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
        The manifest of all keys, or the file that has it; by default the one that is in the store.
        For the manifest of a node below, pass a :class:`~zarr_stores.wrappers.prefix.PrefixStore`.

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
        self, inner: Store, manifest: Manifest | str | os.PathLike[str] | None = None
    ) -> None:
        super().__init__(inner)
        if manifest is None:
            self._manifest, _ = find_manifest(inner, "")
        else:
            self._manifest = load_manifest(manifest)
        self._keys = SortedKeys(self._manifest)
        self.supports_listing = True
        self.in_memory = True

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        if is_manifest_key(check_key(key)):
            return self.inner.get(key)
        value, problem = self._read(key)
        if problem and self.max_concurrency is not None:
            self.discard_cached(key)
            value, problem = self._read(key)
            problem = problem and f"{problem}, also when it was read again"
        if problem:
            raise StoreReadError(f"the value is not verified: it {problem}", self, key)
        return value

    def _read(self, key: str) -> tuple[Buffer | None, str | None]:
        """Return a value, and how it differs from the manifest; None if it does not differ."""
        expected = self._manifest.get(key)
        value = self.inner.get_limited(key, 0 if expected is None else expected.size)
        actual: ManifestEntry | None = None
        if isinstance(value, int):  # longer than in the manifest
            actual, value = ManifestEntry(value, ""), None
        elif value is not None:
            actual = ManifestEntry(len(value), sha256(value).hexdigest())
        differs = difference(actual, expected)
        return value, None if differs is None else differs[1]

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        value = self.get(key)
        return None if value is None else BufferByteReader(value)

    def getsize(self, key: str) -> int | None:
        if is_manifest_key(check_key(key)):
            return self.inner.getsize(key)
        entry = self._manifest.get(key)
        return None if entry is None else entry.size

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        return self._keys.below(check_prefix(prefix))

    def list_sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        return ((key, self._manifest[key].size) for key in self.list_prefix(prefix))

    def list_dir(self, prefix: str) -> Listing:
        return self._keys.list_dir(check_prefix(prefix))

    # --- the object ---

    def _arguments(self) -> tuple[Any, ...]:
        return self.inner, self._manifest
