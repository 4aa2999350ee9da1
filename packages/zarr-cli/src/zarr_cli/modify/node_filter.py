"""Selection of nodes by path patterns."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from zarr_cli.errors import Failure

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(slots=True)
class NodeFilter:
    """A filter of nodes by path patterns; called with each path.

    In patterns, ``*`` matches anything.  A pattern that matches a group also matches all nodes
    below it.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    matched: list[str] = field(default_factory=list)
    """Paths that matched so far."""

    def __call__(self, path: str) -> bool:
        wanted = not self.include or _matches(path, self.include)
        if wanted and not _matches(path, self.exclude):
            self.matched.append(path)
            return True
        return False

    def check_matched(self, source: object) -> None:
        """Raise an error if no path matched."""
        if not self.matched:
            patterns = " ".join(self.include) or "the patterns: all are excluded"
            raise Failure(
                f"no node in {source} matches {patterns}; to list nodes: zarr-core tree {source}"
            )


def filter_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--include`` and ``--exclude``, passed as the argument ``only``; None without patterns."""

    @wraps(function)
    def with_filter(**arguments: Any) -> Any:
        include, exclude = (
            tuple(pattern.strip("/") for pattern in arguments.pop(name))
            for name in ("include", "exclude")
        )
        only = NodeFilter(include, exclude) if include or exclude else None
        return function(only=only, **arguments)

    exclude = click.option(
        "--exclude",
        multiple=True,
        metavar="PATTERN",
        help="Exclude nodes with these paths. Can be repeated.",
    )
    include = click.option(
        "--include",
        multiple=True,
        metavar="PATTERN",
        help="Include only nodes with these paths, * matches anything: ocean/*. Can be repeated.",
    )
    return include(exclude(with_filter))


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether a path, or the path of a group above it, matches one of the patterns."""
    parts = path.split("/")
    around = ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
    return any(fnmatchcase(each, pattern) for each in around for pattern in patterns)
