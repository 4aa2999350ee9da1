"""The providers of extensions that are installed and not disabled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.config import config
from zarr_core.registry import discovery
from zarr_core.registry.provider import canonical

if TYPE_CHECKING:
    from zarr_core.registry.provider import Provider


def is_disabled(distribution: str) -> bool:
    """Whether the settings disable a distribution."""
    disabled = config.settings.disabled_plugins
    return bool(disabled) and (
        "*" in disabled or canonical(distribution) in map(canonical, disabled)
    )


def providers(extension_point: str, name: str) -> tuple[Provider, ...]:
    """All providers of a name: of the core, and of others with their alternatives."""
    core = discovery.core_provider(extension_point, name)
    own = () if core is None else (core,)
    disabled = config.settings.disabled_plugins
    if "*" in disabled:
        return own
    others = discovery.scan().providers.get(extension_point, {}).get(name, ())
    if disabled:
        others = tuple(item for item in others if not is_disabled(item.distribution))
    return own + others


def all_providers(extension_point: str) -> list[Provider]:
    """All providers of an extension point, without the core, by name and distribution."""
    disabled = config.settings.disabled_plugins
    if "*" in disabled:
        return []
    return [
        provider
        for _, group in sorted(discovery.scan().providers.get(extension_point, {}).items())
        for provider in group
        if not disabled or not is_disabled(provider.distribution)
    ]
