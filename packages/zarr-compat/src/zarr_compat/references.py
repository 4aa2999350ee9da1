"""Writing to references of fsspec, which stay in memory, as kerchunk does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import StoreError, WrapperStore, check_key, check_prefix
from zarr_core.interfaces.store import to_bytes

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, MutableMapping

    from zarr_core.extension import Buffers, Store

__all__ = ["WritableReferences", "is_reference_file_system"]


def is_reference_file_system(fs: Any) -> bool:
    """Whether a file system is the ``ReferenceFileSystem`` of fsspec, or derived from it."""
    return any(kind.__name__ == "ReferenceFileSystem" for kind in type(fs).__mro__)


class WritableReferences(WrapperStore):
    """References of a file system of fsspec; values that are written are added to them.

    Files to which references refer are not changed.

    Parameters
    ----------
    reader : Store
        The read-only store of the file system, which reads the same references.
    references : mapping
        The references of the file system by key.
    prefix : str
        What precedes the keys of the store; empty, or with a final ``/``.
    """

    def __init__(self, reader: Store, references: MutableMapping[str, Any], prefix: str) -> None:
        super().__init__(reader)
        self.read_only, self.supports_listing = False, True
        self._references = references
        self._prefix = check_prefix(prefix)
        self._is_changed = False

    def exists(self, key: str) -> bool:
        return self._prefix + check_key(key) in self._references

    def set(self, key: str, value: Buffers) -> None:
        self._references[self._prefix + check_key(key)] = to_bytes(value)
        self._is_changed = True

    def erase(self, key: str) -> None:
        self._references.pop(self._prefix + check_key(key), None)
        self._is_changed = True

    def list_prefix(self, prefix: str) -> Iterator[str]:
        below = self._prefix + check_prefix(prefix)
        keys = [key for key in self._references if key.startswith(below)]
        return iter(key.removeprefix(self._prefix) for key in keys)

    @property
    def identity(self) -> Hashable:
        """Location for comparisons: the references in memory."""
        return id(self._references), self._prefix

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the reader, as another process could not change the references of this one."""
        if self._is_changed:
            raise StoreError(
                "cannot be pickled, because the references that were written are in the memory of "
                "this process; save them with save_json() of the file system, and open the file",
                store=self,
            )
        return _same, (self.inner,)


def _same(store: Store) -> Store:
    return store
