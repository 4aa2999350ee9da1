"""The command ``zarr-core plan``."""

from __future__ import annotations

import click

from zarr_cli.location import Location, location_arguments
from zarr_cli.output import echo, json_option, print_json


@click.command
@location_arguments("location")
@click.argument("selection", default="")
@json_option
def command(location: Location, selection: str, as_json: bool) -> None:
    r"""Show which chunks reading a selection would fetch and decode.

    \b
    zarr-core plan survey.zarr#north/elevation 1000:1010,2000:2005
    zarr-core plan s3://bucket/field.zarr#t time=0

    SELECTION is written as for cat; all elements by default. Only metadata is read. Every chunk is
    assumed to be stored.

    The JSON document of --json has location, shape, chunks, all_chunks, inner_chunks (null without
    shards), decoded_nbytes, nbytes.
    """
    from zarr_transfer import plan_selection

    from zarr_cli.cat.selection import as_index, parse_selection

    array = location.open_array()
    parts = parse_selection(selection, array.shape, array.dimension_names)
    plan = plan_selection(array, as_index(parts))
    if as_json:
        print_json(plan.to_dict())
    else:
        echo(str(plan))
