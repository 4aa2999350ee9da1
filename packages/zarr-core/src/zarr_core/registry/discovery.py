"""The providers of extensions: the table of the core, and the installed distributions.

The extensions of the core are found without a scan; a test compares their table with
``pyproject.toml``.  The scan of the distributions imports no extension.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarr_core.config import config
from zarr_core.registry.entry_points import entry_points
from zarr_core.registry.extension_points import EXTENSION_POINTS
from zarr_core.registry.provider import Provider, canonical, known

if TYPE_CHECKING:
    from collections.abc import Mapping

DISTRIBUTION = "zarr-core"

ENTRY_POINTS: dict[str, dict[str, str]] = {
    "codec": {"bytes": "zarr_core.codecs.bytes:BytesCodec"},
    "data_type": {
        "bool": "zarr_core.data_types.boolean:Bool",
        "int8": "zarr_core.data_types.integer:Integer",
        "int16": "zarr_core.data_types.integer:Integer",
        "int32": "zarr_core.data_types.integer:Integer",
        "int64": "zarr_core.data_types.integer:Integer",
        "uint8": "zarr_core.data_types.integer:Integer",
        "uint16": "zarr_core.data_types.integer:Integer",
        "uint32": "zarr_core.data_types.integer:Integer",
        "uint64": "zarr_core.data_types.integer:Integer",
        "float16": "zarr_core.data_types.floating:Floating",
        "float32": "zarr_core.data_types.floating:Floating",
        "float64": "zarr_core.data_types.floating:Floating",
        "complex64": "zarr_core.data_types.complex:Complex",
        "complex128": "zarr_core.data_types.complex:Complex",
    },
    "chunk_grid": {"regular": "zarr_core.chunk_grids:RegularGrid"},
    "chunk_key_encoding": {
        "default": "zarr_core.chunk_key_encodings:DefaultEncoding",
        "v2": "zarr_core.chunk_key_encodings:V2Encoding",
    },
    "store": {
        "file": "zarr_core.stores.local:LocalStore",
        "memory": "zarr_core.stores.memory:MemoryStore",
    },
    "format": {"v3": "zarr_core.formats.v3:V3"},
}

# A family is a class for many names; its method `claims(name)` accepts them.
FAMILIES: dict[str, dict[str, str]] = {"data_type": {"r*": "zarr_core.data_types.raw:RawBits"}}


def core_provider(extension_point: str, name: str) -> Provider | None:
    """The provider of an extension of the core, or None."""
    target = ENTRY_POINTS.get(extension_point, {}).get(name)
    if target is None and extension_point in FAMILIES:
        for family in FAMILIES[extension_point].values():
            if Provider(extension_point, "", family, DISTRIBUTION).load().claims(name):
                target = family
    return Provider(extension_point, name, target, DISTRIBUTION) if target else None


_GROUPS = {extension_point.group: name for name, extension_point in EXTENSION_POINTS.items()}
# The name of an entry point in this group is the version; its target is not used.
_VERSION_GROUP = "zarr_core.interface_version"


@dataclass(frozen=True, slots=True)
class Scan:
    """The installed extensions and alternatives, except those of the core.

    Providers are by extension point and name, sorted by distribution.  ``core_version`` is empty
    if zarr-core is not installed.
    """

    providers: dict[str, dict[str, tuple[Provider, ...]]]
    core_version: str


def providers(extension_point: str, name: str) -> tuple[Provider, ...]:
    """All providers of a name that are not disabled: of the core, and of others."""
    core = core_provider(extension_point, name)
    others = installed(extension_point).get(name, ())
    return others if core is None else (core, *others)


def all_providers(extension_point: str) -> list[Provider]:
    """All providers of an extension point, without the core, by name and distribution."""
    return [item for _, group in sorted(installed(extension_point).items()) for item in group]


def installed(extension_point: str) -> Mapping[str, tuple[Provider, ...]]:
    """The providers of an extension point by name, without the core and what is disabled."""
    disabled = config.settings.disabled_plugins
    if "*" in disabled:
        return {}
    found = scan().providers.get(extension_point, {})
    if not disabled:
        return found
    used = {
        name: tuple(item for item in group if not is_disabled(item.distribution))
        for name, group in found.items()
    }
    return {name: group for name, group in used.items() if group}


def is_disabled(distribution: str) -> bool:
    """Whether the settings disable a distribution."""
    disabled = config.settings.disabled_plugins
    return bool(disabled) and (
        "*" in disabled or canonical(distribution) in map(canonical, disabled)
    )


def scan() -> Scan:
    """The installed extensions, cached until :func:`refresh`."""
    found: Scan | None = known.get("scan")
    return known.keep("scan", _scan()) if found is None else found


def refresh() -> None:
    """Discard the scan after a distribution was installed or removed at run time."""
    known.clear()
    config.invalidate_caches()


def _scan() -> Scan:
    sets: dict[str, dict[str, set[Provider]]] = {}
    core_version = ""
    points = entry_points("zarr_core.")
    versions = {it.distribution: _number(it.name) for it in points if it.group == _VERSION_GROUP}
    for group, name, target, distribution, version in points:
        if canonical(distribution) == DISTRIBUTION:
            core_version = version
            continue
        alternative = ""
        if group not in _GROUPS:  # "zarr_core.<extension_point>.<alternative>"
            group, _, alternative = group.rpartition(".")
        extension_point = _GROUPS.get(group)
        # All hooks are called, so they have no alternatives.
        if extension_point is None or (alternative and extension_point == "hooks"):
            continue
        interface_version = versions.get(distribution, 1)
        provider = Provider(
            extension_point, name, target, distribution, version, "", alternative, interface_version
        )
        sets.setdefault(extension_point, {}).setdefault(name, set()).add(provider)
    providers = {
        extension_point: {name: tuple(sorted(group, key=str)) for name, group in names.items()}
        for extension_point, names in sets.items()
    }
    return Scan(providers, core_version)


def _number(text: str) -> Any:
    return int(text) if text.isdecimal() else text
