"""How errors are reported: one paragraph on standard error, or the full traceback."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import click

from zarr_cli.exit_status import INTERRUPTED, PIPE_CLOSED
from zarr_cli.output import escape_text

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEY = "zarr_cli.traceback"


class Failure(click.ClickException):
    """The command failed; the exit status is 1."""

    label, colour = "Error:", "red"

    def show(self, file: IO[Any] | None = None) -> None:
        message = escape_text(self.message, keep="\n")
        label = click.style(self.label, fg=self.colour, bold=True)
        click.echo(f"{label} {message}", file, err=True)


class Interrupted(Failure):
    """The command was interrupted; the exit status is 130, as in shells."""

    exit_code = INTERRUPTED
    label, colour = "Interrupted.", "yellow"


@contextmanager
def explain_interrupt(message: str) -> Iterator[None]:
    """Replace an interrupt by an error that says what is kept and how to resume."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(message) from None


class ProblemsFound(click.exceptions.Exit):
    """The command completed and found problems; the exit status is 1."""

    def __init__(self) -> None:
        super().__init__(1)


@contextmanager
def report_errors(ctx: click.Context) -> Iterator[None]:
    """Report errors and warnings of the library as text on standard error."""
    # Restored at the end, because programs may call the commands.
    previous, warnings.showwarning = warnings.showwarning, _show_warning
    try:
        yield
    except click.ClickException as error:
        message = escape_text(error.message, keep="\n")
        error.message = message  # type: ignore[misc]  # shown by click, which does not escape
        raise
    except (click.exceptions.Exit, click.Abort):
        raise
    except SystemExit:
        raise
    except BrokenPipeError:
        _discard_output()
        raise click.exceptions.Exit(PIPE_CLOSED) from None
    except KeyboardInterrupt as interrupt:
        # Without notes, nothing is imported: an import may have been interrupted.
        notes = [escape_text(note, keep="\n") for note in _notes(interrupt)]
        click.echo("\n".join(["Interrupted.", *notes]), err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except BaseException as error:  # a panic of a Rust module is not an Exception
        if ctx.meta.get(_KEY):
            raise
        raise Failure(error_message(error)) from error
    finally:
        warnings.showwarning = previous


def _discard_output() -> None:
    """Discard the rest of standard output, so that flushing it at the end does not fail."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
    except (OSError, ValueError):
        pass  # not a file, as within a test or a notebook


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    from zarr_cli.advice import to_command_line

    text = escape_text(to_command_line(str(message)), keep="\n")
    click.echo(f"{click.style('Warning:', fg='yellow', bold=True)} {text}", err=True)


def error_message(error: BaseException) -> str:
    """Return the message of an error, with its notes."""
    from zarr_core.extension import ZarrError

    from zarr_cli.advice import to_command_line

    text = to_command_line(str(error))
    if not (text and isinstance(error, (ZarrError, OSError, ValueError, ImportError))):
        text = (
            f"{type(error).__name__}: {text or 'no message'}\n"
            "This error is unexpected; use --traceback to see where it occurred."
        )
    return "\n".join([text, *_notes(error)])


def _notes(error: BaseException) -> list[str]:
    """Return the notes of an exception, such as what an interrupted call left in the store."""
    from zarr_cli.advice import to_command_line

    return [to_command_line(note) for note in getattr(error, "__notes__", ())]


def with_traceback_option(command: click.Command) -> click.Command:
    """Add the option ``--traceback`` to a command, or to all commands of a group."""
    if not any("--traceback" in parameter.opts for parameter in command.params):
        command.params.append(
            click.Option(
                ["--traceback"],
                is_flag=True,
                expose_value=False,
                is_eager=True,
                callback=_enable_traceback,
                help="Show the full traceback of an error.",
            )
        )
    commands = command.commands.values() if type(command) is click.Group else ()
    for subcommand in commands:
        with_traceback_option(subcommand)
    return command


def _enable_traceback(ctx: click.Context, _option: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[_KEY] = True  # shared by all contexts of a command line
