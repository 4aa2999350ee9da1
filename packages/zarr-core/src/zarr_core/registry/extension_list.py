"""The list of installed extensions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionError
from zarr_core.registry import discovery, hooks, resolve, scope
from zarr_core.registry.extension_points import EXTENSION_POINTS
from zarr_core.registry.provider import Provider
from zarr_core.registry.registry import is_disabled

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


@dataclass(frozen=True, slots=True)
class InstalledExtension:
    """An installed extension.

    Parameters
    ----------
    extension_point, name : str
        The extension.
    distribution, version : str
        The distribution that provides it.
    target : str
        Its code, ``module:Class``.
    loads : bool or None
        Whether it can be imported; None if this was not tried.
    error : str or None
        The error of the import.
    wins : bool
        Whether it is used for its name; for hooks, whether they are called.  False for all
        providers that are in conflict.
    alternative : str
        For an alternative, its name in the settings; else empty.
    is_missing_extra : bool
        Whether it is an alternative of an extra that is not installed.
    is_shadowed : bool
        Whether it is an extension for another library, and one for this library has its name.
    """

    extension_point: str
    name: str
    distribution: str
    version: str
    target: str
    loads: bool | None
    error: str | None
    wins: bool
    alternative: str = ""
    is_missing_extra: bool = False
    is_shadowed: bool = False

    @property
    def choice(self) -> str:
        """The value of the setting ``providers`` that selects it, such as ``zarr-codecs[isal]``."""
        return f"{self.distribution}[{self.alternative}]" if self.alternative else self.distribution

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


def table(lines: Iterable[InstalledExtension]) -> str:
    """Format the result of :func:`installed_extensions` as a table."""
    rows = [("extension point", "name", "provided by", "code", "")]
    rows += [
        (line.extension_point, line.name, f"{line.choice} {line.version}", line.target, line.note)
        for line in lines
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    return "\n".join(
        "  ".join(
            (*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1])
        ).rstrip()
        for row in rows
    )


def _all_providers() -> Iterator[Provider]:
    version = discovery.scan().core_version
    for extension_point in EXTENSION_POINTS:
        overrides = scope.current_overrides.get()[1]
        lines = [item for item in overrides if item.extension_point == extension_point]
        for table in (discovery.ENTRY_POINTS, discovery.FAMILIES):
            lines += [
                Provider(extension_point, name, target, discovery.DISTRIBUTION, version)
                for name, target in table.get(extension_point, {}).items()
            ]
        for group in discovery.scan().providers.get(extension_point, {}).values():
            lines += group
        lines += hooks.supplied(extension_point)
        yield from sorted(lines, key=lambda item: (item.name, item.choice, item.target))


def _line(provider: Provider, load: bool) -> InstalledExtension:
    error: str | None = None
    missing = False
    wins = _wins(provider)
    shadowed = not wins and _is_shadowed(provider)
    load = load and not shadowed
    if load:
        try:
            provider.load()
        except ExtensionError as problem:
            missing = bool(provider.alternative) and isinstance(
                problem.__cause__, ModuleNotFoundError
            )
            error = getattr(problem, "reason", None) or str(problem)
    return InstalledExtension(
        provider.extension_point,
        provider.name,
        provider.distribution,
        provider.version,
        provider.target,
        None if not load else error is None,
        error,
        wins,
        provider.alternative,
        missing,
        shadowed,
    )


def _is_shadowed(provider: Provider) -> bool:
    """Whether a hook lists it, and an installed extension has its name."""
    extension_point, name = provider.extension_point, provider.name
    return bool(provider.adapter) and (
        name in discovery.scan().providers.get(extension_point, {})
        or name in discovery.ENTRY_POINTS.get(extension_point, {})
    )


def _wins(provider: Provider) -> bool:
    extension_point, name = provider.extension_point, provider.name
    if extension_point == "hooks":
        return not is_disabled(provider.distribution)
    if name in discovery.FAMILIES.get(extension_point, {}):
        return provider.distribution == discovery.DISTRIBUTION
    try:
        winner = resolve.lookup(extension_point, ExtensionDefinition(name))
    except ExtensionError:
        return False
    return winner is not None and replace(winner, version=provider.version) == provider
