"""The click group of all commands, which imports them on use."""

from __future__ import annotations

import sys
from contextlib import closing
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from zarr_cli import errors
from zarr_cli.table import COMMANDS, SECTIONS, module_name

PROGRAM = "zarr-core"


class LazyGroup(click.Group):
    """A group that finds and lists commands by the table, and reports their errors."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(module_name(cmd_name)).command
        _keep_examples(command)
        return errors.with_traceback_option(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and any(mark in name for mark in "/.#:"):
            args = ["info", *args]  # a location without a command
        elif name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            of_zarr_python = name in ("migrate", "remove-metadata")
            close = ["convert"] if of_zarr_python else get_close_matches(name, COMMANDS, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"see {PROGRAM} --help."
            ctx.fail(f"unknown command {name!r}; {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS)) + 2
        for title, section in SECTIONS.items():
            if section:
                with formatter.section(title):
                    formatter.write_dl(
                        [(name.ljust(width - 2), summary) for name, summary in section.items()]
                    )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        return [
            *(
                CompletionItem(name, help=summary)
                for name, summary in COMMANDS.items()
                if name.startswith(incomplete)
            ),
            *click.Command.shell_complete(self, ctx, incomplete),
        ]

    def invoke(self, ctx: click.Context) -> Any:
        with errors.report_errors(ctx):
            from zarr_transfer import WaitNotices  # slow to import; not for --help

            with closing(WaitNotices(_write_error)):
                result = super().invoke(ctx)
                sys.stdout.flush()  # a closed pipe is found here and not at the end of the process
                return result


def _write_error(line: str) -> None:
    click.echo(line, err=True, nl=False)


def _keep_examples(command: click.Command) -> None:
    r"""Replace the two characters ``\b`` of raw docstrings, so that click keeps the lines."""
    below = command.commands.values() if isinstance(command, click.Group) else ()
    for each in (command, *below):
        each.help = (each.help or "").replace("\\b\n", "\b\n")


@click.command(
    cls=LazyGroup,
    name=PROGRAM,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="A LOCATION without a command runs info. A LOCATION is a path or a URL of a store, "
    "optionally followed by #path/in/the/hierarchy: field.zarr, "
    "s3://bucket/field.zarr#north/elevation, field.zip.",
)
@click.version_option(package_name="zarr-cli", prog_name=PROGRAM)
def cli() -> None:
    """Inspect, check and change Zarr hierarchies."""


errors.with_traceback_option(cli)
