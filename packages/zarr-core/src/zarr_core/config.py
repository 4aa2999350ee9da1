"""Settings of this process, each with a default that needs no thought."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping


# Kinds of extensions of which somebody may choose the provider.
_KINDS = (
    "codec",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "chunk_memory_layout",
    "storage_transformer",
    "extension",
    "format",
    "store",
)


@dataclass(frozen=True)
class Settings:
    """The settings.

    Parameters
    ----------
    threads : int, optional
        Threads that work on the chunks of one call, the caller's included; 0 and 1
        mean no other threads at all.  None: the processors that this process may use.
        Environment: ``ZARR_CORE_THREADS``.
    providers : mapping of str to str
        Which distribution provides an extension that several offer, such as
        ``{"codec.gzip": "zarr-codecs"}``, or which alternative of a distribution, as
        ``{"codec.gzip": "zarr-codecs[isal]"}``.
        Environment: ``ZARR_CORE_PROVIDERS="codec.gzip=zarr-codecs,..."``.
    fallback : {"error", "warn", "use"}
        What to do about an unknown data type that names a fallback: refuse, open
        read-only as the fallback and say so once, or do so silently.
    write_empty_chunks : bool
        Whether chunks that hold nothing but the fill value are stored.
    missing_chunks : {"fill", "error"}
        Whether a chunk that is not stored reads as the fill value or raises.
    disabled_plugins : frozenset of str
        Distributions whose extensions and hooks are left out; ``"*"`` for all but
        zarr-core's own.  Environment: ``ZARR_CORE_DISABLE_PLUGINS="a,b"``.
    """

    threads: int | None = None
    providers: Mapping[str, str] = field(default_factory=dict)
    fallback: Literal["error", "warn", "use"] = "warn"
    write_empty_chunks: bool = False
    missing_chunks: Literal["fill", "error"] = "fill"
    disabled_plugins: frozenset[str] = frozenset()


class Config:
    """The settings in force, and the way to change them.

    Examples
    --------
    >>> import zarr_core
    >>> with zarr_core.config.set(threads=0):
    ...     zarr_core.config.settings.threads
    0
    """

    def __init__(self) -> None:
        self._settings: Settings | None = None
        self.version = 0
        """Grows with every change; what was derived from settings is remembered with it."""

    @property
    def settings(self) -> Settings:
        """The settings now; the environment is read at first use."""
        if self._settings is None:
            self._settings = _from_environment()
        return self._settings

    def set(self, **changes: Any) -> _Change:
        """Change settings, at once; as a context manager until the end of the block.

        Parameters
        ----------
        **changes
            Fields of :class:`Settings`.

        Raises
        ------
        TypeError
            If there is no such setting.
        ValueError
            If a value is not one of those that the setting takes.
        """
        before = self.settings
        known = {item.name for item in fields(Settings)}
        if unknown := sorted(changes.keys() - known):
            raise TypeError(
                f"no setting called {', '.join(unknown)}; there are {', '.join(sorted(known))}"
            )
        self._apply(_checked(replace(before, **changes)))
        return _Change(self, before)

    def _apply(self, settings: Settings) -> None:
        self._settings = settings
        self.version += 1


class _Change:
    """A change that can be taken back."""

    def __init__(self, config: Config, before: Settings) -> None:
        self._config = config
        self._before = before

    def __enter__(self) -> None:
        return

    def __exit__(self, *_: object) -> None:
        self._config._apply(self._before)  # noqa: SLF001 - the other half of Config.set


def _checked(settings: Settings) -> Settings:
    if settings.threads is not None and (
        isinstance(settings.threads, bool)
        or not isinstance(settings.threads, int)
        or settings.threads < 0
    ):
        raise ValueError(
            f"threads must be None or an integer of at least 0, not {settings.threads!r}"
        )
    if settings.fallback not in ("error", "warn", "use"):
        raise ValueError(f'fallback must be "error", "warn" or "use", not {settings.fallback!r}')
    if settings.missing_chunks not in ("fill", "error"):
        raise ValueError(
            f'missing_chunks must be "fill" or "error", not {settings.missing_chunks!r}'
        )
    for name, choice in settings.providers.items():
        kind, _, extension = name.partition(".")
        if not choice:
            raise ValueError(
                f"providers must say which distribution provides {name!r}, such as 'zarr-codecs'; "
                'in the environment, ZARR_CORE_PROVIDERS="codec.gzip=zarr-codecs"'
            )
        if kind not in _KINDS or not extension:
            raise ValueError(
                f"a key of providers is a kind and a name, such as 'codec.gzip', not {name!r}; "
                f"the kinds are {', '.join(_KINDS)}"
            )
    return replace(settings, disabled_plugins=frozenset(settings.disabled_plugins))


def _from_environment() -> Settings:
    changes: dict[str, Any] = {}
    if threads := os.environ.get("ZARR_CORE_THREADS"):
        if not threads.isdecimal():
            raise ValueError(f"ZARR_CORE_THREADS must be an integer of at least 0, not {threads!r}")
        changes["threads"] = int(threads)
    if providers := os.environ.get("ZARR_CORE_PROVIDERS"):
        pairs = (item.partition("=") for item in providers.split(",") if item.strip())
        changes["providers"] = {name.strip(): value.strip() for name, _, value in pairs}
    if disabled := os.environ.get("ZARR_CORE_DISABLE_PLUGINS"):
        changes["disabled_plugins"] = frozenset(name.strip() for name in disabled.split(","))
    return _checked(replace(Settings(), **changes))


config = Config()
"""The settings of this process."""
