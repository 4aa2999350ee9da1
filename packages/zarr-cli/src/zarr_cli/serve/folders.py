"""What lies around hierarchies: prefixes of a store that are no nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_core.extension import StoreCapabilityError

from zarr_cli.serve.asked import NotThereError, open_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core import Array, Group
    from zarr_core.extension import Store


def holds_anything(store: Store, path: str) -> bool:
    """Whether any key begins with a path; what cannot be listed may hold something."""
    try:
        return any(store.list_dir(f"{path}/" if path else ""))
    except StoreCapabilityError:
        return True


@dataclass(frozen=True, slots=True)
class Folder:
    """A prefix that is no node, with the names directly below it.

    Parameters
    ----------
    store : Store
        What is served.
    root, path : str
        The path in it that is served; that of the folder.
    """

    store: Store
    root: str
    path: str

    def __iter__(self) -> Iterator[str]:
        """Names, sorted; hidden ones are left out.

        Raises
        ------
        NotThereError
            If nothing lies below.
        """
        prefix = f"{self.path}/" if self.path else ""
        if not self.store.supports_listing:
            raise NotThereError(self.path)
        keys, prefixes = self.store.list_dir(prefix)
        if not keys and not prefixes:
            raise NotThereError(self.path)
        names = (below[len(prefix) :].rstrip("/") for below in prefixes)
        return iter(sorted(name for name in names if not name.startswith(".")))

    def __getitem__(self, name: str) -> Array | Group:
        """The node of a name.

        Raises
        ------
        NotThereError
            If it is a folder, too.
        """
        return open_node(self.store, self.root, f"{self.path}/{name}" if self.path else name)
