"""The names of installed extensions, and the name of a class."""

from __future__ import annotations

import sys
from typing import Any

from zarr_core.config import config
from zarr_core.errors import ExtensionLoadError, UnknownExtensionError
from zarr_core.registry import discovery, scope
from zarr_core.registry.provider import Provider, known


def names(extension_point: str) -> list[str]:
    """The names of an extension point that can be used, without families."""
    overrides = scope.current().get(extension_point, {})
    others = discovery.installed(extension_point)
    used = (name for name, group in others.items() if not all(it.alternative for it in group))
    return sorted({*overrides, *discovery.ENTRY_POINTS.get(extension_point, {}), *used})


def is_provided(extension_point: str, name: str) -> bool:
    """Whether :func:`names` includes a name."""
    if (extension_point, name) in scope.current_overrides.get()[0]:
        return True
    return any(not item.alternative for item in discovery.providers(extension_point, name))


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
    key = ("name of", extension_point, cls, config.version)
    return str(known.get(key) or known.keep(key, _search(extension_point, cls)))


def _search(extension_point: str, cls: type[Any]) -> str:
    target = f"{cls.__module__}:{cls.__qualname__}"
    core = discovery.ENTRY_POINTS.get(extension_point, {}).items()
    usable = [
        *(Provider(extension_point, *item, discovery.DISTRIBUTION) for item in core),
        *sorted(discovery.all_providers(extension_point), key=lambda item: bool(item.alternative)),
    ]
    for provider in usable:
        if provider.target.partition("[")[0].strip() == target:
            return provider.name
    # The entry point can name another module that exports the class.
    for provider in usable:
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
    module = sys.modules.get(provider.module)
    if module is None and provider.module.partition(".")[0] != cls.__module__.partition(".")[0]:
        return False  # another package, which is not imported
    if module is not None:
        extension: object = module
        for attribute in provider.attributes:
            extension = getattr(extension, attribute, None)
        return extension is cls
    try:
        return provider.load() is cls
    except ExtensionLoadError:
        return False
