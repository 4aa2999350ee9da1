"""The command ``zarr-core plan``."""

from __future__ import annotations

import click

from zarr_cli.location import Location, location_arguments
from zarr_cli.output import echo, json_option, print_json


@click.command
@location_arguments("location")
@click.argument("selection", default="")
@click.option("--write", is_flag=True, help="Plan writing the selection instead of reading it.")
@click.option(
    "--exact", is_flag=True, help="Request the sizes of chunks, and read the indexes of shards."
)
@json_option
def command(location: Location, selection: str, write: bool, exact: bool, as_json: bool) -> None:
    r"""Show what reading a selection would request, transfer, decode and need in memory.

    \b
    zarr-core plan survey.zarr#north/elevation 1000:1010,2000:2005
    zarr-core plan s3://bucket/field.zarr#t time=0 --exact
    zarr-core plan field.zarr#t time=0 --write

    SELECTION is written as for cat; all elements by default. Only metadata is read; no
    element is read or written. Every chunk is assumed to be stored and not to compress, unless
    --exact asks the store. Requests for parts of shards and of uncompressed chunks are an estimate.

    The JSON document of --json has location, access (read or write), shape, chunks, inner_chunks
    (null without shards), requests, read_requests, write_requests, read_nbytes, write_nbytes,
    decoded_nbytes, nbytes, peak_nbytes, smallest_nbytes (the smallest max_memory), is_exact.
    """
    from zarr_transfer import plan_selection

    from zarr_cli.cat.selection import as_index, parse_selection

    array = location.open_array()
    parts = parse_selection(selection, array.shape, array.dimension_names)
    plan = plan_selection(array, as_index(parts), "write" if write else "read", exact=exact)
    if as_json:
        print_json(plan.to_dict())
    else:
        echo(str(plan))
