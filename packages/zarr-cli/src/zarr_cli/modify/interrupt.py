"""Messages for interrupted commands."""

from __future__ import annotations

from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import click

from zarr_cli.output import escape_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core import Store

    from zarr_cli.location import Location


class Interrupted(click.ClickException):
    """A command was interrupted; the exit status is 130, as in shells."""

    exit_code = 130

    def show(self, file: IO[Any] | None = None) -> None:
        message = escape_text(self.message, keep="\n")
        click.echo(
            f"{click.style('Interrupted.', fg='yellow', bold=True)} {message}", file, err=True
        )


@contextmanager
def explain_interrupt(message: str) -> Iterator[None]:
    """Replace an interrupt by an error with a message."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(message) from None


def resume_hint(store: Store, dest: Location, *, overwrite: bool) -> str:
    """Return what an interrupt leaves at the destination and how to resume."""
    kept = f"Written data is kept at {dest}; incomplete nodes are not visible there."
    if not store.traits.supports_erasing:
        return f"{kept} Values cannot be replaced in this store: remove {dest.url} and start again."
    return (
        f"{kept} To resume, run the same command {'without --overwrite' if overwrite else 'again'}."
    )
