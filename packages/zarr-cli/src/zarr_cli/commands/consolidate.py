"""The command ``zarr-core consolidate``."""

from __future__ import annotations

import click
from zarr_core.messages import pluralize

from zarr_cli.errors import Failure, ProblemsFound
from zarr_cli.location import Location, location_arguments
from zarr_cli.output import echo, json_option, print_json
from zarr_cli.progress import ProgressOutput, progress_options


@click.command
@location_arguments("location")
@click.option(
    "--check", is_flag=True, help="Only check whether they are up to date; status 1 if not."
)
@click.option("--remove", is_flag=True, help="Remove consolidated metadata.")
@progress_options
@json_option
def command(
    location: Location, check: bool, remove: bool, progress: ProgressOutput, as_json: bool
) -> None:
    """Store the metadata of all nodes below a group in the group, to open it with one read.

    The JSON document of --json has location, consolidated, nodes (a number); with --check, it
    has location, up_to_date, and the lists of paths stale, missing, extra.
    """
    import zarr_core

    if check and remove:
        raise click.UsageError("--check and --remove cannot be combined")
    if check:
        group = location.open()
        if not isinstance(group, zarr_core.Group):
            raise Failure(f"{location} is an array; only groups have consolidated metadata")
        _check(location, group, progress, as_json)
        return
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


def _check(location: Location, group: object, progress: ProgressOutput, as_json: bool) -> None:
    import zarr_core

    assert isinstance(group, zarr_core.Group)
    if group.metadata.consolidated is None:
        raise Failure(
            f"{location} has no consolidated metadata; create it with: "
            f"zarr-core consolidate {location}"
        )
    with progress.bar("reading metadata") as reports:
        difference = zarr_core.check_consolidated(group, progress=reports)
    if as_json:
        parts = {name: list(getattr(difference, name)) for name in ("stale", "missing", "extra")}
        print_json({"location": str(location), "up_to_date": not difference, **parts})
    else:
        echo(f"{location}: {difference}")
    if difference:
        raise ProblemsFound
