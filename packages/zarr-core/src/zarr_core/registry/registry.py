"""Which providers there are for an extension, given the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.config import config
from zarr_core.errors import ExtensionConflictError, UnknownExtensionError
from zarr_core.registry import bridges, builtin, discovery, hooks, scope
from zarr_core.registry.installed import canonical

if TYPE_CHECKING:
    from zarr_core.registry.provider import Provider


# What is looked for whenever a node is opened, and what bridges are found by.
_NEVER_BRIDGED = frozenset({"bridge", "format", "hooks"})


def is_disabled(distribution: str) -> bool:
    """Whether the settings switch a distribution off."""
    disabled = config.settings.disabled_plugins
    return bool(disabled) and (
        "*" in disabled or canonical(distribution) in map(canonical, disabled)
    )


def others(kind: str, name: str) -> tuple[Provider, ...]:
    """The entry points of a kind and name, those of core and of disabled plugins left out.

    Where there are none, what bridges to other libraries offer.
    """
    if "*" in config.settings.disabled_plugins:
        return ()
    providers = discovery.scan().providers.get(kind, {}).get(name, ())
    found = tuple(item for item in providers if not is_disabled(item.distribution))
    return found or bridged(kind, name)


def alternatives(kind: str, name: str) -> tuple[Provider, ...]:
    """What is there to be chosen by the settings, and is never used otherwise."""
    if "*" in config.settings.disabled_plugins:
        return ()
    providers = discovery.scan().alternatives.get(kind, {}).get(name, ())
    return tuple(item for item in providers if not is_disabled(item.distribution))


def bridged(kind: str, name: str) -> tuple[Provider, ...]:
    """What bridges to other libraries offer, that of disabled plugins left out."""
    if kind in _NEVER_BRIDGED:
        return ()
    providers = bridges.offers().get(kind, {}).get(name, ())
    return tuple(item for item in providers if not is_disabled(item.distribution))


def everything(kind: str) -> list[Provider]:
    """Every provider of a kind that may be used, core's left out; by name and distribution."""
    if "*" in config.settings.disabled_plugins:
        return []
    scanned = discovery.scan().providers.get(kind, {})
    return [provider for name in sorted(scanned) for provider in others(kind, name)]


def every_alternative(kind: str) -> list[Provider]:
    """Every alternative of a kind that may be chosen, by name and distribution."""
    scanned = discovery.scan().alternatives.get(kind, {})
    return [provider for name in sorted(scanned) for provider in alternatives(kind, name)]


def names(kind: str) -> list[str]:
    """Every name of a kind that can be used now, families left out."""
    given = scope.current().get(kind, {})
    installed = (item.name for item in everything(kind))
    return sorted({*given, *builtin.LINES.get(kind, {}), *installed})


def state() -> tuple[int, int, int]:
    """A value that is equal as long as the functions of this module answer the same."""
    return config.version, discovery.generation(), hooks.generation()


def preferred(kind: str, name: str, where: str = "") -> Provider | None:
    """The provider that the user's settings name; None if they name none.

    Raises
    ------
    UnknownExtensionError
        If the distribution that they name does not provide the extension: to use
        another one silently is what the user wanted to prevent.
    ExtensionConflictError
        If that distribution itself declares the name twice.
    """
    choice = config.settings.providers.get(f"{kind}.{name}")
    if choice is None:
        return None
    wanted = canonical(choice)
    core = builtin.provider(kind, name)
    if core is not None and wanted == builtin.DISTRIBUTION:
        return core
    available = tuple(
        dict.fromkeys((*others(kind, name), *bridged(kind, name), *alternatives(kind, name)))
    )
    chosen = [item for item in available if canonical(item.choice) == wanted]
    if len(chosen) == 1:
        return chosen[0]
    if chosen:
        raise ExtensionConflictError(kind, name, map(str, chosen))
    offers = [item.choice for item in (*([core] if core else []), *available)]
    raise UnknownExtensionError(
        kind,
        name,
        where,
        hint=f"The setting providers['{kind}.{name}'] asks for it from {choice!r}, which is not "
        "installed, is switched off or does not provide it; "
        + (f"it is provided by {', '.join(offers)}." if offers else "nor does anyone else."),
    )


def only(kind: str, name: str) -> Provider | None:
    """The one entry point of this name; None if there is none.

    Raises
    ------
    ExtensionConflictError
        If there are several, and no hook selects one of them.
    """
    available = others(kind, name)
    if len(available) <= 1:
        return available[0] if available else None
    selected = hooks.select_provider(kind, name, available)
    if selected is None:
        raise ExtensionConflictError(kind, name, map(str, available))
    return selected
