"""Progress bars on standard error."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from zarr_cli.output import echo, escape_text

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
        with _draw_bar(title) as report:
            yield report

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


@contextmanager
def _draw_bar(title: str) -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[amount]}", markup=False),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=Console(file=sys.stderr), transient=True) as bars:
        task = bars.add_task(title, total=None, amount="")

        def report(now: Progress) -> None:
            part = f" {now.node}/{now.nodes}" if now.nodes > 1 else ""
            path = f" /{now.path}" if now.path else ""
            bars.update(
                task,
                description=escape_text(f"{title}{part}{path}"),
                completed=now.done,
                total=now.total,
                amount=_amount(now),
            )

        yield report


def _amount(now: Progress) -> str:
    from zarr_core.messages import format_bytes

    count = (
        f"{now.done:,} {now.unit}"
        if now.total is None
        else f"{now.done:,}/{now.total:,} {now.unit}"
    )
    return f"{count}, {format_bytes(now.nbytes)}" if now.nbytes else count
