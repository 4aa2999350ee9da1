"""A node: one of the core, behind the names of zarr-python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

import zarr_core

from zarr_compat.adapting import adapted, result_of
from zarr_compat.metadata import MetadataView
from zarr_compat.storage import StorePath, store_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_compat.store import Store

C = TypeVar("C", zarr_core.Array, zarr_core.Group)


class Node(Generic[C]):
    """An array or group; what has no definition here is that of the core.

    Parameters
    ----------
    core : zarr_core.Array or zarr_core.Group
        The node.
    store : Store, optional
        What :attr:`store` shows, if the program gave it one.
    """

    def __init__(self, core: C, store: Store | None = None) -> None:
        self.core: C = core
        """The node of the core."""
        self.shown_store = store

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # also while a copy is made, which has no core yet
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = getattr(self.core, name)
        if callable(found) and not isinstance(found, zarr_core.Array | zarr_core.Group):
            return adapted(found, self.store)
        return result_of(found, self.store)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self.core)})

    @property
    def store(self) -> Store:
        """Where it is stored; the object that the program gave, if it gave one."""
        if self.shown_store is None:
            self.shown_store = store_for(self.core.store)
        return self.shown_store

    @property
    def store_path(self) -> StorePath:
        """The store with the path in it."""
        return StorePath(self.store, self.core.path)

    @property
    def metadata(self) -> MetadataView:
        """The metadata, by the names that they have in the format of the node."""
        return MetadataView(self.core)

    @property
    def attrs(self) -> Any:
        """The attributes."""
        return self.core.attrs

    @attrs.setter
    def attrs(self, attributes: Mapping[str, Any]) -> None:
        self.core.attrs = attributes

    @property
    def info(self) -> Any:
        """What the node is, as a table."""
        found = self.core.info
        vars(found)["_zarr_format"] = self.core.zarr_format  # where ome-zarr looks
        return found

    @property
    def synchronizer(self) -> None:
        """None: stores exclude writers from each other."""
        return

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.core == other.core

    def __hash__(self) -> int:
        return hash(self.core)

    def __repr__(self) -> str:
        return repr(self.core)

    def _repr_html_(self) -> str:
        html: str = self.core._repr_html_()
        return html

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.core, self.shown_store)
