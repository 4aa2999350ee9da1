"""The command ``zarr-core convert``."""

from __future__ import annotations

from typing import Any

import click

from zarr_cli.location import Location, format_option, location_arguments
from zarr_cli.modify.rewrite_options import rewrite_options


@click.command
@location_arguments("source", "dest", optional=("dest",), zarr_format=False)
@format_option(about="The format of the result: 3 (default), 2, 1, draft, n5, ...")
@format_option(
    "--source-format", about="The format of the source, if it has metadata of several formats."
)
@rewrite_options
@click.option("--remove-source", is_flag=True, help="Remove the source after the conversion.")
@click.option("--skip-errors", is_flag=True, help="Ignore nodes that cannot be converted.")
def command(
    source: Location,
    dest: Location | None,
    layout: dict[str, Any],
    skip_errors: bool,
    zarr_format: int | str | None,
    **options: Any,
) -> None:
    r"""Convert an array, or a group with all nodes below it, to another format.

    Without DEST, the conversion is in place: new metadata documents are written next to the
    old ones, and chunks are not moved. Chunks are decoded only if necessary.

    \b
    zarr-core convert old.zarr                      version 2 to 3, metadata only
    zarr-core convert old.zarr new.zarr -s auto     into shards
    zarr-core convert cells.n5 cells.zarr --dry-run

    --include and --exclude choose the arrays to which the layout options apply. Other arrays
    keep their layout.

    The JSON document of --json has source, dest, source_format, dest_format, dry_run, cost,
    steps: a list of {path, kind, cost, notes, problems}, one per node, where cost is
    nothing, document, copy or recode.
    """
    from zarr_cli.modify.conversion import run_conversion

    on_error = "skip" if skip_errors else "raise"
    run_conversion(
        source,
        dest,
        "converting",
        on_error=on_error,
        zarr_format=3 if zarr_format is None else zarr_format,
        **layout,
        **options,
    )
