"""The command ``zarr-core import``."""

from __future__ import annotations

from typing import Any

import click

from zarr_cli.errors import Failure, explain_interrupt
from zarr_cli.location import Location, format_option, location_arguments
from zarr_cli.modify.arguments import parse_codecs, parse_lengths
from zarr_cli.modify.layout_options import memory_option
from zarr_cli.output import echo, json_option, print_json
from zarr_cli.progress import ProgressOutput, progress_options


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@location_arguments("dest", zarr_format=False)
@click.option(
    "-c", "--chunks", metavar="LENGTHS", help="Chunk lengths; default: those of the file."
)
@click.option("-s", "--shards", metavar="LENGTHS", help="Shard lengths, or auto.")
@click.option(
    "-z", "--codec", "codecs", multiple=True, metavar="CODEC",
    help="A codec: zstd, zstd:5, JSON; default: the codecs that match the filters of the file.",
)  # fmt: skip
@click.option("--group", metavar="PATH", help="The group or dataset of the file to import.")
@click.option("--include", multiple=True, metavar="PATTERN", help="Import only paths that match.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Do not import paths that match.")
@format_option(about="Format: 3, 2, ...; default 3.")
@click.option("--consolidate", is_flag=True, help="Write consolidated metadata at the end.")
@click.option("--skip-unsupported", is_flag=True, help="Ignore objects that Zarr does not support.")
@click.option(
    "--external", is_flag=True,
    help="Read elements and follow links in other files; only for files that you trust.",
)  # fmt: skip
@click.option("--overwrite", is_flag=True, help="First remove an existing node at DEST.")
@click.option(
    "--timeout", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
    help="Read the file in a child process; stop if it does not respond for SECONDS.",
)  # fmt: skip
@memory_option
@progress_options
@json_option
def command(
    file: str,
    dest: Location,
    chunks: str | None,
    shards: str | None,
    codecs: tuple[str, ...],
    group: str | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    zarr_format: int | str | None,
    consolidate: bool,
    skip_unsupported: bool,
    external: bool,
    overwrite: bool,
    timeout: float | None,
    max_memory: int | None,
    progress: ProgressOutput,
    as_json: bool,
) -> None:
    r"""Import an HDF5 or NetCDF file.

    \b
    zarr-core import ocean.nc ocean.zarr
    zarr-core import run.h5 run.zarr --include 'sensors/*' -s auto

    Chunks are copied without decoding if Zarr has codecs for their filters. To resume an
    interrupted import, run the same command without --overwrite.

    The JSON document of --json is the report of the import, with all objects of the file.
    """
    options: dict[str, Any] = {
        "path": dest.path,
        "group": group or "/",
        "include": include or None,
        "exclude": exclude or None,
        "consolidated": consolidate,
        "unsupported": "skip" if skip_unsupported else "raise",
        "external": external,
        "timeout": timeout,
        "overwrite": overwrite,
    }
    if chunks is not None:
        options["chunks"] = parse_lengths(chunks)
    if shards is not None:
        options["shards"] = parse_lengths(shards)
    if codecs:
        options["codecs"] = parse_codecs(codecs) or []
    if zarr_format:
        options["zarr_format"] = zarr_format
    if max_memory is not None:
        options["max_memory"] = max_memory
    from zarr_cli.modify.open_stores import resume_hint, update_consolidated

    try:
        from zarr_import import import_hdf5
    except ImportError:
        raise Failure("zarr-import is not installed; run: pip install zarr-import[hdf5]") from None
    store, _ = dest.locate(read_only=False)
    left = f"{file} is unchanged. {resume_hint(store, dest, overwrite=overwrite)}"
    with store:
        with explain_interrupt(left), progress.bar("importing") as reports:
            report = import_hdf5(file, store, progress=reports, **options)
        update_consolidated(store, dest)
    if as_json:
        print_json(report.asdict())
    else:
        echo(str(report))
