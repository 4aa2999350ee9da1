"""One scan of the environment for extensions, which imports none of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_core.registry.builtin import DISTRIBUTION
from zarr_core.registry.installed import canonical, entry_points
from zarr_core.registry.points import KINDS
from zarr_core.registry.provider import Provider

if TYPE_CHECKING:
    from collections.abc import Mapping

    ProvidersByName = Mapping[str, Mapping[str, tuple[Provider, ...]]]

_GROUPS = {kind.group: name for name, kind in KINDS.items()}
# All of these are called, so none is chosen.
_WITHOUT_ALTERNATIVES = frozenset({"bridge", "hooks"})


@dataclass(frozen=True, slots=True)
class Scan:
    """What is installed beside core.

    Parameters
    ----------
    providers : mapping
        By kind and then by name, sorted by distribution.
    core_version : str
        Version of zarr-core itself; empty if it is not installed but on the path.
    alternatives : mapping
        As the providers; used only where the settings choose them.
    """

    providers: ProvidersByName
    core_version: str
    alternatives: ProvidersByName


_scan: Scan | None = None
_generation = 0


def scan() -> Scan:
    """What is installed; looked up once, then remembered until :func:`refresh`."""
    global _scan
    # Without a lock: two threads may both look, and find the same.
    found = _scan
    if found is None:
        before = _generation
        found = _look()
        if before == _generation:  # not refreshed meanwhile
            _scan = found
    return found


def refresh() -> None:
    """Forget the scan, after something was installed or removed in a running process."""
    global _scan, _generation
    _generation += 1
    _scan = None


def generation() -> int:
    """Grows with every :func:`refresh`."""
    return _generation


def _look() -> Scan:
    found: dict[str, dict[str, set[Provider]]] = {}
    alternatives: dict[str, dict[str, set[Provider]]] = {}
    core_version = ""
    for group, name, target, distribution, version in entry_points("zarr_core."):
        if canonical(distribution) == DISTRIBUTION:
            core_version = version
            continue
        if kind := _GROUPS.get(group):
            provider = Provider(kind, name, target, distribution, version)
            found.setdefault(kind, {}).setdefault(name, set()).add(provider)
            continue
        # One word more than the group of the kind: what is there only to be chosen.
        plain, _, word = group.rpartition(".")
        kind = _GROUPS.get(plain)
        if kind and word and kind not in _WITHOUT_ALTERNATIVES:
            provider = Provider(kind, name, target, distribution, version, alternative=word)
            alternatives.setdefault(kind, {}).setdefault(name, set()).add(provider)
    return Scan(_sorted(found), core_version, _sorted(alternatives))


def _sorted(found: dict[str, dict[str, set[Provider]]]) -> ProvidersByName:
    return {
        kind: {
            name: tuple(sorted(group, key=str) if len(group) > 1 else group)
            for name, group in names.items()
        }
        for kind, names in found.items()
    }
