"""Extensions that were published for another library, which bridges offer here.

A bridge is an entry point of group ``zarr_core.bridge``: a function without
arguments that gives a :class:`Provider` for everything that the other library would
find, without importing any of it.  It is asked only where nobody provides a name
by entry points of this library, so it costs nothing otherwise and replaces nothing.
"""

from __future__ import annotations

import threading
import warnings
from typing import TYPE_CHECKING

from zarr_core.config import config
from zarr_core.errors import ZarrError
from zarr_core.registry import discovery
from zarr_core.registry.installed import canonical
from zarr_core.registry.provider import Provider

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    Offers = Mapping[str, Mapping[str, tuple[Provider, ...]]]

_NONE: Offers = {}
_memory: tuple[Hashable, Offers] = ((), _NONE)
_asking: set[int] = set()  # threads


def offers() -> Offers:
    """What the bridges offer that are not switched off: by kind and then by name.

    Looked up once, then remembered until :func:`zarr_core.registry.discovery.refresh`.
    A bridge that fails is warned of and left out.
    """
    global _memory
    disabled = config.settings.disabled_plugins
    if "*" in disabled:
        return _NONE
    key = (discovery.generation(), disabled)
    memory = _memory
    if memory[0] == key:
        return memory[1]
    thread = threading.get_ident()
    if thread in _asking:  # a bridge looks for an extension while it is imported
        return _NONE
    # Without a lock: another thread may be importing the same bridge, and wait for us.
    _asking.add(thread)
    try:
        found: dict[str, dict[str, set[Provider]]] = {}
        for provider in _ask():
            found.setdefault(provider.kind, {}).setdefault(provider.name, set()).add(provider)
    finally:
        _asking.discard(thread)
    sorted_offers = {
        kind: {name: tuple(sorted(group, key=str)) for name, group in names.items()}
        for kind, names in found.items()
    }
    _memory = (key, sorted_offers)
    return sorted_offers


def _ask() -> Iterator[Provider]:
    disabled = {canonical(name) for name in config.settings.disabled_plugins}
    for group in discovery.scan().providers.get("bridge", {}).values():
        for bridge in group:
            if canonical(bridge.distribution) in disabled:
                continue
            try:
                offered = tuple(bridge.load()())
                if strangers := [item for item in offered if not isinstance(item, Provider)]:
                    raise TypeError(f"{strangers[0]!r} is no Provider")
            except Exception as error:  # anybody's code
                reason = str(error) if isinstance(error, ZarrError) else repr(error)
                warnings.warn(
                    f"the bridge {bridge.name} of {bridge} is left out: {reason}",
                    UserWarning,
                    stacklevel=2,
                )
                continue
            yield from offered
