"""The providers of extensions: the table of the core, and the installed distributions.

The extensions of the core are found without a scan.  The scan of the distributions imports no
extension.
"""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from typing import Any, TypeAlias

from zarr_core import __version__
from zarr_core.config import config
from zarr_core.errors import ExtensionLoadError, UnknownExtensionError
from zarr_core.known_extensions import CORE_ENTRY_POINTS
from zarr_core.registry.entry_points import installed_entry_points
from zarr_core.registry.extension_points import EXTENSION_POINTS
from zarr_core.registry.overrides import overrides
from zarr_core.registry.provider import (
    DISTRIBUTION,
    Provider,
    is_disabled,
    normalize_name,
    registry_cache,
)

_GROUPS = {extension_point.group: name for name, extension_point in EXTENSION_POINTS.items()}

Scan: TypeAlias = dict[str, dict[str, tuple[Provider, ...]]]
"""Providers by extension point and name, sorted by distribution, without those of the core."""


CORE = {
    point: {
        name: Provider(point, name, target, DISTRIBUTION, __version__)
        for name, target in targets.items()
    }
    for point, targets in CORE_ENTRY_POINTS.items()
}
"""The providers of the core by extension point and name."""

_RAW_BITS = Provider(
    "data_type", "r*", "zarr_core.data_types.raw:RawBits", DISTRIBUTION, __version__
)
CORE["data_type"]["r*"] = _RAW_BITS  # one class for all names r8, r16 ...
_is_raw_bits = re.compile(r"r[1-9][0-9]*", re.ASCII).fullmatch


def core_provider(extension_point: str, name: str) -> Provider | None:
    """The provider of an extension of the core, or None."""
    provider = CORE.get(extension_point, {}).get(name)
    if provider is None and extension_point == "data_type" and _is_raw_bits(name):
        return _RAW_BITS
    return provider


def providers(
    extension_point: str, name: str | None = None, *, disabled: bool = False
) -> list[Provider]:
    """The providers of a name or of all names; imports nothing.

    First overrides, then those of the core, then others by name and distribution.  Those that the
    settings disable are included only with ``disabled``.
    """
    overriding = [
        provider
        for (point, overridden), provider in overrides.get().items()
        if point == extension_point and name in (None, overridden)
    ]
    disabled_plugins = () if disabled else config.settings.disabled_plugins
    installed = {} if "*" in disabled_plugins else scan().get(extension_point, {})
    if name is None:
        core = [*CORE.get(extension_point, {}).values()]
        others = [provider for _, group in sorted(installed.items()) for provider in group]
    else:
        core = [*filter(None, [core_provider(extension_point, name)])]
        others = [*installed.get(name, ())]
    if disabled_plugins:
        others = [provider for provider in others if not is_disabled(provider.distribution)]
    return [*overriding, *core, *others]


def usable_names(extension_point: str) -> list[str]:
    """The names of an extension point, without those that only hooks supply."""
    return sorted({item.name for item in providers(extension_point)} - {_RAW_BITS.name})


def is_provided(extension_point: str, name: str) -> bool:
    """Whether an override, the core or a distribution provides a name; not if only hooks do."""
    return bool(providers(extension_point, name))


def name_of(extension_point: str, cls: type[Any]) -> str:
    """The name of a class in metadata; UnknownExtensionError if no metadata could name it."""
    for (point, name), override in overrides.get().items():
        if point == extension_point and override.extension is cls:
            return name
    key = ("name of", extension_point, cls, config.version)
    return str(
        registry_cache.get(key) or registry_cache.put(key, _installed_name(extension_point, cls))
    )


def _installed_name(extension_point: str, cls: type[Any]) -> str:
    target = f"{cls.__module__}:{cls.__qualname__}"
    package = cls.__module__.partition(".")[0]
    # The entry point can also name another module that exports the class.
    for provider in sorted(providers(extension_point), key=lambda item: item.target != target):
        is_near = provider.module in sys.modules or provider.module.partition(".")[0] == package
        if is_near and provider.extension is None and provider is not _RAW_BITS:
            with suppress(ExtensionLoadError):  # the class of a reloaded module is another one
                if provider.target == target or provider.load() is cls:
                    return provider.name
    raise UnknownExtensionError(
        extension_point,
        target,
        hint="A class needs an entry point: declare one in the group "
        f"'zarr_core.{extension_point}' and install the distribution, or set its name temporarily with "
        f"zarr_core.override_extensions({{'{extension_point}': {{'NAME': {cls.__name__}}}}}).",
    )


def scan() -> Scan:
    """The installed extensions, cached until :func:`refresh`."""
    scanned: Scan | None = registry_cache.get("scan")
    return registry_cache.put("scan", _scan()) if scanned is None else scanned


def refresh() -> None:
    """Discard the scan after a distribution was installed or removed at run time."""
    registry_cache.clear()
    config.invalidate_caches()


def _scan() -> Scan:
    scanned: dict[str, dict[str, set[Provider]]] = {}
    for group, name, target, distribution, version in installed_entry_points("zarr_core."):
        extension_point = _GROUPS.get(group, "")
        if not extension_point or normalize_name(distribution) == DISTRIBUTION:
            continue
        provider = Provider(extension_point, name, target, distribution, version)
        scanned.setdefault(extension_point, {}).setdefault(name, set()).add(provider)
    return {
        extension_point: {name: tuple(sorted(group, key=str)) for name, group in names.items()}
        for extension_point, names in scanned.items()
    }
