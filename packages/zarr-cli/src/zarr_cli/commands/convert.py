"""From any format to any other."""

from __future__ import annotations

from typing import Any

import click

from zarr_cli.changing.rewriting import rewriting_options
from zarr_cli.place import Place, takes_places


def _format(_ctx: click.Context, _param: click.Parameter, text: str | None) -> int | str | None:
    return int(text) if text and text.isdigit() else text


@click.command
@takes_places("source", "dest", optional=("dest",), zarr_format=False)
@click.option(
    "--zarr-format", callback=_format, default="3", show_default=True, metavar="FORMAT",
    help="The format of the result: 3, 2, 1, draft, n5, ...",
)  # fmt: skip
@click.option(
    "--source-format", callback=_format, metavar="FORMAT",
    help="The format of the source, where it has documents of several.",
)  # fmt: skip
@rewriting_options
@click.option("--remove-source", is_flag=True, help="Remove the source when all is done.")
@click.option("--skip-errors", is_flag=True, help="Leave out nodes that cannot be converted.")
def command(
    source: Place, dest: Place | None, layout: dict[str, Any], skip_errors: bool, **options: Any
) -> None:
    r"""Convert an array, or a group with all below it, to another format.

    In place if there is no DEST: the new documents come to stand beside the old ones, and
    chunks stay where they are. Nothing is decoded that need not be.

    \b
    zarr-core convert old.zarr                      version 2 to 3, documents only
    zarr-core convert old.zarr new.zarr -s auto     into shards
    zarr-core convert cells.n5 cells.zarr --dry-run

    --include and --exclude choose the arrays that get another layout, if one is asked for;
    others keep theirs.
    """
    from zarr_cli.changing.converting import run  # noqa: PLC0415 - lazy: not for help

    on_error = "skip" if skip_errors else "raise"
    run(source, dest, "converting", on_error=on_error, **layout, **options)
