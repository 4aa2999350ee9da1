"""The providers of extensions: the table of the core, and the installed distributions.

The extensions of the core are found without a scan; a test compares their table with
``pyproject.toml``.  The scan of the distributions imports no extension.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from zarr_core import __version__
from zarr_core.config import config
from zarr_core.registry.entry_points import entry_points
from zarr_core.registry.extension_points import EXTENSION_POINTS
from zarr_core.registry.provider import Provider, canonical, known

DISTRIBUTION = "zarr-core"

ENTRY_POINTS: dict[str, dict[str, str]] = {
    "codec": {"bytes": "zarr_core.codecs.bytes:BytesCodec"},
    "data_type": {
        "bool": "zarr_core.data_types.boolean:Bool",
        **dict.fromkeys(
            ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
            "zarr_core.data_types.integer:Integer",
        ),
        **dict.fromkeys(
            ("float16", "float32", "float64"), "zarr_core.data_types.floating:Floating"
        ),
        **dict.fromkeys(("complex64", "complex128"), "zarr_core.data_types.complex:Complex"),
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

_GROUPS = {extension_point.group: name for name, extension_point in EXTENSION_POINTS.items()}
# The name of an entry point in this group is the version; its target is not used.
_VERSION_GROUP = "zarr_core.interface_version"

Scan: TypeAlias = dict[str, dict[str, tuple[Provider, ...]]]
"""Providers by extension point and name, sorted by distribution, without those of the core."""


def _of_core(extension_point: str, name: str, target: str) -> Provider:
    return Provider(extension_point, name, target, DISTRIBUTION, __version__)


FAMILIES = {"data_type": _of_core("data_type", "r*", "zarr_core.data_types.raw:RawBits")}
"""Classes for many names; the provider has a pattern as its name."""

CORE = {
    point: {name: _of_core(point, name, target) for name, target in targets.items()}
    for point, targets in ENTRY_POINTS.items()
}
"""The providers of the core by extension point and name, without families."""

_RAW_BITS = re.compile(r"r[1-9][0-9]*", re.ASCII).fullmatch


def core_provider(extension_point: str, name: str) -> Provider | None:
    """The provider of an extension of the core, or None."""
    found = CORE.get(extension_point, {}).get(name)
    if found is None and extension_point == "data_type" and _RAW_BITS(name):
        return _of_core(extension_point, name, FAMILIES[extension_point].target)
    return found


def providers(
    extension_point: str, name: str | None = None, *, disabled: bool = False
) -> list[Provider]:
    """The providers of a name or of all names, without families; imports nothing.

    First those of the core, then others by name and distribution.  Those that the settings
    disable are included only with ``disabled``.
    """
    off = () if disabled else config.settings.disabled_plugins
    others = {} if "*" in off else scan().get(extension_point, {})
    if name is None:
        core = [*CORE.get(extension_point, {}).values()]
        found = [item for _, group in sorted(others.items()) for item in group]
    else:
        core = [item] if (item := core_provider(extension_point, name)) else []
        found = [*others.get(name, ())]
    return core + [item for item in found if not (off and is_disabled(item.distribution))]


def is_disabled(distribution: str) -> bool:
    """Whether the settings disable a distribution."""
    disabled = config.settings.disabled_plugins
    return bool(disabled) and (
        "*" in disabled or canonical(distribution) in map(canonical, disabled)
    )


def scan() -> Scan:
    """The installed extensions and alternatives, cached until :func:`refresh`."""
    found: Scan | None = known.get("scan")
    return known.keep("scan", _scan()) if found is None else found


def refresh() -> None:
    """Discard the scan after a distribution was installed or removed at run time."""
    known.clear()
    config.invalidate_caches()


def _scan() -> Scan:
    found: dict[str, dict[str, set[Provider]]] = {}
    points = entry_points("zarr_core.")
    versions = {it.distribution: it.name for it in points if it.group == _VERSION_GROUP}
    for group, name, target, distribution, version in points:
        alternative = ""
        if group not in _GROUPS:  # "zarr_core.<extension_point>.<alternative>"
            group, _, alternative = group.rpartition(".")
        extension_point = _GROUPS.get(group, "")
        # All hooks are called, so they have no alternatives.
        is_unused = not extension_point or (alternative and extension_point == "hooks")
        if is_unused or canonical(distribution) == DISTRIBUTION:
            continue
        interface: Any = versions.get(distribution, "1")
        interface = int(interface) if interface.isdecimal() else interface  # refused when it loads
        provider = Provider(
            extension_point, name, target, distribution, version, "", alternative, interface
        )
        found.setdefault(extension_point, {}).setdefault(name, set()).add(provider)
    return {
        extension_point: {name: tuple(sorted(group, key=str)) for name, group in names.items()}
        for extension_point, names in found.items()
    }
