"""Copying nodes between any two places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from zarr_cli.changing.choosing import Choice, choosing_options
from zarr_cli.changing.stopping import stoppable
from zarr_cli.output import json_option, print_json
from zarr_cli.place import Place, takes_places
from zarr_cli.progress import Progressing, progress_options

if TYPE_CHECKING:
    from typing import Literal


@click.command
@takes_places("source", "dest", zarr_format=False)
@click.option("--overwrite", is_flag=True, help="Remove what is at DEST first, with all below it.")
@click.option("--skip-existing", is_flag=True, help="Leave arrays that are there as they are.")
@click.option(
    "--compare",
    type=click.Choice(["content", "size"]),
    default="content",
    show_default=True,
    help="How to tell, going on after a stop, what is copied already; size is faster.",
)
@choosing_options
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be copied, write nothing.")
@progress_options
@json_option
def command(
    source: Place,
    dest: Place,
    overwrite: bool,
    skip_existing: bool,
    compare: Literal["content", "size"],
    choice: Choice,
    dry_run: bool,
    progress: Progressing,
    as_json: bool,
) -> None:
    r"""Copy an array or a group, with all below it, to another place or store.

    Nothing is decoded: chunks are copied as they are stored. The copy is what DEST says,
    no member of it.

    \b
    zarr-core copy field.zarr s3://bucket/field.zarr
    zarr-core copy survey.zarr#north/elevation elevation.zip
    zarr-core copy old.zarr new.zarr --include 'ocean/*' --exclude ocean/raw

    A copy that was interrupted is continued by the same command, without --overwrite.
    Another format, other chunks: zarr-core convert, zarr-core rechunk.
    """
    import zarr_core  # noqa: PLC0415 - lazy: not for help

    from zarr_cli.changing.counted import counted  # noqa: PLC0415 - as above
    from zarr_cli.changing.places import around, open_in, stores  # noqa: PLC0415 - as above
    from zarr_cli.changing.watched import watched  # noqa: PLC0415 - as above
    from zarr_cli.sizes import bytes_for_people  # noqa: PLC0415 - as above

    lines: list[str] = []
    options: dict[str, Any] = {
        "overwrite": overwrite,
        "if_exists": "skip" if skip_existing else "raise",
        "compare": compare,
        "only": None if choice.is_all else choice,
        "log": lines.append,
    }
    left = (
        f"What was copied stays at {dest}, where nothing is seen that is not complete. The same "
        "command goes on from there" + (", without --overwrite." if overwrite else ".")
    )
    with stores(source, dest) as (from_store, to_store):
        node = open_in(from_store, source)
        if not choice.is_all:
            zarr_core.copy(node, {}, source.path, dry_run=True, only=choice)
            choice.refuse_nothing(source)
        if dry_run:
            zarr_core.copy(node, around(to_store, dest), dest.path, dry_run=True, **options)
            nbytes, keys = None, None
        else:
            with stoppable(left), watched(progress, "copying") as reports:
                place = around(to_store, dest)
                zarr_core.copy(node, place, dest.path, progress=reports, **options)
            nbytes, keys = reports.nbytes, reports.keys
    nodes = [line for line in lines if line.startswith(("copy ", "skip "))]
    if as_json:
        print_json(
            {
                "source": str(source),
                "dest": str(dest),
                "dry_run": dry_run,
                "nodes": [_node(line) for line in nodes],
                "keys": keys,
                "nbytes": nbytes,
            }
        )
        return
    if dry_run:
        for line in nodes:
            click.echo(line)
    copied = sum(line.startswith("copy ") for line in nodes)
    skipped = f", {len(nodes) - copied} there already" * (copied < len(nodes))
    if dry_run:
        click.echo(f"would copy {counted(copied, 'node')}{skipped} to {dest}")
    else:
        click.echo(
            f"copied {counted(copied, 'node')}{skipped} to {dest}: {keys} chunks or other keys, "
            f"{bytes_for_people(nbytes or 0)} stored"
        )


def _node(line: str) -> dict[str, str]:
    action, _, rest = line.partition(" ")
    return {"action": action, "path": rest.partition(" (")[0]}
