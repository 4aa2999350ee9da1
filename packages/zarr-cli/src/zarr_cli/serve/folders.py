"""Folders: prefixes of a store that are not nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_core.extension import StoreCapabilityError

from zarr_cli.serve.query import NodeMissingError, open_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core import Array, Group
    from zarr_core.extension import Store


def has_keys(store: Store, path: str) -> bool:
    """Whether any key begins with a path; True if the store cannot list its keys."""
    try:
        return any(store.list_dir(f"{path}/" if path else ""))
    except StoreCapabilityError:
        return True


@dataclass(frozen=True, slots=True)
class Folder:
    """A prefix that is not a node, with the names directly below it; ``root`` is the served path."""

    store: Store
    root: str
    path: str

    def __iter__(self) -> Iterator[str]:
        """Iterate over the sorted names, without hidden ones."""
        prefix = f"{self.path}/" if self.path else ""
        if not self.store.supports_listing:
            raise NodeMissingError(self.path)
        keys, prefixes = self.store.list_dir(prefix)
        if not keys and not prefixes:
            raise NodeMissingError(self.path)
        names = (below[len(prefix) :].rstrip("/") for below in prefixes)
        return iter(sorted(name for name in names if not name.startswith(".")))

    def __getitem__(self, name: str) -> Array | Group:
        """Open the node with a name."""
        return open_node(self.store, self.root, f"{self.path}/{name}" if self.path else name)
