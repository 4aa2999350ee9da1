"""The name of a class in metadata."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from zarr_core.errors import ExtensionLoadError, UnknownExtensionError
from zarr_core.registry import builtin, registry, scope
from zarr_core.registry.provider import Provider

if TYPE_CHECKING:
    from collections.abc import Hashable


def name_of(kind: str, cls: type[Any]) -> str:
    """The name of a class in metadata.

    Parameters
    ----------
    kind : str
        The kind of extension, such as ``"codec"``.
    cls : type
        The class of an extension.

    Returns
    -------
    str
        The first name: of an override, of the core, or of an installed entry point.

    Raises
    ------
    UnknownExtensionError
        If it has no name, so that the metadata could not be read.

    Notes
    -----
    Classes with several names, such as data types, define their names in
    ``to_definition``.
    """
    for name, override in scope.current().get(kind, {}).items():
        if override is cls:
            return name
    cache = _current_cache()
    if (found := cache.get((kind, cls))) is None:
        found = cache[kind, cls] = _search(kind, cls)
    return found


def _search(kind: str, cls: type[Any]) -> str:
    target = f"{cls.__module__}:{cls.__qualname__}"
    core = [
        Provider(kind, *item, builtin.DISTRIBUTION)
        for item in builtin.ENTRY_POINTS.get(kind, {}).items()
    ]
    providers = (*core, *registry.everything(kind), *registry.every_alternative(kind))
    for provider in providers:
        if provider.target.partition("[")[0].strip() == target:
            return provider.name
    # The entry point can name another module that exports the class.
    for provider in providers:
        if _provides(provider, cls):
            return provider.name
    raise UnknownExtensionError(
        kind,
        target,
        hint="A class needs an entry point: declare one in the group "
        f"'zarr_core.{kind}' and install the distribution, or set its name temporarily with "
        f"zarr_core.override_extensions({{'{kind}': {{'NAME': {cls.__name__}}}}}).",
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


_cache: tuple[Hashable, dict[tuple[str, type[Any]], str]] = ((), {})


def _current_cache() -> dict[tuple[str, type[Any]], str]:
    global _cache
    key = registry.cache_key()
    cache = _cache
    if cache[0] != key:
        cache = _cache = (key, {})
    return cache[1]
