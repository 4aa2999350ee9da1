"""Removing nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zarr_cli.changing.stopping import stoppable
from zarr_cli.failing import Failure
from zarr_cli.output import json_option, print_json
from zarr_cli.place import Place, takes_places
from zarr_cli.progress import Progressing, progress_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core import Progress


@click.command
@takes_places("place")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--force",
    is_flag=True,
    help="Remove every key below the place, also what is no Zarr node or is damaged.",
)
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be removed, remove nothing.")
@progress_options
@json_option
def command(
    place: Place, yes: bool, force: bool, dry_run: bool, progress: Progressing, as_json: bool
) -> None:
    """Remove an array or a group, with all below it.

    Asks before, after saying how much it is. What belongs to no Zarr node is not
    removed: then nothing is, and the message says what is in the way.
    """
    from zarr_cli.changing.counted import counted  # noqa: PLC0415 - as above
    from zarr_cli.sizes import bytes_for_people  # noqa: PLC0415 - lazy: not for help

    nodes, nbytes = _found(place, force=force, measured=dry_run or not yes)
    what = ", ".join(counted(number, kind) for kind, number in nodes.items()) or "every key"
    if nbytes is not None:
        what += f", {bytes_for_people(nbytes)}"
    if not dry_run:
        if not yes:
            click.confirm(f"Remove {place} ({what})?", abort=True, err=True)
        left = f"Some of {place} is removed, documents first. The same command removes the rest"
        more = "." if force else "; if it finds no node any more, add --force."
        with stoppable(left + more), progress.bar("removing") as reports:
            _remove(place, reports, force=force)
    if as_json:
        print_json({"place": str(place), "dry_run": dry_run, "nodes": nodes, "nbytes": nbytes})
    else:
        click.echo(f"{'would remove' if dry_run else 'removed'} {place}: {what}")


def _found(place: Place, *, force: bool, measured: bool) -> tuple[dict[str, int], int | None]:
    """How many nodes of each kind are to be removed; how many bytes, if that is asked for."""
    import zarr_core  # noqa: PLC0415 - lazy: not for help

    if force:
        store, path = place.locate()
        if next(iter(store.list_prefix(f"{path}/" if path else "")), None) is None:
            raise Failure(f"nothing is stored at {place}")
        return {}, zarr_core.getsize(store, path) if measured else None
    node = place.open("r+", use_consolidated=False)
    nbytes = zarr_core.getsize(node) if measured else None
    if isinstance(node, zarr_core.Array):
        return {"array": 1}, nbytes
    arrays = sum(1 for _ in node.arrays(max_depth=None))
    groups = sum(1 for _ in node.groups(max_depth=None))
    return {"array": arrays, "group": groups + 1}, nbytes


def _remove(place: Place, reports: Callable[[Progress], None] | None, *, force: bool) -> None:
    import zarr_core  # noqa: PLC0415 - lazy: not for help

    from zarr_cli.changing.places import open_in  # noqa: PLC0415 - as above

    store, path = place.locate(read_only=False)
    try:
        if force:
            zarr_core.rmdir(store, path, progress=reports)
        else:
            zarr_core.remove(open_in(store, place, "r+"), progress=reports)
    finally:
        store.close()
