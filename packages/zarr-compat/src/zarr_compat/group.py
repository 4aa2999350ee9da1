"""The class ``zarr.Group``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import zarr_core

from zarr_compat.adapt import adapt, wrap_result
from zarr_compat.asynchronous import AsyncGroup
from zarr_compat.node import Node

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

__all__ = ["Group"]


class Group(Node[zarr_core.Group], wraps=zarr_core.Group):
    """A group of the core with the interface of zarr-python."""

    def __getitem__(self, path: str) -> Any:
        return wrap_result(self.core[path], self.store)

    def __setitem__(self, path: str, value: Any) -> None:
        adapt(self.core.__setitem__)(path, value)

    def __delitem__(self, path: str) -> None:
        del self.core[path]

    def __contains__(self, path: object) -> bool:
        return path in self.core

    def __iter__(self) -> Iterator[str]:
        return iter(self.core)

    def __len__(self) -> int:
        return len(self.core)

    def __bool__(self) -> bool:
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def require_group(self, name: str, **options: Any) -> Group:
        """Return the group of a name, and create it if it does not exist.

        ``"/"`` is the group itself: programs clear a store, then require its root again.
        """
        if name.strip("/"):
            found: Group = adapt(self.core.require_group, self.store)(name, **options)
            return found
        core = self.core
        again = zarr_core.open_group(core.store, "a", path=core.path, zarr_format=core.zarr_format)
        return Group(again, self.store)

    def require_array(self, name: str, shape: Any = None, **options: Any) -> Any:
        """Return the array of a name, and create it if it does not exist.

        As in zarr-python, only shape and dtype of an existing array are compared.
        """
        if name in self.core:
            compared = ("dtype", "exact", "data")
            options = {key: value for key, value in options.items() if key in compared}
        return adapt(self.core.require_array, self.store)(name, shape, **options)

    require_dataset = require_array

    @property
    def async_(self) -> AsyncGroup:
        """The group with asynchronous methods."""
        return AsyncGroup(self)

    async_group = _async_group = async_
