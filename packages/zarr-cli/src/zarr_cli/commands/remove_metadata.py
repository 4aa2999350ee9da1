"""The command ``zarr-core remove-metadata``, compatible with the command of zarr-python."""

from __future__ import annotations

import click
from zarr_core.messages import pluralize

from zarr_cli.location import Location, location_arguments
from zarr_cli.output import echo, json_option, print_json


@click.command
@click.argument("version", type=click.Choice(["v2", "v3"]))
@location_arguments("location", zarr_format=False)
@click.option(
    "--force", is_flag=True, help="Also remove them from nodes without metadata of another version."
)
@click.option("-n", "--dry-run", is_flag=True, help="Print what would be removed; remove nothing.")
@json_option
def command(version: str, location: Location, force: bool, dry_run: bool, as_json: bool) -> None:
    """Remove the metadata documents of one version from a hierarchy, but no chunks.

    Use it after a migration in place. It is an error if a node has only metadata of that
    version, unless --force is used.

    The JSON document of --json has location, dry_run, documents (a list of keys).
    """
    from zarr_transfer import remove_documents

    store, path = location.locate(read_only=dry_run)
    with store:
        removed = remove_documents(store, int(version[1:]), path=path, force=force, dry_run=dry_run)
    if as_json:
        print_json({"location": str(location), "dry_run": dry_run, "documents": removed})
        return
    for key in removed if dry_run else ():
        echo(key)
    verb = "would be removed" if dry_run else "removed"
    documents = f"{pluralize(len(removed), 'document')} of version {version[1:]}"
    echo(f"{location}: {documents} {verb}")
