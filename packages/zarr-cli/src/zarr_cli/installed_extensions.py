"""The list of installed extensions."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from zarr_core.errors import ExtensionError, ExtensionLoadError
from zarr_core.extension import ExtensionDefinition, Provider
from zarr_core.registry.discovery import providers
from zarr_core.registry.extension_points import EXTENSION_POINTS
from zarr_core.registry.hooks import supplied
from zarr_core.registry.provider import is_disabled
from zarr_core.registry.resolve import find_provider

if TYPE_CHECKING:
    from collections.abc import Collection


@dataclass(frozen=True, slots=True)
class InstalledExtension(Provider):
    """An installed extension: a provider, and whether it is used.

    Parameters
    ----------
    loads : bool or None
        Whether it can be imported; None if this was not tried.
    error : str or None
        The error of the import.
    wins : bool
        Whether it is used for its name; for hooks, whether they are called.  False for all
        providers that are in conflict.
    note : str
        ``"broken: ..."``, ``"not used"`` or empty.
    """

    loads: bool | None = None
    error: str | None = None
    wins: bool = False
    note: str = ""

    def __str__(self) -> str:
        line = f"{self.extension_point} {self.name}  {self.origin} ({self.target})"
        return f"{line}  {self.note}".rstrip()


def installed_extensions(
    load: bool = True, *, extension_point: str | None = None, names: Collection[str] = ()
) -> list[InstalledExtension]:
    """List the installed extensions.

    Parameters
    ----------
    load : bool
        Import each extension, to check that it loads, except those for other libraries that are
        not used.  If false, only hooks are imported, which can list extensions.
    extension_point : str, optional
        List only extensions of this extension point.
    names : collection of str
        List only these names, if there are any.

    Returns
    -------
    list of InstalledExtension
        Sorted by extension point, name and distribution, including overrides.  The name of a
        family is its pattern, such as ``r*``.
    """
    lines: list[InstalledExtension] = []
    for point in EXTENSION_POINTS:
        if extension_point in (None, point):
            offered = [*providers(point, disabled=True), *supplied(point)]
            offered.sort(key=lambda item: (item.name, item.distribution, item.target))
            lines += [_line(item, load) for item in offered if not names or item.name in names]
    return lines


def _line(provider: Provider, load: bool) -> InstalledExtension:
    wins, loads, error = _is_used(provider), None, None
    note = "" if wins else "not used"
    if provider.adapter and not wins and providers(provider.extension_point, provider.name):
        note = f"not used; to select it: {provider.setting}"
    elif load:
        try:
            provider.load()
            loads = True
        except ExtensionLoadError as problem:
            loads, error, note = False, problem.reason, f"broken: {problem.reason}"
    own = {item.name: getattr(provider, item.name) for item in fields(provider)}
    return InstalledExtension(**own, loads=loads, error=error, wins=wins, note=note)


def _is_used(provider: Provider) -> bool:
    point = provider.extension_point
    if point == "hooks":
        return not is_disabled(provider.distribution)
    try:
        return provider == find_provider(point, ExtensionDefinition(provider.name))
    except ExtensionError:
        return False
