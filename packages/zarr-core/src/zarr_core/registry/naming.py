"""The name that stands for a class in metadata."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from zarr_core.errors import ExtensionLoadError, UnknownExtensionError
from zarr_core.registry import builtin, registry, scope
from zarr_core.registry.provider import Provider

if TYPE_CHECKING:
    from collections.abc import Hashable


def name_of(kind: str, cls: type[Any]) -> str:
    """The name under which a class is to be written.

    Parameters
    ----------
    kind : str
        Kind of extension, such as ``"codec"``.
    cls : type
        The class of an extension.

    Returns
    -------
    str
        The first name that stands for it: given by a block around the caller, core's,
        or that of an installed entry point.

    Raises
    ------
    UnknownExtensionError
        If no name stands for it, so that nobody could read what is written.

    Notes
    -----
    A class that stands for several names, as data types do, knows itself which
    it is: its ``to_definition`` says.
    """
    for name, given in scope.current().get(kind, {}).items():
        if given is cls:
            return name
    known = _known()
    if (found := known.get((kind, cls))) is None:
        found = known[kind, cls] = _search(kind, cls)
    return found


def _search(kind: str, cls: type[Any]) -> str:
    here = f"{cls.__module__}:{cls.__qualname__}"
    core = [
        Provider(kind, *line, builtin.DISTRIBUTION) for line in builtin.LINES.get(kind, {}).items()
    ]
    providers = (*core, *registry.everything(kind), *registry.every_alternative(kind))
    for provider in providers:
        if provider.target.partition("[")[0].strip() == here:
            return provider.name
    # The line may name the class by another module that exports it too.
    for provider in providers:
        if _stands_for(provider, cls):
            return provider.name
    raise UnknownExtensionError(
        kind,
        here,
        hint="A class is written under the name of its entry point: declare one in the group "
        f"'zarr_core.{kind}' and install the distribution, or give it a name for a while with "
        f"zarr_core.extensions({{'{kind}': {{'NAME': {cls.__name__}}}}}).",
    )


def _stands_for(provider: Provider, cls: type[Any]) -> bool:
    found: object = sys.modules.get(provider.module)
    if found is not None:
        for attribute in provider.attributes:
            found = getattr(found, attribute, None)
        return found is cls
    if provider.module.partition(".")[0] != cls.__module__.partition(".")[0]:
        return False  # another package's; not imported for this
    try:
        return provider.load() is cls
    except ExtensionLoadError:
        return False


_memory: tuple[Hashable, dict[tuple[str, type[Any]], str]] = ((), {})


def _known() -> dict[tuple[str, type[Any]], str]:
    global _memory
    now = registry.state()
    memory = _memory
    if memory[0] != now:
        memory = _memory = (now, {})
    return memory[1]
