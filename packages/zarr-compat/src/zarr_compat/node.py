"""The base class of arrays and groups, which wraps a node of the core."""

from __future__ import annotations

import functools
import inspect
from abc import abstractmethod
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import zarr_core

from zarr_compat.adapt import adapt, wrap_result
from zarr_compat.asynchronous import AsyncNode
from zarr_compat.attributes import Attributes, LiveAttributes
from zarr_compat.storage import StorePath, wrap_store
from zarr_compat.wrapper import Wrapper

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from zarr_compat.store import Store

C = TypeVar("C", zarr_core.Array, zarr_core.Group)


class Node(Wrapper, Generic[C]):
    """An array or group; attributes that are not defined here are those of the core.

    Parameters
    ----------
    core : zarr_core.Array, zarr_core.Group, AsyncNode or store-like
        The node; for a store, as in zarr-python 2, the node at a path in it is opened.
    store : Store, optional
        The value of :attr:`store`, if the user passed a store.  As in zarr-python 2, a string is
        the path.
    **options
        Arguments of zarr-python 2 for opening a node.
    """

    def __init_subclass__(cls, wraps: type | None = None, **options: Any) -> None:
        super().__init_subclass__(wraps=wraps, **options)
        for name in dir(wraps):
            if not name.startswith("_") and not hasattr(cls, name):
                setattr(cls, name, _forwarded(wraps, name))

    def __init__(self, core: Any = None, store: Any = None, **options: Any) -> None:
        for name in ("_async_array", "_async_group"):  # names of the argument in zarr-python 3
            core = options.pop(name, core)
        if not isinstance(core, zarr_core.Array | zarr_core.Group | AsyncNode):
            if isinstance(store, str):
                options["path"] = store
            opened = self._open(core, **options)
            core, store = opened.core, opened.user_store
        elif options:
            raise TypeError(f"a node has no arguments {sorted(options)}")
        live = None
        if isinstance(core, AsyncNode):
            live = core.node.live_attributes
            core, store = core.node.core, core.node.user_store
        self.core: C = core
        """The node of the core."""
        self.user_store: Store | None = store
        if live is not None:
            self.live_attributes = live

    @functools.cached_property
    def live_attributes(self) -> LiveAttributes:
        """The values of the attributes, which programs change in place."""
        return LiveAttributes.of(self.core)

    @classmethod
    @abstractmethod
    def _open(
        cls, store: Any, *, path: str | None = None, read_only: bool = False, **options: Any
    ) -> Any:
        """Open the node of this class at a path in a store, as zarr-python 2 does."""

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self.core)})

    @property
    def store(self) -> Store:
        """The store; the same object if the user passed one."""
        if self.user_store is None:
            self.user_store = wrap_store(self.core.store)
        return self.user_store

    @property
    def store_path(self) -> StorePath:
        """The store and the path in it."""
        return StorePath(self.store, self.core.path)

    @property
    def attrs(self) -> Attributes:
        """The attributes."""
        return Attributes(self)

    @attrs.setter
    def attrs(self, attributes: Mapping[str, Any]) -> None:
        self.attrs.put(attributes)

    def update_attributes(self, new_attributes: Mapping[str, Any]) -> Self:
        """Set some attributes, keep the others, and return the node."""
        self.attrs.update(new_attributes)
        return self

    @property
    def info(self) -> Any:
        """Information about the node, as a table."""
        rows = self.core.info
        # ome-zarr and its tests read them.
        vars(rows)["_zarr_format"] = self.core.zarr_format
        vars(rows)["_compressors"] = getattr(self, "compressors", ())
        return rows

    @property
    def synchronizer(self) -> None:
        """None: stores synchronize writers themselves."""
        return

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.core == other.core

    def __hash__(self) -> int:
        return hash(self.core)

    def __repr__(self) -> str:
        return repr(self.core)

    def _repr_html_(self) -> str | None:
        html: str | None = self.core._repr_html_()
        return html

    def __reduce__(self) -> tuple[Any, ...]:
        known = vars(self).get("live_attributes")
        return type(self), (self.core, self.user_store), known and {"live_attributes": known}


def _forwarded(wraps: type | None, name: str) -> Any:
    """Return a method or property that calls that of the core, adapted."""
    theirs = inspect.getattr_static(wraps, name)
    if not isinstance(theirs, FunctionType):
        return property(
            lambda node: wrap_result(getattr(node.core, name), node.store), doc=theirs.__doc__
        )

    @functools.wraps(theirs)
    def call(self: Node[Any], *arguments: Any, **options: Any) -> Any:
        return adapt(getattr(self.core, name), self.store)(*arguments, **options)

    return call
