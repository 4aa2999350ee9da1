"""The providers of extensions, subject to the settings.

Bridges provide extensions that were published for another library.  A bridge is an entry
point of group ``zarr_core.bridge``: a function without arguments that returns a
:class:`Provider` for every extension that the other library finds, without importing them.
Bridges are called only for names without entry points of this library, so they never
replace an extension.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from zarr_core.config import config
from zarr_core.errors import (
    ExtensionConflictError,
    ExtensionLoadError,
    UnknownExtensionError,
    ZarrError,
)
from zarr_core.location import NO_LOCATION, Location
from zarr_core.registry import discovery, hooks
from zarr_core.registry.entry_points import canonical
from zarr_core.registry.provider import Provider
from zarr_core.user_warning import warn

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    Offers = Mapping[str, Mapping[str, tuple[Provider, ...]]]


# Extension points that are looked up for every node, or that other libraries do not have.
_NEVER_BRIDGED = frozenset({"bridge", "display", "format", "hooks"})


def is_disabled(distribution: str) -> bool:
    """Whether the settings disable a distribution."""
    disabled = config.settings.disabled_plugins
    return bool(disabled) and (
        "*" in disabled or canonical(distribution) in map(canonical, disabled)
    )


def installed(extension_point: str, name: str) -> tuple[Provider, ...]:
    """The providers of a name, without the core and disabled plugins.

    Without entry points, those of bridges to other libraries.
    """
    if "*" in config.settings.disabled_plugins:
        return ()
    providers = discovery.scan().providers.get(extension_point, {}).get(name, ())
    found = tuple(item for item in providers if not is_disabled(item.distribution))
    return found or bridged(extension_point, name)


def alternatives(extension_point: str, name: str) -> tuple[Provider, ...]:
    """The alternatives, which are used only if the settings select them."""
    if "*" in config.settings.disabled_plugins:
        return ()
    providers = discovery.scan().alternatives.get(extension_point, {}).get(name, ())
    return tuple(item for item in providers if not is_disabled(item.distribution))


def bridged(extension_point: str, name: str) -> tuple[Provider, ...]:
    """The providers of bridges to other libraries, without disabled plugins."""
    if extension_point in _NEVER_BRIDGED:
        return ()
    providers = bridge_offers().get(extension_point, {}).get(name, ())
    return tuple(item for item in providers if not is_disabled(item.distribution))


def every_provider(extension_point: str, name: str) -> tuple[Provider, ...]:
    """All providers of a name and its alternatives, without the core."""
    return (*installed(extension_point, name), *alternatives(extension_point, name))


def everything(extension_point: str) -> list[Provider]:
    """All providers of an extension point, without the core, by name and distribution."""
    if "*" in config.settings.disabled_plugins:
        return []
    scanned = discovery.scan().providers.get(extension_point, {})
    return [provider for name in sorted(scanned) for provider in installed(extension_point, name)]


def every_alternative(extension_point: str) -> list[Provider]:
    """All alternatives of an extension point, by name and distribution."""
    scanned = discovery.scan().alternatives.get(extension_point, {})
    return [
        provider for name in sorted(scanned) for provider in alternatives(extension_point, name)
    ]


def preferred(extension_point: str, name: str, location: Location = NO_LOCATION) -> Provider | None:
    """The provider that the settings select; None if they select none.

    Raises
    ------
    UnknownExtensionError
        If the selected distribution does not provide the extension.
    ExtensionConflictError
        If that distribution declares the name twice.
    """
    choice = config.settings.providers.get(f"{extension_point}.{name}")
    if choice is None:
        return None
    wanted = canonical(choice)
    core = discovery.core_provider(extension_point, name)
    if core is not None and wanted == discovery.DISTRIBUTION:
        return core
    available = tuple(
        dict.fromkeys(
            (
                *installed(extension_point, name),
                *bridged(extension_point, name),
                *alternatives(extension_point, name),
            )
        )
    )
    chosen = [item for item in available if canonical(item.choice) == wanted]
    if len(chosen) == 1:
        return chosen[0]
    if chosen:
        raise ExtensionConflictError(extension_point, name, map(str, chosen))
    choices = [item.choice for item in (*([core] if core else []), *available)]
    raise UnknownExtensionError(
        extension_point,
        name,
        location,
        hint=f"The setting providers['{extension_point}.{name}'] selects {choice!r}, which is not "
        "installed, is disabled or does not provide it; "
        + (f"it is provided by {', '.join(choices)}." if choices else "no distribution does."),
    )


def only(extension_point: str, name: str) -> Provider | None:
    """The only provider of a name, or None; it can be registered with another library.

    Raises
    ------
    ExtensionConflictError
        If there are several, and no hook selects one.
    """
    available = installed(extension_point, name)
    if not available and extension_point not in _NEVER_BRIDGED:
        available = registered_elsewhere(extension_point, name)
    if len(available) <= 1:
        return available[0] if available else None
    selected = hooks.select_provider(extension_point, name, available)
    if selected is None:
        raise ExtensionConflictError(extension_point, name, map(str, available))
    return selected


_NONE: Offers = {}
_offers_cache: tuple[Hashable, Offers] = ((), _NONE)
_threads: set[int] = set()  # threads that call bridges


def bridge_offers() -> Offers:
    """The providers of all bridges that are not disabled, by extension point and name.

    Cached until :func:`zarr_core.registry.discovery.refresh`.  A bridge that fails is ignored
    with a warning.
    """
    global _offers_cache
    disabled = config.settings.disabled_plugins
    if "*" in disabled:
        return _NONE
    key = (discovery.generation(), disabled)
    cache = _offers_cache
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
            found.setdefault(provider.extension_point, {}).setdefault(provider.name, set()).add(
                provider
            )
    finally:
        _threads.discard(thread)
    sorted_offers = {
        extension_point: {name: tuple(sorted(group, key=str)) for name, group in names.items()}
        for extension_point, names in found.items()
    }
    _offers_cache = (key, sorted_offers)
    return sorted_offers


def registered_elsewhere(extension_point: str, name: str) -> tuple[Provider, ...]:
    """Extensions that the program registered with other libraries at run time; not cached.

    Used for names without another provider.  A bridge returns them from its attribute
    ``registered``, a function without arguments.
    """
    found: list[Provider] = []
    for bridge in _bridges():
        with suppress(ExtensionLoadError):  # :func:`bridge_offers` has warned
            found += getattr(bridge.load(), "registered", tuple)()
    return tuple(
        item for item in found if (item.extension_point, item.name) == (extension_point, name)
    )


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
    for group in discovery.scan().providers.get("bridge", {}).values():
        for bridge in group:
            if not is_disabled(bridge.distribution):
                yield bridge
