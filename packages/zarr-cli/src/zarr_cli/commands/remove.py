"""The command ``zarr-core remove``."""

from __future__ import annotations

import sys

import click
from zarr_core.extension import escape_controls
from zarr_core.messages import format_bytes, pluralize

from zarr_cli.errors import Failure, explain_interrupt
from zarr_cli.location import Location, location_arguments
from zarr_cli.output import echo, json_option, print_json


@click.command
@location_arguments("location")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option(
    "--force",
    is_flag=True,
    help="Remove every key below the location, also unmanaged keys and damaged nodes.",
)
@click.option("-n", "--dry-run", is_flag=True, help="Print what would be removed; remove nothing.")
@json_option
def command(
    location: Location,
    yes: bool,
    force: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Remove an array or a group, with all nodes below it.

    The command prints the number of nodes and their size, and asks for confirmation. If there
    are unmanaged keys, nothing is removed, and the message lists them.

    The JSON document of --json has location, dry_run, nodes (the number of arrays and groups),
    nbytes (null if it was not measured).
    """
    nodes, nbytes = _nodes_to_remove(location, force=force, measured=dry_run or not yes)
    what = ", ".join(pluralize(number, kind) for kind, number in nodes.items()) or "every key"
    if nbytes is not None:
        what += f", {format_bytes(nbytes)}"
    if not dry_run:
        if not yes:
            _confirm(escape_controls(f"Remove {location} ({what})?"))
        left = (
            f"{location} is partly removed, metadata first. To finish, run the same command again"
        )
        more = "." if force else "; if it finds no node, add --force."
        with explain_interrupt(left + more):
            _remove(location, force=force)
    if as_json:
        print_json(
            {"location": str(location), "dry_run": dry_run, "nodes": nodes, "nbytes": nbytes}
        )
    else:
        echo(f"{'would remove' if dry_run else 'removed'} {location}: {what}")


def _confirm(question: str) -> None:
    try:
        confirmed = click.confirm(question, err=True)
    except click.Abort:
        if sys.stdin is not None and sys.stdin.isatty():
            raise
        click.echo(err=True)
        raise Failure(
            "nothing was removed, because standard input does not answer the question; to "
            "remove without a question, add --yes"
        ) from None
    if not confirmed:
        raise click.Abort


def _nodes_to_remove(
    location: Location, *, force: bool, measured: bool
) -> tuple[dict[str, int], int | None]:
    """Return the number of arrays and groups to remove, and their size if ``measured``."""
    import zarr_core

    if force:
        store, path = location.locate()
        if next(iter(store.list_prefix(f"{path}/" if path else "")), None) is None:
            raise Failure(f"no keys are stored at {location}")
        return {}, zarr_core.getsize(store, path) if measured else None
    node = location.open("r+", use_consolidated=False)
    nbytes = zarr_core.getsize(node) if measured else None
    if isinstance(node, zarr_core.Array):
        return {"array": 1}, nbytes
    arrays = sum(1 for _ in node.arrays(max_depth=None))
    groups = sum(1 for _ in node.groups(max_depth=None))
    return {"array": arrays, "group": groups + 1}, nbytes


def _remove(location: Location, *, force: bool) -> None:
    import zarr_core

    from zarr_cli.modify.open_stores import open_node_in

    store, path = location.locate(read_only=False)
    with store:
        if force:
            zarr_core.rmdir(store, path)
        else:
            zarr_core.remove(open_node_in(store, location, "r+"))
