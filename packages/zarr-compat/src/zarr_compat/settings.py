"""``zarr.config``: settings of zarr-python."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import zarr_core
from zarr.core.config import Config
from zarr.core.config import config as _config_of_zarr_python

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

__all__ = ["Settings", "config"]

# Settings that the core has, too, with their names there and their defaults in zarr-python.
_CORE_NAMES = {
    "array.write_empty_chunks": ("write_empty_chunks", False),
    "threading.max_workers": ("threads", None),
}
_applied: dict[str, Any] = dict(_CORE_NAMES.values())


class Settings(Config):
    """The class of ``zarr.config``: ``get("a.b")``, ``set({"a.b": value})``.

    ``default_zarr_format``, ``array.order``, ``array.write_empty_chunks`` and
    ``threading.max_workers`` have an effect.
    """

    def set(self, *arguments: Any, **values: Any) -> AbstractContextManager[Any]:
        """Change settings immediately; as a context manager, until the end of the block."""
        change = super().set(*arguments, **values)
        self._apply()
        return self._until_the_end(change)

    @contextmanager
    def _until_the_end(self, change: AbstractContextManager[Any]) -> Iterator[Any]:
        try:
            with change as values:
                yield values
        finally:
            self._apply()

    def refresh(self, **options: Any) -> None:
        """Read the defaults, files and environment variables again."""
        super().refresh(**options)
        self._apply()

    def update(self, *arguments: Any, **options: Any) -> None:
        """Change settings by a nested dictionary."""
        super().update(*arguments, **options)
        self._apply()

    def _apply(self) -> None:
        """Change the settings of the core that differ from those that were applied last."""
        for name, (core_name, default) in _CORE_NAMES.items():
            value = self.get(name, default)
            if value != _applied[core_name]:
                zarr_core.config.set(**{core_name: value})
                _applied[core_name] = value


# Another object than that of zarr-python, whose settings do not apply to this library.
config = Settings("zarr", defaults=_config_of_zarr_python.defaults)
"""The settings of this process."""
