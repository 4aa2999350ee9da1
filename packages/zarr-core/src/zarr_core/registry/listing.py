"""The list of installed extensions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zarr_core.errors import ExtensionError
from zarr_core.registry import bridges, builtin, discovery, registry, resolve, scope
from zarr_core.registry.extension_points import EXTENSION_POINTS
from zarr_core.registry.provider import Provider
from zarr_core.registry.registry import is_provided, names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


__all__ = ["InstalledExtension", "installed_extensions", "is_provided", "names", "table"]


@dataclass(frozen=True, slots=True)
class InstalledExtension:
    """An installed extension.

    Parameters
    ----------
    kind, name : str
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
        Whether it is used for its name; for hooks, whether they are called.  False for
        all providers that are in conflict.
    alternative : str
        For an alternative, its name in the settings; else empty.
    """

    kind: str
    name: str
    distribution: str
    version: str
    target: str
    loads: bool | None
    error: str | None
    wins: bool
    alternative: str = ""

    @property
    def choice(self) -> str:
        """The value of the setting ``providers`` that selects it, such as ``zarr-codecs[isal]``."""
        return f"{self.distribution}[{self.alternative}]" if self.alternative else self.distribution

    @property
    def note(self) -> str:
        """``"broken: ..."``, ``"not used"``, ``"alternative"`` or empty."""
        if self.error is not None:
            state = "alternative that cannot be loaded" if self.alternative else "broken"
            return f"{state}: {self.error}"
        if self.wins:
            return ""
        return "alternative" if self.alternative else "not used"

    def __str__(self) -> str:
        line = f"{self.kind} {self.name}  {self.choice} {self.version} ({self.target})"
        return f"{line}  {self.note}".rstrip()


def installed_extensions(
    load: bool = True, *, kind: str | None = None, names: Collection[str] = ()
) -> list[InstalledExtension]:
    """List the installed extensions.

    Parameters
    ----------
    load : bool
        Whether to import each extension, to check that it loads.  If false, only hooks
        are imported, and only if there is a conflict.
    kind : str, optional
        List only this kind.
    names : collection of str
        List only these names, if there are any.

    Returns
    -------
    list of InstalledExtension
        Sorted by kind, name and distribution, including overrides.  The name of a family
        is its pattern, such as ``r*``.
    """
    return [
        _line(provider, load)
        for provider in _all_providers()
        if kind in (None, provider.kind) and (not names or provider.name in names)
    ]


def table(lines: Iterable[InstalledExtension]) -> str:
    """Format the result of :func:`installed_extensions` as a table."""
    rows = [("kind", "name", "provided by", "code", "")]
    rows += [
        (line.kind, line.name, f"{line.choice} {line.version}", line.target, line.note)
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
    for kind in EXTENSION_POINTS:
        found = [item.provider for item in scope.cache_key() if item.provider.kind == kind]
        for lines in (builtin.ENTRY_POINTS, builtin.FAMILIES):
            found += [
                Provider(kind, name, target, builtin.DISTRIBUTION, version)
                for name, target in lines.get(kind, {}).items()
            ]
        scanned = discovery.scan().providers.get(kind, {})
        offered = bridges.offers().get(kind, {})
        for group in {**offered, **scanned}.values():  # scanned extensions hide those of bridges
            found += group
        for group in discovery.scan().alternatives.get(kind, {}).values():
            found += group
        yield from sorted(found, key=lambda item: (item.name, item.choice, item.target))


def _line(provider: Provider, load: bool) -> InstalledExtension:
    error: str | None = None
    if load:
        try:
            provider.load()
        except ExtensionError as problem:
            error = getattr(problem, "reason", None) or str(problem)
    return InstalledExtension(
        provider.kind,
        provider.name,
        provider.distribution,
        provider.version,
        provider.target,
        None if not load else error is None,
        error,
        _wins(provider),
        provider.alternative,
    )


def _wins(provider: Provider) -> bool:
    kind, name = provider.kind, provider.name
    if override := scope.lookup(kind, name):
        return override.provider == provider
    if kind in ("bridge", "hooks"):
        return not registry.is_disabled(provider.distribution)
    if name in builtin.FAMILIES.get(kind, {}):
        return provider.distribution == builtin.DISTRIBUTION
    try:
        winner = resolve.chosen(kind, name)
    except ExtensionError:
        return False
    return winner is not None and replace(winner, version=provider.version) == provider
