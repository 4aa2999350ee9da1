"""The command ``zarr-core migrate``, compatible with the command of zarr-python."""

from __future__ import annotations

from typing import Any

import click

from zarr_cli.errors import Failure
from zarr_cli.location import Location, location_arguments
from zarr_cli.output import echo, json_option
from zarr_cli.progress import ProgressOutput, progress_options


@click.group
def command() -> None:
    """Migrate hierarchies to version 3, with the options of zarr-python."""


@command.command
@location_arguments("source", "dest", optional=("dest",), zarr_format=False)
@click.option("-n", "--dry-run", is_flag=True, help="Print what would be written; write nothing.")
@click.option("--overwrite", is_flag=True, help="Replace existing metadata of version 3.")
@click.option(
    "--force", is_flag=True, help="With --overwrite, also if the source is not version 2."
)
@click.option(
    "--remove-v2-metadata", is_flag=True, help="Remove the old metadata after the migration."
)
@progress_options
@json_option
def v3(
    source: Location,
    dest: Location | None,
    dry_run: bool,
    overwrite: bool,
    force: bool,
    remove_v2_metadata: bool,
    progress: ProgressOutput,
    as_json: bool,
) -> None:
    """Migrate an array or a hierarchy of version 2 (or 1) to version 3.

    Without DEST, metadata of version 3 is written next to the old metadata, and chunks are
    not changed. With DEST, chunks are copied too; the command of zarr-python writes only
    metadata there. zarr-core convert has more options.

    The JSON document of --json is that of zarr-core convert.
    """
    from zarr_core.formats.detect import read_node

    from zarr_cli.modify.conversion import run_conversion

    options: dict[str, Any] = {}
    if not force:
        store, path = source.locate()
        for zarr_format in (2, 1):
            try:
                options["source_format"] = read_node(store, path, zarr_format)[0].name
                break
            except LookupError:
                continue
        else:
            raise Failure(f"{source} has no node of version 2 or 1; see: zarr-core info {source}")
    run_conversion(
        source, dest, "converting", progress=progress, consolidate=False, dry_run=dry_run,
        as_json=as_json, zarr_format=3,
        overwrite=overwrite, remove_source=remove_v2_metadata and dest is None, **options,
    )  # fmt: skip
    if remove_v2_metadata and dest is not None and not as_json:
        echo(f"{source} is unchanged: --remove-v2-metadata applies only to a migration in place")
