"""The command ``zarr-core move``."""

from __future__ import annotations

import click

from zarr_cli.errors import explain_interrupt
from zarr_cli.location import Location, location_arguments
from zarr_cli.output import echo, json_option, print_json
from zarr_cli.progress import ProgressOutput, progress_options


@click.command
@location_arguments("source", "dest", zarr_format=False)
@click.option("-n", "--dry-run", is_flag=True, help="Print what would be moved; change nothing.")
@progress_options
@json_option
def command(
    source: Location, dest: Location, dry_run: bool, progress: ProgressOutput, as_json: bool
) -> None:
    r"""Move an array or a group, with all nodes below it, to another location or store.

    A directory is renamed. In other stores, or between stores, the node is copied, and the
    source is removed when the copy is complete.

    \b
    zarr-core move survey.zarr#north survey.zarr#south
    zarr-core move field.zarr s3://bucket/field.zarr

    The JSON document of --json has source, dest, dry_run.
    """
    import zarr_core

    from zarr_cli.modify.open_stores import open_node_in, open_stores, root_or_store

    lines: list[str] = []
    left = (
        "The node is complete at one of the two locations. To finish, run the same command again."
    )
    with open_stores(source, dest, changes_source=not dry_run) as (from_store, to_store):
        if dry_run:
            node = open_node_in(from_store, source)
            zarr_core.copy(node, to_store, dest.path, dry_run=True, log=lines.append)
        else:
            node = open_node_in(from_store, source, "r+")
            with explain_interrupt(left), progress.bar("moving") as reports:
                root = root_or_store(to_store, dest)
                zarr_core.move(node, root, dest.path, progress=reports)
    if as_json:
        print_json({"source": str(source), "dest": str(dest), "dry_run": dry_run})
        return
    for line in lines[:-1]:
        echo(line.replace("copy ", "move ", 1))
    echo(f"{'would move' if dry_run else 'moved'} {source} to {dest}")
