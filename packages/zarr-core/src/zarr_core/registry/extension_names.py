"""The names of installed extensions, and the name of a class."""

from __future__ import annotations

import sys
from typing import Any

from zarr_core.config import config
from zarr_core.errors import ExtensionLoadError, UnknownExtensionError
from zarr_core.registry import discovery, registry, scope
from zarr_core.registry.provider import Provider


def names(extension_point: str) -> list[str]:
    """The names of an extension point that can be used, without families."""
    overrides = scope.current().get(extension_point, {})
    scanned = (item.name for item in registry.everything(extension_point))
    return sorted({*overrides, *discovery.ENTRY_POINTS.get(extension_point, {}), *scanned})


def is_provided(extension_point: str, name: str) -> bool:
    """Whether :func:`names` includes a name."""
    if name in scope.current().get(extension_point, {}) or name in discovery.ENTRY_POINTS.get(
        extension_point, {}
    ):
        return True
    return name in discovery.scan().providers.get(extension_point, {}) and bool(
        registry.installed(extension_point, name)
    )


def name_of(extension_point: str, cls: type[Any]) -> str:
    """The name of a class in metadata: of an override, of the core, or of an entry point.

    Classes with several names, such as data types, define their names in ``to_definition``.

    Raises
    ------
    UnknownExtensionError
        If it has no name, so that the metadata could not be read.
    """
    for name, override in scope.current().get(extension_point, {}).items():
        if override is cls:
            return name
    cache = _current_cache()
    if (found := cache.get((extension_point, cls))) is None:
        found = cache[extension_point, cls] = _search(extension_point, cls)
    return found


def _search(extension_point: str, cls: type[Any]) -> str:
    target = f"{cls.__module__}:{cls.__qualname__}"
    core = [
        Provider(extension_point, *item, discovery.DISTRIBUTION)
        for item in discovery.ENTRY_POINTS.get(extension_point, {}).items()
    ]
    providers = (
        *core,
        *registry.everything(extension_point),
        *registry.every_alternative(extension_point),
    )
    for provider in providers:
        if provider.target.partition("[")[0].strip() == target:
            return provider.name
    # The entry point can name another module that exports the class.
    for provider in providers:
        if _provides(provider, cls):
            return provider.name
    raise UnknownExtensionError(
        extension_point,
        target,
        hint="A class needs an entry point: declare one in the group "
        f"'zarr_core.{extension_point}' and install the distribution, or set its name temporarily with "
        f"zarr_core.override_extensions({{'{extension_point}': {{'NAME': {cls.__name__}}}}}).",
    )


def _provides(provider: Provider, cls: type[Any]) -> bool:
    found: object = sys.modules.get(provider.module)
    if found is not None:
        for attribute in provider.attributes:
            found = getattr(found, attribute, None)
        return found is cls
    if provider.module.partition(".")[0] != cls.__module__.partition(".")[0]:
        return False  # another package, which is not imported
    try:
        return provider.load() is cls
    except ExtensionLoadError:
        return False


_cache: tuple[int, dict[tuple[str, type[Any]], str]] = (-1, {})


def _current_cache() -> dict[tuple[str, type[Any]], str]:
    global _cache
    cache = _cache
    if cache[0] != config.version:
        cache = _cache = (config.version, {})
    return cache[1]
