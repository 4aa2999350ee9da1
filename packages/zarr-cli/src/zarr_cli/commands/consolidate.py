"""The command ``zarr-core consolidate``."""

from __future__ import annotations

import click
from zarr_core.messages import pluralize

from zarr_cli.location import Location, location_arguments
from zarr_cli.output import echo, json_option, print_json
from zarr_cli.progress import ProgressOutput, progress_options


@click.command
@location_arguments("location")
@click.option("--remove", is_flag=True, help="Remove consolidated metadata.")
@progress_options
@json_option
def command(location: Location, remove: bool, progress: ProgressOutput, as_json: bool) -> None:
    """Store the metadata of all nodes below a group in the group, to open it with one read.

    To check whether they are up to date, use zarr-core check --meta-only.

    The JSON document of --json has location, consolidated, nodes (a number).
    """
    import zarr_core

    store, path = location.locate(read_only=False)
    with store:
        if remove:
            group = zarr_core.unconsolidate_metadata(store, path, zarr_format=location.zarr_format)
        else:
            with progress.bar("reading metadata") as reports:
                group = zarr_core.consolidate_metadata(
                    store, path, zarr_format=location.zarr_format, progress=reports
                )
    metadata = group.metadata.consolidated
    nodes = 0 if metadata is None else len(metadata.entries)
    if as_json:
        print_json(
            {"location": str(location), "consolidated": metadata is not None, "nodes": nodes}
        )
    elif remove:
        echo(f"{location}: consolidated metadata removed")
    else:
        echo(f"{location}: consolidated metadata of {pluralize(nodes, 'node')} written")
