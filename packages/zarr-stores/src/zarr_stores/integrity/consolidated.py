"""A read-only view of a store that takes metadata documents from consolidated metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import (
    Location,
    MetadataValidationError,
    NodeNotFoundError,
    ValidationProblem,
    check_key,
    read_metadata,
    strictjson,
)
from zarr_core.stores.memory import MemoryStore

from zarr_stores.databases.database_store import is_key
from zarr_stores.wrappers.read_only import ReadOnlyStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import JSON, Buffer, ByteRange, ByteReader, Store
    from zarr_core.interfaces.store import Listing

__all__ = ["ConsolidatedMetadataStore"]

_ZMETADATA = ".zmetadata"
_ZARR_JSON = "zarr.json"
_INLINE = "consolidated_metadata"
_NAMES = frozenset({".zarray", ".zgroup", ".zattrs", _ZARR_JSON})  # of either version


class ConsolidatedMetadataStore(ReadOnlyStore):
    """A store that reads metadata documents from consolidated metadata.

    All other keys are read from the inner store.  Use it in programs that iterate over keys,
    and with stores that cannot be listed, such as HTTP servers.  ``zarr_core.open_group``
    does not need it: it uses consolidated metadata automatically.

    Parameters
    ----------
    inner : Store
        The store.
    metadata_key : str, optional
        Key of the consolidated metadata: a ``.zmetadata`` of version 2, or the ``zarr.json``
        of a group of version 3.  By default one of them at the root.

    Notes
    -----
    The consolidated metadata is read once, when the object is created; later changes are not
    visible.  It applies to the nodes below the group only.  Groups are listed from the
    consolidated metadata, chunks from the inner store if it supports listing.

    Raises
    ------
    NodeNotFoundError
        If the document does not exist, or contains no consolidated metadata.
    MetadataError
        If the document is not valid.
    """

    def __init__(self, inner: Store, metadata_key: str | None = None) -> None:
        super().__init__(inner)
        self._metadata_key = metadata_key
        self._lists = inner.supports_listing
        self.supports_listing = True
        tried = (_ZMETADATA, _ZARR_JSON) if metadata_key is None else (metadata_key,)
        for key in tried:
            stored = read_metadata(inner, key)
            documents = None if stored is None else _documents(stored, Location(inner, key=key))
            if stored is None or documents is None:
                continue
            self._prefix = key[: key.rfind("/") + 1]
            found = {self._prefix + name: data for name, data in documents.items()}
            self._documents = MemoryStore(
                found | ({key: stored} if key.endswith(_ZARR_JSON) else {})
            )
            return
        raise NodeNotFoundError(
            f"{inner} {' or '.join(map(repr, tried))}", "has no consolidated metadata"
        )

    def _is_document(self, key: str) -> bool:
        check_key(key)
        return key.rpartition("/")[2] in _NAMES and key.startswith(self._prefix)

    def _source(self, key: str) -> Store:
        """Return the store that has the value of a key."""
        return self._documents if self._is_document(key) else self.inner

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        return self._source(key).get(key)

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        return self._source(key).get_limited(key, limit, out)

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        return self._source(key).open_value(key, first)

    def exists(self, key: str) -> bool:
        return self._source(key).exists(key)

    def getsize(self, key: str) -> int | None:
        return self._source(key).getsize(key)

    def generation(self, key: str) -> str | None:
        return self._source(key).generation(key)

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        yield from self._documents.list_prefix(prefix)
        if self._lists:
            yield from (key for key in self.inner.list_prefix(prefix) if not self._is_document(key))

    def list_sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        yield from self._documents.list_sizes(prefix)
        if self._lists:
            found = self.inner.list_sizes(prefix)
            yield from ((key, size) for key, size in found if not self._is_document(key))

    def list_dir(self, prefix: str) -> Listing:
        keys, prefixes = self._documents.list_dir(prefix)
        if self._lists and not self._is_group(prefix):
            more, further = self.inner.list_dir(prefix)
            keys += [key for key in more if not self._is_document(key)]
            prefixes = [*dict.fromkeys([*prefixes, *further])]
        return keys, prefixes

    def _is_group(self, prefix: str) -> bool:
        if self._documents.exists(f"{prefix}.zgroup"):
            return True
        stored = self._documents.get(f"{prefix}{_ZARR_JSON}")
        if stored is None:
            return False
        document = strictjson.loads(stored, f"{self} {prefix!r}", constants=True)
        return isinstance(document, dict) and document.get("node_type") == "group"

    def _arguments(self) -> tuple[Any, ...]:
        return self.inner, self._metadata_key


def _documents(stored: Buffer, location: Location) -> dict[str, bytes] | None:
    """Return the metadata documents by key, relative to the group; None if there are none."""
    document = _object(strictjson.loads(stored, location, constants=True), location, "")
    if not str(location.key).endswith(_ZARR_JSON):
        documents = _object(document.get("metadata"), location, "/metadata")
    elif document.get(_INLINE) is None:
        return None
    else:
        envelope = _object(document[_INLINE], location, f"/{_INLINE}")
        nodes = _object(envelope.get("metadata"), location, f"/{_INLINE}/metadata")
        documents = {f"{path}/{_ZARR_JSON}": node for path, node in nodes.items()}
    return {name: strictjson.encode(it) for name, it in documents.items() if is_key(name)}


def _object(value: JSON, location: Location, pointer: str) -> dict[str, JSON]:
    if not isinstance(value, dict):
        raise MetadataValidationError(location, [ValidationProblem(pointer, "must be an object")])
    return value
