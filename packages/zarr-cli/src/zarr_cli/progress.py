"""How far something has come: a bar on standard error."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_core import Progress


@dataclass(frozen=True, slots=True)
class Progressing:
    """What a long command says on standard error while it works.

    Parameters
    ----------
    shown : bool
        Whether there is a bar.
    quiet : bool
        Whether nothing is said but results and errors.
    """

    shown: bool
    quiet: bool

    @contextmanager
    def bar(self, title: str) -> Iterator[Callable[[Progress], None] | None]:
        """A bar, as the ``progress=`` that functions of zarr_core take; None if it is not shown.

        Parameters
        ----------
        title : str
            What is being done.
        """
        if not self.shown:
            yield None
            return
        with _drawn(title) as report:
            yield report

    def note(self, text: str) -> None:
        """Say something that is no result."""
        if not self.quiet:
            click.echo(text, err=True)


def progress_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--progress/--no-progress`` with ``-q``, as the argument ``progress``."""

    @wraps(function)
    def with_progress(**given: Any) -> Any:
        quiet, shown = given.pop("quiet"), given.pop("show_progress")
        if shown is None:
            shown = sys.stderr.isatty() and not quiet
        return function(progress=Progressing(shown, quiet), **given)

    quiet = click.option("-q", "--quiet", is_flag=True, help="Say nothing but results and errors.")
    bar = click.option(
        "--progress/--no-progress",
        "show_progress",
        default=None,
        help="Draw a bar on standard error; by default if it is a terminal.",
    )
    return bar(quiet(with_progress))


@contextmanager
def _drawn(title: str) -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console  # noqa: PLC0415 - lazy: only when a bar is drawn
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415 - as above
    from rich.progress import Progress as Bars  # noqa: PLC0415 - as above

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
                description=f"{title}{part}{path}",
                completed=now.done,
                total=now.total,
                amount=_amount(now),
            )

        yield report


def _amount(now: Progress) -> str:
    from zarr_cli.sizes import bytes_for_people  # noqa: PLC0415 - only here

    count = f"{now.done} {now.unit}" if now.total is None else f"{now.done}/{now.total} {now.unit}"
    return f"{count}, {bytes_for_people(now.nbytes)}" if now.nbytes else count
