"""The metadata documents of one node of version 2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import read_metadata
from zarr_core.threads import concurrent_map

if TYPE_CHECKING:
    from zarr_core.extension import Store


class NodeDocuments:
    """Metadata documents below a prefix, which is empty or ends in ``/``, each read once."""

    __slots__ = ("_found", "prefix", "store")

    def __init__(self, store: Store, prefix: str) -> None:
        self.store = store
        self.prefix = prefix
        self._found: dict[str, bytes | None] = {}

    def get(self, name: str, *likely: str) -> bytes | None:
        """Return a document, or None if it does not exist.

        If the store has latency, those that are ``likely`` to be needed next are read with it.
        """
        if name not in self._found:
            names = (name,) if self.store.max_concurrency is None else (name, *likely)
            missing = [one for one in names if one not in self._found]
            self._found.update(concurrent_map(missing, self._stored, self.store.max_concurrency))
        return self._found[name]

    def _stored(self, name: str) -> bytes | None:
        return read_metadata(self.store, self.prefix + name)
