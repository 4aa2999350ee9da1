"""``zarr.config``: settings under the dotted names of zarr-python."""

from __future__ import annotations

from pprint import pprint
from typing import TYPE_CHECKING, Any

import zarr_core

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Settings", "config"]

_DEFAULTS: dict[str, Any] = {
    "default_zarr_format": 3,
    "array.order": "C",
    "async.concurrency": None,
    "buffer": "zarr.buffer.cpu.Buffer",
    "codec_pipeline.path": "zarr_core.engine",
    "json_indent": 2,
}
# Settings of the core; all others are stored without effect.
_CORE_NAMES = {
    "array.write_empty_chunks": "write_empty_chunks",
    "threading.max_workers": "threads",
}


class Settings:
    """The class of ``zarr.config``: ``get("a.b")``, ``set({"a.b": value})``.

    ``default_zarr_format``, ``array.write_empty_chunks`` and ``threading.max_workers`` have an
    effect.  All other names are stored without effect.
    """

    def __init__(self) -> None:
        self._values = dict(_DEFAULTS)

    def get(self, name: str, default: Any = None, override_with: Any = None) -> Any:
        """Return a setting; for a prefix of dotted names, a dictionary of the settings below."""
        if override_with is not None:
            return override_with
        if name in _CORE_NAMES:
            return getattr(zarr_core.config.settings, _CORE_NAMES[name])
        below = {
            key.removeprefix(f"{name}."): value
            for key, value in list(self._values.items())
            if key.startswith(f"{name}.")
        }
        return self._values.get(name, below or default)

    @property
    def config(self) -> dict[str, Any]:
        """All settings, nested."""
        return _nested({name: self.get(name) for name in (*self._values, *_CORE_NAMES)})

    def set(self, arg: Mapping[str, Any] | None = None, **more: Any) -> Change:
        """Change settings immediately; as a context manager, until the end of the block.

        ``arg`` has values by dotted name, or nested; ``more`` by name with ``__`` for dots.
        """
        changes = _flat(dict(arg or {}) | {key.replace("__", "."): v for key, v in more.items()})
        before = {name: self.get(name) for name in changes}
        self._apply(changes)
        return Change(self, before)

    @property
    def defaults(self) -> list[dict[str, Any]]:
        """The settings before any change, nested, in a list."""
        return [_nested(_DEFAULTS)]

    def to_dict(self) -> dict[str, Any]:
        """Return all settings, nested."""
        return self.config

    def pprint(self) -> None:
        """Print all settings."""
        pprint(self.config)

    def update(self, new: Mapping[str, Any]) -> None:
        """Change settings, nested."""
        self._apply(_flat(dict(new)))

    def enable_gpu(self) -> Change:
        """Use buffers of a GPU in zarr-python's classes; this library reads into NumPy arrays."""
        return self.set(
            {"buffer": "zarr.buffer.gpu.Buffer", "ndbuffer": "zarr.buffer.gpu.NDBuffer"}
        )

    def reset(self) -> None:
        """Reset the settings that are not settings of the core."""
        self._values = dict(_DEFAULTS)

    refresh = clear = reset

    def _apply(self, changes: Mapping[str, Any]) -> None:
        for name, value in changes.items():
            if name in _CORE_NAMES:
                zarr_core.config.set(**{_CORE_NAMES[name]: value})
            else:
                self._values[name] = value


def extend(theirs: Any) -> None:
    """Take the defaults of zarr-python's module for settings without effect."""
    for defaults in theirs.config.defaults:
        _DEFAULTS.update(_flat(defaults))
    config.reset()


class Change:
    """A change of settings that is reverted at the end of a block."""

    def __init__(self, settings: Settings, before: Mapping[str, Any]) -> None:
        self._settings = settings
        self._before = before

    def __enter__(self) -> Settings:
        return self._settings

    def __exit__(self, *_: object) -> None:
        self._settings._apply(self._before)  # noqa: SLF001 - the other half of Settings.set


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for name, value in values.items():
        *parents, last = name.split(".")
        inner = nested
        for parent in parents:
            inner = inner.setdefault(parent, {})
        inner[last] = value
    return nested


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict) and name not in _LEAVES:
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


_LEAVES = ("codecs",)

config = Settings()
"""The settings of this process."""
