"""Other chunks, shards, codecs, data types."""

from __future__ import annotations

from typing import Any

import click

from zarr_cli.changing.rewriting import rewriting_options
from zarr_cli.place import Place, takes_places


@click.command
@takes_places("source", "dest", zarr_format=False)
@rewriting_options
def command(source: Place, dest: Place, layout: dict[str, Any], **options: Any) -> None:
    r"""Write an array, or all arrays below a group, in other chunks, shards or codecs.

    \b
    zarr-core rechunk field.zarr tall.zarr -c time=all,lat=10,lon=10 --verify
    zarr-core rechunk field.zarr small.zarr -z zstd:19 -d float32 --include temperature
    zarr-core rechunk field.zarr wide.zarr -c 1,1000,1000 -s 10,1000,1000 --max-memory 2G

    Lengths by names of dimensions leave the others as they are, and arrays that have none
    of the names. What is not asked for stays. Arrays that do not change are copied as they
    are stored. One that was interrupted goes on, within an array too, by the same command.
    """
    from zarr_cli.changing.converting import run  # noqa: PLC0415 - lazy: not for help

    if not layout:
        raise click.UsageError("say what is to change: --chunks, --shards, --compressor, --dtype")
    run(source, dest, "rechunking", **layout, **options)
