"""Copies of all documents in that of the group."""

from __future__ import annotations

import click

from zarr_cli.failing import Failure, Findings
from zarr_cli.output import json_option, print_json
from zarr_cli.place import Place, takes_places
from zarr_cli.progress import Progressing, progress_options


@click.command
@takes_places("place")
@click.option(
    "--check", is_flag=True, help="Only say whether the copies are true: status 1 if not."
)
@click.option("--remove", is_flag=True, help="Remove the copies.")
@progress_options
@json_option
def command(place: Place, check: bool, remove: bool, progress: Progressing, as_json: bool) -> None:
    """Copy the documents of all nodes below a group into its own: it then opens by one read."""
    import zarr_core  # noqa: PLC0415 - lazy: not for help

    if check and remove:
        raise click.UsageError("--check and --remove do not go together")
    if check:
        group = place.open()
        if not isinstance(group, zarr_core.Group):
            raise Failure(f"{place} is an array; consolidated metadata are those of a group")
        _check(place, group, progress, as_json)
        return
    store, path = place.locate(read_only=False)
    try:
        if remove:
            group = zarr_core.unconsolidate_metadata(store, path, zarr_format=place.zarr_format)
        else:
            with progress.bar("reading documents") as reports:
                group = zarr_core.consolidate_metadata(
                    store, path, zarr_format=place.zarr_format, progress=reports
                )
    finally:
        store.close()
    metadata = group.metadata.consolidated
    nodes = 0 if metadata is None else len(metadata.entries)
    if as_json:
        print_json({"place": str(place), "consolidated": metadata is not None, "nodes": nodes})
    elif remove:
        click.echo(f"{place} has no consolidated metadata")
    else:
        click.echo(f"{place} has copies of the documents of {nodes} nodes")


def _check(place: Place, group: object, progress: Progressing, as_json: bool) -> None:
    import zarr_core  # noqa: PLC0415 - lazy: not for help

    assert isinstance(group, zarr_core.Group)
    if group.metadata.consolidated is None:
        raise Failure(f"{place} has no consolidated metadata; zarr-core consolidate {place}")
    with progress.bar("reading documents") as reports:
        difference = zarr_core.check_consolidated(group, progress=reports)
    if as_json:
        parts = {name: list(getattr(difference, name)) for name in ("stale", "missing", "extra")}
        print_json({"place": str(place), "up_to_date": not difference, **parts})
    else:
        click.echo(f"{place}: {difference}")
    if difference:
        raise Findings
