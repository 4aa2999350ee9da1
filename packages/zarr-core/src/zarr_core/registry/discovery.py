"""The scan of the installed distributions for extensions, which are not imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarr_core.registry.builtin import DISTRIBUTION
from zarr_core.registry.entry_points import canonical, entry_points
from zarr_core.registry.extension_points import EXTENSION_POINTS
from zarr_core.registry.provider import Provider

if TYPE_CHECKING:
    from collections.abc import Mapping

    ProvidersByName = Mapping[str, Mapping[str, tuple[Provider, ...]]]

_GROUPS = {kind.group: name for name, kind in EXTENSION_POINTS.items()}
# The name of an entry point in this group is a number; its target is not used.
_VERSION_GROUP = "zarr_core.interface_version"
# All of these are called, so they have no alternatives.
_WITHOUT_ALTERNATIVES = frozenset({"bridge", "hooks"})


@dataclass(frozen=True, slots=True)
class Scan:
    """The installed extensions, except those of the core.

    Parameters
    ----------
    providers : mapping
        By kind and name, sorted by distribution.
    core_version : str
        Version of zarr-core; empty if it is not installed.
    alternatives : mapping
        The same for alternatives, which are used only if the settings select them.
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
        kind, alternative, providers = _GROUPS.get(group), "", found
        if kind is None:  # "zarr_core.<kind>.<alternative>"
            plain, _, alternative = group.rpartition(".")
            kind, providers = _GROUPS.get(plain), alternatives
            if not alternative or kind in _WITHOUT_ALTERNATIVES:
                continue
        if kind is not None:
            provider = Provider(
                kind,
                name,
                target,
                distribution,
                version,
                alternative=alternative,
                interface_version=interface_versions.get(distribution, 1),
            )
            providers.setdefault(kind, {}).setdefault(name, set()).add(provider)
    return Scan(_sorted(found), core_version, _sorted(alternatives))


def _number(text: str) -> Any:
    return int(text) if text.isdecimal() else text


def _sorted(found: dict[str, dict[str, set[Provider]]]) -> ProvidersByName:
    return {
        kind: {
            name: tuple(sorted(group, key=str) if len(group) > 1 else group)
            for name, group in names.items()
        }
        for kind, names in found.items()
    }
