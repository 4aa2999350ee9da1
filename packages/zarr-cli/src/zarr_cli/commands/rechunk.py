"""The command ``zarr-core rechunk``."""

from __future__ import annotations

from typing import Any

import click

from zarr_cli.location import Location, location_arguments
from zarr_cli.modify.rewrite_options import rewrite_options


@click.command
@location_arguments("source", "dest", zarr_format=False)
@rewrite_options
def command(source: Location, dest: Location, layout: dict[str, Any], **options: Any) -> None:
    r"""Rewrite an array, or all arrays below a group, with other chunks, shards or codecs.

    \b
    zarr-core rechunk field.zarr tall.zarr -c time=all,lat=10,lon=10 --verify
    zarr-core rechunk field.zarr small.zarr -z zstd:19 -d float32 --include temperature
    zarr-core rechunk field.zarr wide.zarr -c 1,1000,1000 -s 10,1000,1000 --max-memory 2G

    Lengths by dimension name do not change other dimensions, nor arrays without these
    dimensions. Properties without an option do not change. Arrays that do not change are
    copied as they are stored. To resume an interrupted run, also within an array, run the
    same command again.

    The JSON document of --json has source, dest, source_format, dest_format, dry_run, cost,
    steps: a list of {path, kind, cost, chunks, nbytes, notes, problems}, one per node, where
    cost is nothing, document, copy or recode.
    """
    from zarr_cli.modify.conversion import run_conversion

    if not layout:
        raise click.UsageError(
            "no change requested; use --chunks, --shards, --compressor or --dtype"
        )
    run_conversion(source, dest, "rechunking", **layout, **options)
