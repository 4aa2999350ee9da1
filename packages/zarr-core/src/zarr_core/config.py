"""Settings of this process."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import count
from threading import RLock, get_ident
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable


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


_MAX_VERSIONS = 64
_counter = count()
_guard = RLock()


class Config:
    """The current settings, and the method to change them.

    Examples
    --------
    >>> import zarr_core
    >>> with zarr_core.config.set(threads=0):
    ...     zarr_core.config.settings.threads
    0
    """

    settings: Settings
    """The current settings; the environment is read at first use."""

    version: int
    """Differs if a name can resolve to another class; part of the keys of caches."""

    def __init__(self) -> None:
        self._active: list[_Change] = []
        self._last: dict[str, _Change] = {}  # the change that set a field, until it is undone
        self._versions: dict[Hashable, int] = {}

    def __repr__(self) -> str:
        return f"<Config {self.settings}>"

    def __getattr__(self, name: str) -> Any:
        if name not in ("settings", "version"):
            message = "use config.settings, such as config.settings.threads, or config.set"
            raise AttributeError(f"config has no attribute {name!r}; {message}", name=name)
        with _guard:  # another thread may have read the environment, and changed a setting
            if name not in vars(self):
                self._apply(_from_environment())
        return vars(self)[name]

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
        """Make settings current; if they were so before, with the same version and its caches."""
        content = (  # on which cached extensions and codec chains depend
            frozenset(settings.providers.items()),
            settings.disabled_plugins,
            settings.fallback,
            settings.encoded_slack_nbytes,
        )
        if content not in self._versions:
            if len(self._versions) == _MAX_VERSIONS:
                self._versions.clear()
            self._versions[content] = next(_counter)
        self.settings = settings
        self.version = self._versions[content]

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
        """Change :attr:`version`, also of settings to which the program returns."""
        with _guard:
            self._versions.clear()
            self._apply(self.settings)


class _Change:
    """A change that can be undone."""

    def __init__(self, config: Config, before: dict[str, Any]) -> None:
        self._config = config
        self.before = before
        self.number = next(_counter)
        self.thread = get_ident()

    def __enter__(self) -> None:
        with _guard:
            self._config._active.append(self)  # noqa: SLF001 - part of Config.set

    def __exit__(self, *_: object) -> None:
        self._config._undo(self)  # noqa: SLF001 - part of Config.set


def _at_least(least: int, *others: object) -> tuple[str, Callable[[Any], bool]]:
    def is_valid(value: Any) -> bool:
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        return value >= least if is_integer else value in others

    words = [*map(repr, others), f"an integer of at least {least}"]
    return " or ".join(words), is_valid


def _one_of(*values: str) -> tuple[str, Callable[[Any], bool]]:
    *words, last = (f'"{value}"' for value in values)
    return f"{', '.join(words)} or {last}", lambda value: value in values


# What each setting must be, and the test.
_RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "threads": _at_least(0, None),
    "max_metadata_nbytes": _at_least(1, None),
    "encoded_slack_nbytes": _at_least(1, None),
    "remote_memory_nbytes": _at_least(1),
    "fallback": _one_of("error", "warn", "use"),
    "missing_chunks": _one_of("fill", "error"),
    "reserved_names": _one_of("error", "warn"),
    "native": _one_of("auto", "off", "require"),
    "chunk_cache": (
        "a zarr_stores.cache.CachePool, such as CachePool(2**30)",
        lambda value: not isinstance(value, int),
    ),
    "disabled_plugins": (
        "a collection of names of distributions, such as {'zarr-codecs'}",
        lambda value: isinstance(value, Collection) and not isinstance(value, str),
    ),
    "providers": (
        "a mapping of names to distributions, such as {'codec.gzip': 'zarr-codecs'}",
        lambda value: (
            isinstance(value, Mapping)
            and all(isinstance(text, str) for item in value.items() for text in item)
        ),
    ),
}


def _checked(settings: Settings) -> Settings:
    for name, (required, is_valid) in _RULES.items():
        if not is_valid(value := getattr(settings, name)):
            raise ValueError(f"{name} must be {required}, not {value!r}")
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
