"""A list of everything that is installed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zarr_core.errors import ExtensionError
from zarr_core.registry import bridges, builtin, discovery, registry, resolve, scope
from zarr_core.registry.points import KINDS
from zarr_core.registry.provider import Provider
from zarr_core.registry.registry import names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


__all__ = ["InstalledExtension", "installed_extensions", "names", "table"]


@dataclass(frozen=True, slots=True)
class InstalledExtension:
    """One line of the list.

    Parameters
    ----------
    kind, name : str
        The extension.
    distribution, version : str
        Who provides it.
    target : str
        Where its code is, ``module:Class``.
    loads : bool or None
        Whether it can be imported; None if that was not tried.
    error : str or None
        Why it cannot.
    wins : bool
        Whether this is the one that is used for its name; for hooks, whether they
        are called.  False for all providers that are in conflict.
    alternative : str
        The word by which the settings choose it instead of what everybody gets; empty
        for that.
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
        """What the setting ``providers`` says to have this one: ``zarr-codecs``, ``zarr-codecs[isal]``."""
        return f"{self.distribution}[{self.alternative}]" if self.alternative else self.distribution

    @property
    def note(self) -> str:
        """What is to be said of it, if anything: broken, not used, an alternative."""
        if self.error is not None:
            word = "alternative that cannot be loaded" if self.alternative else "broken"
            return f"{word}: {self.error}"
        if self.wins:
            return ""
        return "alternative" if self.alternative else "not used"

    def __str__(self) -> str:
        line = f"{self.kind} {self.name}  {self.choice} {self.version} ({self.target})"
        return f"{line}  {self.note}".rstrip()


def installed_extensions(
    load: bool = True, *, kind: str | None = None, names: Collection[str] = ()
) -> list[InstalledExtension]:
    """Everything that is installed, and who would be used.

    Parameters
    ----------
    load : bool
        Whether to import each extension, to see that it loads.  Without, none is
        imported but hooks, if there is a conflict that they might settle.
    kind : str, optional
        Of this kind only.
    names : collection of str
        Of these names only, if there are any.

    Returns
    -------
    list of InstalledExtension
        By kind, name and distribution; what the blocks around the caller give
        stands there as well.  A family of names stands under its pattern, ``r*``.
    """
    return [
        _line(provider, load)
        for provider in _all_providers()
        if kind in (None, provider.kind) and (not names or provider.name in names)
    ]


def table(lines: Iterable[InstalledExtension]) -> str:
    """The list as a table for people.

    Parameters
    ----------
    lines : iterable of InstalledExtension
        What :func:`installed_extensions` returned.
    """
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
    for kind in KINDS:
        found = [item.provider for item in scope.state() if item.provider.kind == kind]
        for lines in (builtin.LINES, builtin.FAMILIES):
            found += [
                Provider(kind, name, target, builtin.DISTRIBUTION, version)
                for name, target in lines.get(kind, {}).items()
            ]
        scanned = discovery.scan().providers.get(kind, {})
        offered = bridges.offers().get(kind, {})
        for group in {**offered, **scanned}.values():  # the latter hide the former
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
    if given := scope.lookup(kind, name):
        return given.provider == provider
    if kind in ("bridge", "hooks"):
        return not registry.is_disabled(provider.distribution)
    if name in builtin.FAMILIES.get(kind, {}):
        return provider.distribution == builtin.DISTRIBUTION
    try:
        winner = resolve.chosen(kind, name)
    except ExtensionError:
        return False
    return winner is not None and replace(winner, version=provider.version) == provider
