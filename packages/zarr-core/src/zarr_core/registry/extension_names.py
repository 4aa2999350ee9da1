"""The names of installed extensions, and the name of a class."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

from zarr_core.config import config
from zarr_core.errors import ExtensionLoadError, UnknownExtensionError
from zarr_core.registry import scope
from zarr_core.registry.discovery import providers
from zarr_core.registry.provider import known


def names(extension_point: str) -> list[str]:
    """The names of an extension point that can be used, without families."""
    used = (item.name for item in providers(extension_point) if not item.alternative)
    return sorted({*scope.current().get(extension_point, ()), *used})


def is_provided(extension_point: str, name: str) -> bool:
    """Whether an override, the core or a distribution provides a name; not if only hooks do."""
    return (extension_point, name) in scope.overrides.get() or any(
        not item.alternative for item in providers(extension_point, name)
    )


def name_of(extension_point: str, cls: type[Any]) -> str:
    """The name of a class in metadata; UnknownExtensionError if no metadata could name it."""
    for name, override in scope.current().get(extension_point, {}).items():
        if override is cls:
            return name
    key = ("name of", extension_point, cls, config.version)
    return str(known.get(key) or known.keep(key, _search(extension_point, cls)))


def _search(extension_point: str, cls: type[Any]) -> str:
    target = f"{cls.__module__}:{cls.__qualname__}"
    usable = sorted(providers(extension_point), key=lambda item: bool(item.alternative))
    for provider in usable:
        if provider.target.partition("[")[0].strip() == target:
            return provider.name
    # The entry point can name another module that exports the class.
    package = cls.__module__.partition(".")[0]
    for provider in usable:
        if provider.module in sys.modules or provider.module.partition(".")[0] == package:
            with suppress(ExtensionLoadError):
                if provider.load() is cls:
                    return provider.name
    raise UnknownExtensionError(
        extension_point,
        target,
        hint="A class needs an entry point: declare one in the group "
        f"'zarr_core.{extension_point}' and install the distribution, or set its name temporarily with "
        f"zarr_core.override_extensions({{'{extension_point}': {{'NAME': {cls.__name__}}}}}).",
    )
