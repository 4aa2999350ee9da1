"""What is said when somebody stops a command."""

from __future__ import annotations

from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator


class Stopped(click.ClickException):
    """A command was interrupted; the process ends with status 130, as shells have it."""

    exit_code = 130

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(
            f"{click.style('Interrupted.', fg='yellow', bold=True)} {self.message}", file, err=True
        )


@contextmanager
def stoppable(what_is_left: str) -> Iterator[None]:
    """Explain an interrupt.

    Parameters
    ----------
    what_is_left : str
        What is done and stays, how to go on.

    Raises
    ------
    Stopped
        In place of the interrupt.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise Stopped(what_is_left) from None
