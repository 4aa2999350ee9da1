"""Discovery of extensions: the table of the core, and the installed distributions.

The extensions of the core are found without a scan; a test compares their table with
``pyproject.toml``.  The scan of the distributions imports no extension.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from zarr_core.config import config
from zarr_core.registry.entry_points import canonical, entry_points
from zarr_core.registry.extension_points import EXTENSION_POINTS
from zarr_core.registry.provider import Provider

if TYPE_CHECKING:
    from collections.abc import Mapping

    ProvidersByName = Mapping[str, Mapping[str, tuple[Provider, ...]]]

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
    return (
        Provider(extension_point, name, target, DISTRIBUTION)
        if target
        else core_family(extension_point, name)
    )


def core_family(extension_point: str, name: str) -> Provider | None:
    """The provider of a name that a family of the core claims, or None."""
    for target in FAMILIES.get(extension_point, {}).values():
        if _family_class(extension_point, target).claims(name):
            return Provider(extension_point, name, target, DISTRIBUTION)
    return None


@cache
def _family_class(extension_point: str, target: str) -> Any:
    return Provider(extension_point, "", target, DISTRIBUTION).load()


_GROUPS = {extension_point.group: name for name, extension_point in EXTENSION_POINTS.items()}
# The name of an entry point in this group is the version; its target is not used.
_VERSION_GROUP = "zarr_core.interface_version"
# All of these are called, so they have no alternatives.
_WITHOUT_ALTERNATIVES = frozenset({"bridge", "hooks"})


@dataclass(frozen=True, slots=True)
class Scan:
    """The installed extensions, except those of the core.

    Providers are by extension point and name, sorted by distribution.  ``alternatives`` are used
    only if the settings select them.  ``core_version`` is empty if zarr-core is not installed.
    """

    providers: ProvidersByName
    core_version: str
    alternatives: ProvidersByName


_scan: Scan | None = None
_generation = 0


def scan() -> Scan:
    """The installed extensions, cached until :func:`refresh`."""
    global _scan
    # Without a lock: two threads may both scan, with the same result.
    found = _scan
    if found is None:
        before = _generation
        found = _scan_entry_points()
        if before == _generation:  # not refreshed meanwhile
            _scan = found
    return found


def refresh() -> None:
    """Discard the scan after a distribution was installed or removed at run time."""
    global _scan, _generation
    _generation += 1
    _scan = None
    config.invalidate_caches()


def generation() -> int:
    """The number of calls of :func:`refresh`."""
    return _generation


def _scan_entry_points() -> Scan:
    found: dict[str, dict[str, set[Provider]]] = {}
    alternatives: dict[str, dict[str, set[Provider]]] = {}
    core_version = ""
    points = list(entry_points("zarr_core."))
    interface_versions = {
        point.distribution: _number(point.name) for point in points if point.group == _VERSION_GROUP
    }
    for group, name, target, distribution, version in points:
        if canonical(distribution) == DISTRIBUTION:
            core_version = version
            continue
        extension_point, alternative, providers = _GROUPS.get(group), "", found
        if extension_point is None:  # "zarr_core.<extension_point>.<alternative>"
            plain, _, alternative = group.rpartition(".")
            extension_point, providers = _GROUPS.get(plain), alternatives
            if not alternative or extension_point in _WITHOUT_ALTERNATIVES:
                continue
        if extension_point is not None:
            provider = Provider(
                extension_point,
                name,
                target,
                distribution,
                version,
                alternative=alternative,
                interface_version=interface_versions.get(distribution, 1),
            )
            providers.setdefault(extension_point, {}).setdefault(name, set()).add(provider)
    return Scan(_sorted(found), core_version, _sorted(alternatives))


def _number(text: str) -> Any:
    return int(text) if text.isdecimal() else text


def _sorted(found: dict[str, dict[str, set[Provider]]]) -> ProvidersByName:
    return {
        extension_point: {
            name: tuple(sorted(group, key=str) if len(group) > 1 else group)
            for name, group in names.items()
        }
        for extension_point, names in found.items()
    }
