"""Which nodes of a hierarchy are meant."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from zarr_cli.failing import Failure

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(slots=True)
class Choice:
    """Nodes by patterns of their paths; asks to be called with each path.

    Parameters
    ----------
    include, exclude : tuple of str
        Patterns, in which ``*`` stands for anything; that of a group means what is in it.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    found: list[str] = field(default_factory=list)
    """Paths that were chosen until now."""

    @property
    def is_all(self) -> bool:
        """Whether nothing was said."""
        return not self.include and not self.exclude

    def __call__(self, path: str) -> bool:
        wanted = not self.include or _matches(path, self.include)
        if wanted and not _matches(path, self.exclude):
            self.found.append(path)
            return True
        return False

    def refuse_nothing(self, source: object) -> None:
        """Raise if no path was chosen.

        Raises
        ------
        Failure
            If so.
        """
        if not self.is_all and not self.found:
            patterns = " ".join(self.include) or "anything that is not excluded"
            raise Failure(f"nothing in {source} is {patterns}; see: zarr-core tree {source}")


def choosing_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--include`` with ``--exclude``, as the argument ``choice``."""

    @wraps(function)
    def with_choice(**given: Any) -> Any:
        include, exclude = (
            tuple(pattern.strip("/") for pattern in given.pop(name))
            for name in ("include", "exclude")
        )
        return function(choice=Choice(include, exclude), **given)

    exclude = click.option(
        "--exclude", multiple=True, metavar="PATTERN", help="Not these; again for more."
    )
    include = click.option(
        "--include",
        multiple=True,
        metavar="PATTERN",
        help="Only nodes with such paths, * for anything: temperature, ocean/*; again for more.",
    )
    return include(exclude(with_choice))


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether a path, or that of a group around it, is like one of some patterns."""
    parts = path.split("/")
    around = ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
    return any(fnmatchcase(each, pattern) for each in around for pattern in patterns)
