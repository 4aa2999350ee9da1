"""Giving nodes another place."""

from __future__ import annotations

import click

from zarr_cli.changing.stopping import stoppable
from zarr_cli.output import json_option, print_json
from zarr_cli.place import Place, takes_places
from zarr_cli.progress import Progressing, progress_options


@click.command
@takes_places("source", "dest", zarr_format=False)
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be moved, change nothing.")
@progress_options
@json_option
def command(
    source: Place, dest: Place, dry_run: bool, progress: Progressing, as_json: bool
) -> None:
    r"""Move an array or a group, with all below it, to another place or store.

    A directory is renamed. In other stores, or between two, everything is copied, and the
    source removed when all of it is there.

    \b
    zarr-core move survey.zarr#north survey.zarr#south
    zarr-core move field.zarr s3://bucket/field.zarr
    """
    import zarr_core  # noqa: PLC0415 - lazy: not for help

    from zarr_cli.changing.places import around, open_in, stores  # noqa: PLC0415 - as above

    lines: list[str] = []
    left = "The node is whole at one of the two places. The same command completes what was begun."
    with stores(source, dest, changes_source=not dry_run) as (from_store, to_store):
        if dry_run:
            node = open_in(from_store, source)
            zarr_core.copy(node, to_store, dest.path, dry_run=True, log=lines.append)
        else:
            node = open_in(from_store, source, "r+")
            with stoppable(left), progress.bar("moving") as reports:
                place = around(to_store, dest)
                zarr_core.move(node, place, dest.path, progress=reports)
    if as_json:
        print_json({"source": str(source), "dest": str(dest), "dry_run": dry_run})
        return
    for line in lines[:-1]:
        click.echo(line.replace("copy ", "move ", 1))
    click.echo(f"{'would move' if dry_run else 'moved'} {source} to {dest}")
