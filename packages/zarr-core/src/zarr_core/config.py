"""Settings of this process."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from itertools import count
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator
    from contextlib import AbstractContextManager
    from typing import TypeAlias

    _Rule: TypeAlias = tuple[str, Callable[[Any], bool], Callable[[str], Any]]

# Extension points for which ``providers`` selects a distribution.
_EXTENSION_POINTS = (
    "codec", "data_type", "chunk_grid", "chunk_key_encoding", "chunk_memory_layout",
    "storage_transformer", "extension", "format", "store", "display", "native",
)  # fmt: skip


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
        The distribution for an extension that several provide: ``{"codec.gzip": "zarr-codecs"}``.
        Environment: ``ZARR_CORE_PROVIDERS="codec.gzip=zarr-codecs,..."``.
    fallback : {"error", "warn", "use"}
        For unknown data types with a fallback: raise an error, or use the fallback (read-only)
        with or without a warning.  Environment: ``ZARR_CORE_FALLBACK``.
    write_empty_chunks : bool
        Whether chunks that contain only the fill value are stored.
    missing_chunks : {"fill", "error"}
        Whether a missing chunk reads as the fill value or raises an error.
        Environment: ``ZARR_CORE_MISSING_CHUNKS``.
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
        ``zarr_stores.cache.lru_cache.CachePool``.  None: chunks are not kept.
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


_lock = RLock()
if hasattr(os, "register_at_fork"):  # not held by another thread during a fork
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
    )


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

    version: Hashable
    """Differs if a name can resolve to another class; part of the keys of caches."""

    def __init__(self) -> None:
        self._former: dict[int, dict[str, Any]] = {}  # what each open block will restore
        self._keys, self._invalidations = count(), 0

    def __repr__(self) -> str:
        return f"<Config {self.settings}>"

    def __getattr__(self, name: str) -> Any:
        if name not in ("settings", "version"):
            message = "use config.settings, such as config.settings.threads, or config.set"
            raise AttributeError(f"config has no attribute {name!r}; {message}", name=name)
        with _lock:  # another thread may have read the environment, and changed a setting
            if name not in vars(self):
                self._apply(_from_environment())
        return vars(self)[name]

    def set(
        self, settings: Mapping[str, Any] | None = None, /, **changes: Any
    ) -> AbstractContextManager[None]:
        """Change settings immediately; as a context manager, until the end of the block.

        All threads of the process have the same settings.  The end of a block restores the settings
        that it changed, except those that were changed since.

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
        with _lock:
            before = {name: getattr(self.settings, name) for name in changes}
            self._apply(_checked(replace(self.settings, **changes)))
            after = {name: getattr(self.settings, name) for name in changes}
        return self._block(before, after)

    @contextmanager
    def _block(self, before: dict[str, Any], after: dict[str, Any]) -> Iterator[None]:
        with _lock:
            key = next(self._keys)
            self._former[key] = before
        try:
            yield
        finally:
            with _lock:
                del self._former[key]
                later = [former for other, former in self._former.items() if other > key]
                restored = {}
                for name, value in before.items():
                    if following := [former for former in later if name in former]:
                        following[0][name] = value  # it restores what was before both
                    elif getattr(self.settings, name) is after[name]:
                        restored[name] = value
                self._apply(replace(self.settings, **restored))

    def _apply(self, settings: Settings) -> None:
        self.settings = settings
        # On these depend cached extensions and codec chains.  A set computes its hash only once.
        parts = (
            frozenset(settings.providers.items()),
            settings.disabled_plugins,
            settings.fallback,
            settings.encoded_slack_nbytes,
            self._invalidations,
        )
        self.version = frozenset(enumerate(parts))

    def invalidate_caches(self) -> None:
        """Change :attr:`version`, also of settings to which the program returns."""
        with _lock:
            self._invalidations += 1
            self._apply(self.settings)


def _integer(text: str) -> int | str:
    return int(text) if text.isdecimal() else text  # a string is refused by the setting


def _at_least(minimum: int, *others: object) -> _Rule:
    def is_valid(value: Any) -> bool:
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        return value >= minimum if is_integer else value in others

    words = [*map(repr, others), f"an integer of at least {minimum}"]
    return " or ".join(words), is_valid, _integer


def _one_of(*values: str) -> _Rule:
    *words, last = (f'"{value}"' for value in values)
    return f"{', '.join(words)} or {last}", lambda value: value in values, str


def _are_providers(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str)
        and name.partition(".")[0] in _EXTENSION_POINTS
        and bool(name.partition(".")[2])
        and isinstance(choice, str)
        and bool(choice)
        for name, choice in value.items()
    )


def _providers(text: str) -> dict[str, str]:
    pairs = (item.partition("=") for item in text.split(",") if item.strip())
    return {name.strip(): value.strip() for name, _, value in pairs}


# What each setting must be, the test, and the value of a text in the environment.
_RULES: dict[str, _Rule] = {
    "threads": _at_least(0, None),
    "max_metadata_nbytes": _at_least(1, None),
    "encoded_slack_nbytes": _at_least(1, None),
    "remote_memory_nbytes": _at_least(1),
    "fallback": _one_of("error", "warn", "use"),
    "missing_chunks": _one_of("fill", "error"),
    "reserved_names": _one_of("error", "warn"),
    "native": _one_of("auto", "off", "require"),
    "chunk_cache": (
        "a zarr_stores.cache.lru_cache.CachePool, such as CachePool(2**30)",
        lambda value: not isinstance(value, int | str),
        str,
    ),
    "disabled_plugins": (
        "a collection of names of distributions, such as {'zarr-codecs'}",
        lambda value: isinstance(value, Collection) and not isinstance(value, str),
        lambda text: frozenset(name.strip() for name in text.split(",")),
    ),
    "providers": (
        "a mapping of extension points and names to distributions, such as {'codec.gzip': "
        "'zarr-codecs'}; in the environment, ZARR_CORE_PROVIDERS=\"codec.gzip=zarr-codecs\"; the "
        f"extension points are {', '.join(_EXTENSION_POINTS)}",
        _are_providers,
        _providers,
    ),
}


def _checked(settings: Settings) -> Settings:
    for name, (required, is_valid, _) in _RULES.items():
        if not is_valid(value := getattr(settings, name)):
            raise ValueError(f"{name} must be {required}, not {value!r}")
    return replace(settings, disabled_plugins=frozenset(settings.disabled_plugins))


def _from_environment() -> Settings:
    settings = Settings()
    for name, (_, _, parse) in _RULES.items():
        variable = f"ZARR_CORE_{name.upper()}".replace("DISABLED", "DISABLE")
        if text := os.environ.get(variable):
            try:
                settings = _checked(replace(settings, **{name: parse(text)}))
            except ValueError as error:
                raise ValueError(f"environment variable {variable}: {error}") from None
    return settings


config = Config()
"""The settings of this process."""


def max_encoded_nbytes(nbytes: int | None, count: int = 0) -> int:
    """The largest size in bytes, by the settings, of what decodes to ``nbytes``.

    ``nbytes`` is None if it depends on the values; ``count`` is the number of elements.
    """
    slack = config.settings.encoded_slack_nbytes
    if slack is None:
        return sys.maxsize
    return 16 * slack + (count << 20) if nbytes is None else nbytes + nbytes // 2 + slack
