"""``zarr.config``: settings of zarr-python."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import zarr_core
from zarr.core.config import Config
from zarr.core.config import config as _config_of_zarr_python

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Self

__all__ = ["Settings", "config"]

# Settings that the core has, too, with their names there.
_CORE_NAMES = {
    "array.write_empty_chunks": "write_empty_chunks",
    "threading.max_workers": "threads",
}


class Settings(Config):
    """The class of ``zarr.config``: ``get("a.b")``, ``set({"a.b": value})``.

    ``default_zarr_format``, ``array.order``, ``array.write_empty_chunks`` and
    ``threading.max_workers`` have an effect.
    """

    def set(self, *arguments: Any, **values: Any) -> Change:
        """Change settings immediately; as a context manager, until the end of the block."""
        before = {name: self.get(name, None) for name in _CORE_NAMES}
        changes = [super().set(*arguments, **values)]
        for name, core_name in _CORE_NAMES.items():
            if (value := self.get(name, None)) != before[name]:
                changes.append(zarr_core.config.set(**{core_name: value}))
        return Change(changes)


class Change(ExitStack):
    """Changes that are reverted at the end of a block."""

    def __init__(self, changes: list[AbstractContextManager[Any]]) -> None:
        super().__init__()
        self._changes = changes

    def __enter__(self) -> Self:
        for change in self._changes:
            self.enter_context(change)
        return self


# Another object than that of zarr-python, whose settings do not apply to this library.
config = Settings("zarr", defaults=_config_of_zarr_python.defaults)
"""The settings of this process."""
