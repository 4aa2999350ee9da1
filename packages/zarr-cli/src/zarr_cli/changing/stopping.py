"""What is said when somebody stops a command."""

from __future__ import annotations

from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core import Store

    from zarr_cli.place import Place


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


def going_on(store: Store, dest: Place, *, overwrite: bool) -> str:
    """What an interrupt leaves of arrays that were being made, how to go on.

    Parameters
    ----------
    store, dest
        Where they were being made.
    overwrite : bool
        Whether what had been there was to be removed first.
    """
    stays = f"what was written to {dest} stays, and nothing is seen there that is not complete"
    if not store.supports_erasing:
        return f"{stays}. Nothing can be replaced there: remove {dest.url}, and begin again."
    return f"{stays}. The same command{', without --overwrite,' * overwrite} goes on from there."
