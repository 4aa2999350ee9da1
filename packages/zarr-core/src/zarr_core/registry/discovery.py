"""One scan of the environment for extensions, which imports none of them."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_core.registry import installed
from zarr_core.registry.builtin import DISTRIBUTION
from zarr_core.registry.points import KINDS
from zarr_core.registry.provider import Provider

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_GROUPS = {kind.group: name for name, kind in KINDS.items()}


@dataclass(frozen=True, slots=True)
class Scan:
    """What is installed beside core.

    Parameters
    ----------
    providers : mapping
        By kind and then by name, sorted by distribution.
    core_version : str
        Version of zarr-core itself; empty if it is not installed but on the path.
    """

    providers: Mapping[str, Mapping[str, tuple[Provider, ...]]]
    core_version: str


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


def canonical(distribution: str) -> str:
    """The name of a distribution as it is compared: ``Acme_Xor`` is ``acme-xor``."""
    return re.sub(r"[-_.]+", "-", distribution.strip()).lower()


def _look() -> Scan:
    found: dict[str, dict[str, set[Provider]]] = {}
    seen: set[str] = set()
    core_version = ""
    for place, name, version, text in installed.distributions("zarr_core."):
        try:
            if not name:
                raise ValueError("their metadata does not name the distribution")
            providers = list(_providers(text, name, version))
        except ValueError as error:  # one damaged installation must not hide the others
            warnings.warn(
                f"the entry points in {place} cannot be read and are left out: {error}",
                UserWarning,
                stacklevel=2,
            )
            continue
        # An earlier directory of sys.path hides the same distribution in a later one,
        # as it does for the modules.
        if (key := canonical(name)) in seen:
            continue
        seen.add(key)
        if key == DISTRIBUTION:
            core_version = version
            continue
        for provider in providers:
            found.setdefault(provider.kind, {}).setdefault(provider.name, set()).add(provider)
    return Scan(
        {
            kind: {
                name: tuple(sorted(group, key=str) if len(group) > 1 else group)
                for name, group in names.items()
            }
            for kind, names in found.items()
        },
        core_version,
    )


def _providers(text: str, distribution: str, version: str) -> Iterator[Provider]:
    for group, name, target in installed.entry_points(text):
        if kind := _GROUPS.get(group):
            yield Provider(kind, name, target, distribution, version)
