"""The list of installed extensions."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionError, ExtensionLoadError
from zarr_core.registry import discovery, hooks, resolve, scope
from zarr_core.registry.extension_points import EXTENSION_POINTS
from zarr_core.registry.provider import Provider

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


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
    is_missing_extra : bool
        Whether it is an alternative of an extra that is not installed.
    is_shadowed : bool
        Whether it is an extension for another library, and one for this library has its name.
    """

    loads: bool | None = None
    error: str | None = None
    wins: bool = False
    is_missing_extra: bool = False
    is_shadowed: bool = False

    @property
    def note(self) -> str:
        """``"broken: ..."``, ``"not installed: ..."``, ``"not used"``, ``"alternative"`` or empty."""
        if self.is_missing_extra:
            return f"not installed: pip install '{self.choice}'"
        if self.error is not None:
            return f"broken: {self.error}"
        if self.wins:
            return ""
        if self.is_shadowed:
            setting = f"'{self.extension_point}.{self.name}': '{self.choice}'"
            return f"not used; to select it: config.set(providers={{{setting}}})"
        return "alternative" if self.alternative else "not used"

    def __str__(self) -> str:
        line = f"{self.extension_point} {self.name}  {self.choice} {self.version} ({self.target})"
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
    return [
        _line(provider, load)
        for provider in _all_providers()
        if extension_point in (None, provider.extension_point)
        and (not names or provider.name in names)
    ]


def _all_providers() -> Iterator[Provider]:
    scan = discovery.scan()
    for extension_point in EXTENSION_POINTS:
        overrides = scope.current_overrides.get()[1]
        lines = [item for item in overrides if item.extension_point == extension_point]
        for table in (discovery.ENTRY_POINTS, discovery.FAMILIES):
            lines += [
                Provider(extension_point, name, target, discovery.DISTRIBUTION, scan.core_version)
                for name, target in table.get(extension_point, {}).items()
            ]
        for group in scan.providers.get(extension_point, {}).values():
            lines += group
        lines += hooks.supplied(extension_point)
        yield from sorted(lines, key=lambda item: (item.name, item.choice, item.target))


def _line(provider: Provider, load: bool) -> InstalledExtension:
    error = None
    missing = False
    wins = _wins(provider)
    extension_point, name = provider.extension_point, provider.name
    shadowed = bool(not wins and provider.adapter and discovery.providers(extension_point, name))
    if load and not shadowed:
        try:
            provider.load()
        except ExtensionLoadError as problem:
            error = problem.reason
            cause = problem.__cause__
            missing = bool(provider.alternative) and isinstance(cause, ModuleNotFoundError)
    return InstalledExtension(
        **{item.name: getattr(provider, item.name) for item in fields(provider)},
        loads=error is None if load and not shadowed else None,
        error=error,
        wins=wins,
        is_missing_extra=missing,
        is_shadowed=shadowed,
    )


def _wins(provider: Provider) -> bool:
    extension_point, name = provider.extension_point, provider.name
    if extension_point == "hooks":
        return not discovery.is_disabled(provider.distribution)
    if name in discovery.FAMILIES.get(extension_point, {}):
        return provider.distribution == discovery.DISTRIBUTION
    try:
        winner = resolve.lookup(extension_point, ExtensionDefinition(name))
    except ExtensionError:
        return False
    return winner is not None and replace(winner, version=provider.version) == provider
