"""Progress bars on standard error."""

from __future__ import annotations

import sys
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from zarr_cli.output import echo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_transfer import Progress


@dataclass(frozen=True, slots=True)
class ProgressOutput:
    """The output of a long command on standard error: a bar if ``shown``, notes unless ``quiet``."""

    shown: bool
    quiet: bool

    @contextmanager
    def bar(self, title: str) -> Iterator[Callable[[Progress], None] | None]:
        """Yield a callback for ``progress=`` of zarr_core that draws a bar; None if not shown."""
        if not self.shown:
            yield None
            return
        from zarr_transfer.progress import ProgressBar

        with closing(ProgressBar(f"{title} ", notices=False)) as bar:
            yield bar

    def note(self, text: str) -> None:
        """Print a note that is not part of the result."""
        if not self.quiet:
            echo(text, err=True)


def progress_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--progress/--no-progress`` and ``-q``, passed as the argument ``progress``."""

    @wraps(function)
    def with_progress(**arguments: Any) -> Any:
        quiet, shown = arguments.pop("quiet"), arguments.pop("show_progress")
        if shown is None:
            shown = sys.stderr.isatty() and not quiet
        return function(progress=ProgressOutput(shown, quiet), **arguments)

    quiet = click.option("-q", "--quiet", is_flag=True, help="Print only results and errors.")
    bar = click.option(
        "--progress/--no-progress",
        "show_progress",
        default=None,
        help="Draw a progress bar on standard error; default: if it is a terminal.",
    )
    return bar(quiet(with_progress))
