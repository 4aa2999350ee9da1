"""The providers of extensions, subject to the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.config import config
from zarr_core.errors import ExtensionConflictError, UnknownExtensionError
from zarr_core.registry import bridges, builtin, discovery, hooks, scope
from zarr_core.registry.entry_points import canonical

if TYPE_CHECKING:
    from zarr_core.registry.provider import Provider


# Kinds that are looked up for every node, or that other libraries do not have.
_NEVER_BRIDGED = frozenset({"bridge", "display", "format", "hooks"})


def is_disabled(distribution: str) -> bool:
    """Whether the settings disable a distribution."""
    disabled = config.settings.disabled_plugins
    return bool(disabled) and (
        "*" in disabled or canonical(distribution) in map(canonical, disabled)
    )


def installed(kind: str, name: str) -> tuple[Provider, ...]:
    """The providers of a name, without the core and disabled plugins.

    If there are no entry points, those of bridges to other libraries.
    """
    if "*" in config.settings.disabled_plugins:
        return ()
    providers = discovery.scan().providers.get(kind, {}).get(name, ())
    found = tuple(item for item in providers if not is_disabled(item.distribution))
    return found or bridged(kind, name)


def alternatives(kind: str, name: str) -> tuple[Provider, ...]:
    """The alternatives, which are used only if the settings select them."""
    if "*" in config.settings.disabled_plugins:
        return ()
    providers = discovery.scan().alternatives.get(kind, {}).get(name, ())
    return tuple(item for item in providers if not is_disabled(item.distribution))


def bridged(kind: str, name: str) -> tuple[Provider, ...]:
    """The providers of bridges to other libraries, without disabled plugins."""
    if kind in _NEVER_BRIDGED:
        return ()
    providers = bridges.offers().get(kind, {}).get(name, ())
    return tuple(item for item in providers if not is_disabled(item.distribution))


def every_provider(kind: str, name: str) -> tuple[Provider, ...]:
    """All providers of a name and its alternatives, without the core."""
    return (*installed(kind, name), *alternatives(kind, name))


def everything(kind: str) -> list[Provider]:
    """All providers of a kind, without the core, by name and distribution."""
    if "*" in config.settings.disabled_plugins:
        return []
    scanned = discovery.scan().providers.get(kind, {})
    return [provider for name in sorted(scanned) for provider in installed(kind, name)]


def every_alternative(kind: str) -> list[Provider]:
    """All alternatives of a kind, by name and distribution."""
    scanned = discovery.scan().alternatives.get(kind, {})
    return [provider for name in sorted(scanned) for provider in alternatives(kind, name)]


def names(kind: str) -> list[str]:
    """The names of a kind that can be used, without families."""
    overrides = scope.current().get(kind, {})
    scanned = (item.name for item in everything(kind))
    return sorted({*overrides, *builtin.ENTRY_POINTS.get(kind, {}), *scanned})


def is_provided(kind: str, name: str) -> bool:
    """Whether :func:`names` includes a name."""
    if name in scope.current().get(kind, {}) or name in builtin.ENTRY_POINTS.get(kind, {}):
        return True
    return name in discovery.scan().providers.get(kind, {}) and bool(installed(kind, name))


def cache_key() -> tuple[int, int, int]:
    """A value that changes whenever results of this module can change."""
    return config.version, discovery.generation(), hooks.generation()


def preferred(kind: str, name: str, where: str = "") -> Provider | None:
    """The provider that the settings select; None if they select none.

    Raises
    ------
    UnknownExtensionError
        If the selected distribution does not provide the extension.
    ExtensionConflictError
        If that distribution declares the name twice.
    """
    choice = config.settings.providers.get(f"{kind}.{name}")
    if choice is None:
        return None
    wanted = canonical(choice)
    core = builtin.provider(kind, name)
    if core is not None and wanted == builtin.DISTRIBUTION:
        return core
    available = tuple(
        dict.fromkeys((*installed(kind, name), *bridged(kind, name), *alternatives(kind, name)))
    )
    chosen = [item for item in available if canonical(item.choice) == wanted]
    if len(chosen) == 1:
        return chosen[0]
    if chosen:
        raise ExtensionConflictError(kind, name, map(str, chosen))
    choices = [item.choice for item in (*([core] if core else []), *available)]
    raise UnknownExtensionError(
        kind,
        name,
        where,
        hint=f"The setting providers['{kind}.{name}'] selects {choice!r}, which is not "
        "installed, is disabled or does not provide it; "
        + (f"it is provided by {', '.join(choices)}." if choices else "no distribution does."),
    )


def only(kind: str, name: str) -> Provider | None:
    """The only provider of a name; None if there is none.

    Names that are not installed can be registered with another library.

    Raises
    ------
    ExtensionConflictError
        If there are several, and no hook selects one.
    """
    available = installed(kind, name)
    if not available and kind not in _NEVER_BRIDGED:
        available = bridges.registered(kind, name)
    if len(available) <= 1:
        return available[0] if available else None
    selected = hooks.select_provider(kind, name, available)
    if selected is None:
        raise ExtensionConflictError(kind, name, map(str, available))
    return selected
