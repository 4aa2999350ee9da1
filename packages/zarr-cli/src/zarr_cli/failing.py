"""What a user sees when something fails: a readable paragraph, or the whole traceback."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEY = "zarr_cli.traceback"

INTERRUPTED = 130
"""The status with which shells tell that a program was interrupted."""


class Failure(click.ClickException):
    """Something that was asked could not be done; the process ends with status 1."""

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"{click.style('Error:', fg='red', bold=True)} {self.message}", file, err=True)


class Findings(click.exceptions.Exit):
    """All was done, something was found: status 1, nothing more to say."""

    def __init__(self) -> None:
        super().__init__(1)


@contextmanager
def explained(ctx: click.Context) -> Iterator[None]:
    """Turn errors of the library, with what it warns of, into sentences on standard error.

    Raises
    ------
    Failure
        In place of any error that is not click's own, unless tracebacks were asked for.
    """
    # Not for good: others may call commands from a program of their own.
    told, warnings.showwarning = warnings.showwarning, _show_warning
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except (BrokenPipeError, SystemExit):
        raise  # click ends quietly if nobody reads on
    except KeyboardInterrupt:
        click.echo("Interrupted.", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except BaseException as error:  # a panic of a module in Rust is no Exception
        if ctx.meta.get(_KEY):
            raise
        raise Failure(sentence(error)) from error
    finally:
        warnings.showwarning = told


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    from zarr_cli.advice import typed  # noqa: PLC0415 - lazy: only when there is a warning

    text = typed(str(message))
    click.echo(f"{click.style('Warning:', fg='yellow', bold=True)} {text}", err=True)


def sentence(error: BaseException) -> str:
    """What an error says, for people."""
    from zarr_core.extension import ZarrError  # noqa: PLC0415 - lazy: only when something failed

    from zarr_cli.advice import typed  # noqa: PLC0415 - as above

    text = typed(str(error))
    if text and isinstance(error, (ZarrError, OSError, ValueError, ImportError)):
        return text
    return (
        f"{type(error).__name__}: {text or 'no message'}\n"
        "This was not expected; --traceback shows where it happened."
    )


def with_traceback_option(command: click.Command) -> click.Command:
    """Give a command, or all commands of a group, the option ``--traceback``."""
    if not any("--traceback" in parameter.opts for parameter in command.params):
        command.params.append(
            click.Option(
                ["--traceback"],
                is_flag=True,
                expose_value=False,
                is_eager=True,
                callback=_remember,
                help="Show the whole traceback of an error.",
            )
        )
    commands = command.commands.values() if type(command) is click.Group else ()
    for below in commands:
        with_traceback_option(below)
    return command


def _remember(ctx: click.Context, _option: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[_KEY] = True  # shared by the contexts of a command line
