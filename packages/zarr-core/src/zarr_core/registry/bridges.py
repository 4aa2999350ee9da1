"""Bridges, which provide extensions that were published for another library.

A bridge is an entry point of group ``zarr_core.bridge``: a function without
arguments that returns a :class:`Provider` for every extension that the other library
finds, without importing them.  Bridges are called only for names without entry points
of this library, so they never replace an extension.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from zarr_core.config import config
from zarr_core.errors import ExtensionLoadError, ZarrError
from zarr_core.registry import discovery
from zarr_core.registry.entry_points import canonical
from zarr_core.registry.provider import Provider
from zarr_core.user_warning import warn

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    Offers = Mapping[str, Mapping[str, tuple[Provider, ...]]]

_NONE: Offers = {}
_cache: tuple[Hashable, Offers] = ((), _NONE)
_threads: set[int] = set()  # threads that call bridges


def offers() -> Offers:
    """The providers of all bridges that are not disabled, by kind and name.

    The result is cached until :func:`zarr_core.registry.discovery.refresh`.
    A bridge that fails is ignored with a warning.
    """
    global _cache
    disabled = config.settings.disabled_plugins
    if "*" in disabled:
        return _NONE
    key = (discovery.generation(), disabled)
    cache = _cache
    if cache[0] == key:
        return cache[1]
    thread = threading.get_ident()
    if thread in _threads:  # a bridge looks up an extension while it is imported
        return _NONE
    # Without a lock: another thread that imports the same bridge could wait for this one.
    _threads.add(thread)
    try:
        found: dict[str, dict[str, set[Provider]]] = {}
        for provider in _call_bridges():
            found.setdefault(provider.kind, {}).setdefault(provider.name, set()).add(provider)
    finally:
        _threads.discard(thread)
    sorted_offers = {
        kind: {name: tuple(sorted(group, key=str)) for name, group in names.items()}
        for kind, names in found.items()
    }
    _cache = (key, sorted_offers)
    return sorted_offers


def registered(kind: str, name: str) -> tuple[Provider, ...]:
    """Extensions that the program registered with other libraries at run time; not cached.

    Used for names without another provider.  A bridge returns them from a function
    without arguments, its attribute ``registered``.
    """
    found: list[Provider] = []
    for bridge in _bridges():
        with suppress(ExtensionLoadError):  # :func:`offers` has warned
            found += getattr(bridge.load(), "registered", tuple)()
    return tuple(item for item in found if (item.kind, item.name) == (kind, name))


def _call_bridges() -> Iterator[Provider]:
    for bridge in _bridges():
        try:
            offered = tuple(bridge.load()())
            if invalid := [item for item in offered if not isinstance(item, Provider)]:
                raise TypeError(f"{invalid[0]!r} is not a Provider")
        except Exception as error:  # code of a plugin
            reason = str(error) if isinstance(error, ZarrError) else repr(error)
            warn(f"the bridge {bridge.name} of {bridge} is ignored: {reason}")
            continue
        yield from offered


def _bridges() -> Iterator[Provider]:
    disabled = {canonical(name) for name in config.settings.disabled_plugins}
    for group in discovery.scan().providers.get("bridge", {}).values():
        for bridge in group:
            if canonical(bridge.distribution) not in disabled:
                yield bridge
