"""Settings of this process."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field, fields, replace
from itertools import count
from threading import RLock, get_ident
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Never


# Extension points for which ``providers`` selects a distribution.
_EXTENSION_POINTS = (
    "codec",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "chunk_memory_layout",
    "storage_transformer",
    "extension",
    "format",
    "store",
    "display",
    "native",
)


@dataclass(frozen=True)
class Settings:
    """The settings.

    Parameters
    ----------
    threads : int, optional
        Number of threads that process the chunks of one call, including the calling thread; 0 and
        1 mean no other threads.  None: the number of available processors.
        Environment: ``ZARR_CORE_THREADS``.
    providers : mapping of str to str
        The distribution for an extension that several provide, such as
        ``{"codec.gzip": "zarr-codecs"}``, or an alternative of a distribution, such as
        ``"zarr-codecs[isal]"``.
        Environment: ``ZARR_CORE_PROVIDERS="codec.gzip=zarr-codecs,..."``.
    fallback : {"error", "warn", "use"}
        For unknown data types with a fallback: raise an error, or use the fallback (read-only)
        with or without a warning.
    write_empty_chunks : bool
        Whether chunks that contain only the fill value are stored.
    missing_chunks : {"fill", "error"}
        Whether a missing chunk reads as the fill value or raises an error.
    default_compressors
        The ``compressors`` of new arrays for which none are given, in the forms that
        :func:`zarr_core.create_array` accepts; None for no compression.  ``"auto"``: the default of
        the format.
    reserved_names : {"error", "warn"}
        Whether creating a node with a reserved name (``__...``) is an error or a warning.
        Existing nodes are opened, listed and copied in either case.
        Environment: ``ZARR_CORE_RESERVED_NAMES``.
    disabled_plugins : frozenset of str
        Distributions whose extensions and hooks are not used; ``"*"`` for all except zarr-core.
        Environment: ``ZARR_CORE_DISABLE_PLUGINS="a,b"``.
    native : {"auto", "off", "require"}
        Whether compiled code processes the chunks of arrays that are opened from now on: where it
        can, never, or always, so that reading or writing any other array is an error.
        Environment: ``ZARR_CORE_NATIVE``.
    chunk_cache : CachePool, optional
        Memory in which the arrays that are opened or created from now on keep decoded chunks: a
        ``zarr_stores.cache.CachePool``.  None: chunks are not kept.
    max_metadata_nbytes : int, optional
        Maximum size of a metadata document in bytes (by default 256 MiB), including consolidated
        metadata and references.  Reading may need several times as much memory.  None: no limit.
        Environment: ``ZARR_CORE_MAX_METADATA_NBYTES``.
    encoded_slack_nbytes : int, optional
        Bytes that a stored chunk, and each step of decoding it, may take in addition to 1.5 times
        its decoded size (by default 16 MiB); of chunks of text and other elements of variable
        length, 16 times as much and 1 MiB for each element.  Larger ones are damaged or hostile,
        and are not read.  Applies to arrays that are opened from now on.  None: no limit.
        Environment: ``ZARR_CORE_ENCODED_SLACK_NBYTES``.
    remote_memory_nbytes : int
        Memory in bytes, in addition to results, for large chunks of remote stores that are received
        and decoded at the same time (by default 24 MiB).  More memory is faster if one connection
        does not use the whole network.  One chunk is always read, however large it is.
        Environment: ``ZARR_CORE_REMOTE_MEMORY_NBYTES``.
    """

    threads: int | None = None
    providers: Mapping[str, str] = field(default_factory=dict)
    fallback: Literal["error", "warn", "use"] = "warn"
    write_empty_chunks: bool = False
    missing_chunks: Literal["fill", "error"] = "fill"
    default_compressors: Any = "auto"
    reserved_names: Literal["error", "warn"] = "error"
    disabled_plugins: frozenset[str] = frozenset()
    native: Literal["auto", "off", "require"] = "auto"
    chunk_cache: Any = None
    max_metadata_nbytes: int | None = 1 << 28
    encoded_slack_nbytes: int | None = 1 << 24
    remote_memory_nbytes: int = 3 << 23


# The settings on which cached extensions depend: their classes, and the limits of codec chains.
_CACHED = ("providers", "disabled_plugins", "fallback", "encoded_slack_nbytes")
_counter = count()
_guard = RLock()


def _next_version() -> int:
    with _guard:  # counters are not atomic in free-threaded interpreters
        return next(_counter)


class Config:
    """The current settings, and the method to change them.

    Examples
    --------
    >>> import zarr_core
    >>> with zarr_core.config.set(threads=0):
    ...     zarr_core.config.settings.threads
    0
    """

    def __init__(self) -> None:
        self._settings: Settings | None = None
        self._active: list[_Change] = []
        self._last: dict[str, _Change] = {}  # the change that set a field, until it is undone
        self.version = _next_version()
        """Changes whenever a name can resolve to another class; part of the keys of caches."""

    def __repr__(self) -> str:
        return f"<Config {self.settings}>"

    @property
    def settings(self) -> Settings:
        """The current settings; the environment is read at first use."""
        settings = self._settings
        if settings is None:
            with _guard:  # another thread may have read it, and changed it
                settings = self._settings
                if settings is None:
                    settings = self._settings = _from_environment()
        return settings

    def __getitem__(self, name: str) -> Never:
        raise TypeError("use config.settings, such as config.settings.threads")

    if not TYPE_CHECKING:  # a type checker would permit every attribute

        def __getattr__(self, name: str) -> Never:
            message = "use config.settings, such as config.settings.threads, or config.set"
            raise AttributeError(f"config has no attribute {name!r}; {message}", name=name)

    def set(self, settings: Mapping[str, Any] | None = None, /, **changes: Any) -> _Change:
        """Change settings immediately; as a context manager, until the end of the block.

        All threads of the process have the same settings.  The end of a block restores the settings
        that were changed at its beginning, except those that another thread has changed since.

        Parameters
        ----------
        settings, **changes
            Fields of :class:`Settings`, as a mapping or as keyword arguments.

        Raises
        ------
        TypeError
            If a setting is unknown.
        ValueError
            If a value is invalid.
        """
        changes = {**(settings or {}), **changes}
        known = {item.name for item in fields(Settings)}
        if unknown := sorted(changes.keys() - known):
            raise TypeError(
                f"unknown setting: {', '.join(unknown)}; must be one of {', '.join(sorted(known))}"
            )
        with _guard:
            before = self.settings
            self._apply(_checked(replace(before, **changes)))
            change = _Change(self, {name: getattr(before, name) for name in changes})
            self._last.update(dict.fromkeys(changes, change))
        return change

    def _apply(self, settings: Settings) -> None:
        before, self._settings = self.settings, settings
        if any(getattr(before, name) != getattr(settings, name) for name in _CACHED):
            self.invalidate_caches()

    def _undo(self, change: _Change) -> None:
        with _guard:
            self._active.remove(change)
            restored = {}
            for name, value in change.before.items():
                last = self._last.get(name)
                later = [
                    it for it in self._active if it.number > change.number and name in it.before
                ]
                if later:  # it ends after this one, and restores what was before both
                    min(later, key=lambda it: it.number).before[name] = value
                elif last is None or last.thread == change.thread:
                    restored[name] = value
                    self._last.pop(name, None)
            self._apply(replace(self.settings, **restored))

    def invalidate_caches(self) -> None:
        """Change :attr:`version`."""
        self.version = _next_version()


class _Change:
    """A change that can be undone."""

    def __init__(self, config: Config, before: dict[str, Any]) -> None:
        self._config = config
        self.before = before
        self.number = _next_version()
        self.thread = get_ident()

    def __enter__(self) -> None:
        with _guard:
            self._config._active.append(self)  # noqa: SLF001 - part of Config.set

    def __exit__(self, *_: object) -> None:
        self._config._undo(self)  # noqa: SLF001 - part of Config.set


_CHOICES = {
    "fallback": ("error", "warn", "use"), "missing_chunks": ("fill", "error"),
    "reserved_names": ("error", "warn"), "native": ("auto", "off", "require"),
}  # fmt: skip
# The lowest value of settings that are integers; None is no limit, except for the last.
_LOWEST = {
    "threads": 0, "max_metadata_nbytes": 1, "encoded_slack_nbytes": 1, "remote_memory_nbytes": 1
}  # fmt: skip


def _checked(settings: Settings) -> Settings:
    for name, lowest in _LOWEST.items():
        value = getattr(settings, name)
        none = "" if name == "remote_memory_nbytes" else "None or "
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        if not (none if value is None else is_integer and value >= lowest):
            raise ValueError(f"{name} must be {none}an integer of at least {lowest}, not {value!r}")
    for name, choices in _CHOICES.items():
        if (value := getattr(settings, name)) not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
    if isinstance(settings.chunk_cache, int):
        raise ValueError(
            "chunk_cache must be a zarr_stores.cache.CachePool, such as "
            f"CachePool({settings.chunk_cache!r}), not a number"
        )
    for name, choice in settings.providers.items():
        extension_point, _, extension = name.partition(".")
        if not choice:
            raise ValueError(
                f"providers must name a distribution for {name!r}, such as 'zarr-codecs'; "
                'in the environment, ZARR_CORE_PROVIDERS="codec.gzip=zarr-codecs"'
            )
        if extension_point not in _EXTENSION_POINTS or not extension:
            raise ValueError(
                f"a key of providers must be an extension point and a name, such as 'codec.gzip', not "
                f"{name!r}; the extension points are {', '.join(_EXTENSION_POINTS)}"
            )
    disabled: object = settings.disabled_plugins
    if isinstance(disabled, str):
        raise ValueError(
            "disabled_plugins must be a collection of names of distributions, such as "
            f"{{{disabled!r}}}, not a string"
        )
    return replace(settings, disabled_plugins=frozenset(settings.disabled_plugins))


def _integer(text: str) -> int | str:
    return int(text) if text.isdecimal() else text  # a string is refused by the setting


def _providers(text: str) -> dict[str, str]:
    pairs = (item.partition("=") for item in text.split(",") if item.strip())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.split(","))


_VARIABLES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "ZARR_CORE_THREADS": ("threads", _integer),
    "ZARR_CORE_PROVIDERS": ("providers", _providers),
    "ZARR_CORE_RESERVED_NAMES": ("reserved_names", str),
    "ZARR_CORE_NATIVE": ("native", str),
    "ZARR_CORE_DISABLE_PLUGINS": ("disabled_plugins", _names),
    "ZARR_CORE_MAX_METADATA_NBYTES": ("max_metadata_nbytes", _integer),
    "ZARR_CORE_ENCODED_SLACK_NBYTES": ("encoded_slack_nbytes", _integer),
    "ZARR_CORE_REMOTE_MEMORY_NBYTES": ("remote_memory_nbytes", _integer),
}


def _from_environment() -> Settings:
    settings = Settings()
    for variable, (name, parse) in _VARIABLES.items():
        if text := os.environ.get(variable):
            try:
                settings = _checked(replace(settings, **{name: parse(text)}))
            except ValueError as error:
                raise ValueError(f"environment variable {variable}: {error}") from None
    return settings


config = Config()
"""The settings of this process."""


def _after_fork() -> None:
    # A lock that another thread held during the fork would never be released.
    global _guard
    _guard = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def max_encoded_nbytes(nbytes: int | None, count: int = 0) -> int:
    """Return the largest size that encoded bytes may have, in bytes, by the settings.

    Parameters
    ----------
    nbytes : int or None
        The size that they decode to; None if it depends on the values.
    count : int
        The number of elements.
    """
    slack = config.settings.encoded_slack_nbytes
    if slack is None:
        return sys.maxsize
    return 16 * slack + (count << 20) if nbytes is None else nbytes + nbytes // 2 + slack
