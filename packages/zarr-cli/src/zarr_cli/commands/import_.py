"""Files of other kinds as hierarchies."""

from __future__ import annotations

from typing import Any

import click

from zarr_cli.changing.layout import memory_option
from zarr_cli.changing.stopping import going_on, stoppable
from zarr_cli.changing.words import parse_codecs, parse_lengths
from zarr_cli.failing import Failure
from zarr_cli.output import json_option, print_json
from zarr_cli.place import Place, takes_places
from zarr_cli.progress import Progressing, progress_options

_NUMPY = (".npy", ".npz")


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@takes_places("dest", zarr_format=False)
@click.option("-c", "--chunks", metavar="LENGTHS", help="Chunks; by default those of the file.")
@click.option("-s", "--shards", metavar="LENGTHS", help="Shards: lengths or auto.")
@click.option(
    "-z", "--codec", "codecs", multiple=True, metavar="CODEC",
    help="A codec: zstd, zstd:5, JSON; by default those that the filters of the file are here.",
)  # fmt: skip
@click.option("--group", metavar="PATH", help="The group or dataset of the file that is wanted.")
@click.option("--include", multiple=True, metavar="PATTERN", help="Only such paths of the file.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Not these.")
@click.option("--zarr-format", metavar="FORMAT", help="3, 2, ...; by default 3.")
@click.option("--consolidate", is_flag=True, help="Consolidate metadata at the end.")
@click.option("--skip-unsupported", is_flag=True, help="Leave out what Zarr has no words for.")
@click.option("--overwrite", is_flag=True, help="Remove what is at DEST first.")
@memory_option
@progress_options
@json_option
def command(
    file: str,
    dest: Place,
    chunks: str | None,
    shards: str | None,
    codecs: tuple[str, ...],
    group: str | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    zarr_format: str | None,
    consolidate: bool,
    skip_unsupported: bool,
    overwrite: bool,
    max_memory: int | None,
    progress: Progressing,
    as_json: bool,
) -> None:
    r"""Bring a file of HDF5, NetCDF or NumPy into a hierarchy.

    \b
    zarr-core import ocean.nc ocean.zarr
    zarr-core import run.h5 run.zarr --include 'sensors/*' -s auto
    zarr-core import height.npy height.zarr -c 100,100

    Chunks are taken as they are stored where their filters are codecs here. What was
    interrupted is continued by the same command, without --overwrite.
    """
    options: dict[str, Any] = {"path": dest.path, "overwrite": overwrite}
    if chunks is not None:
        options["chunks"] = parse_lengths(chunks)
    if shards is not None:
        options["shards"] = parse_lengths(shards)
    if codecs:
        options["codecs"] = parse_codecs(codecs) or []
    if zarr_format:
        options["zarr_format"] = int(zarr_format) if zarr_format.isdigit() else zarr_format
    if max_memory is not None:
        options["max_memory"] = max_memory
    of_numpy = file.lower().endswith(_NUMPY)
    if not of_numpy:
        options |= {
            "group": group or "/",
            "include": include or None,
            "exclude": exclude or None,
            "consolidated": consolidate,
            "unsupported": "skip" if skip_unsupported else "raise",
        }
    elif group or include or exclude:
        raise click.UsageError("--group, --include and --exclude are for HDF5 and NetCDF")
    from zarr_cli.changing.places import keep_consolidated  # noqa: PLC0415 - lazy: not for help

    try:
        import zarr_import  # noqa: PLC0415 - lazy: not for help
    except ImportError:
        raise Failure("this takes zarr-import: pip install zarr-import[hdf5]") from None
    bring = zarr_import.import_numpy if of_numpy else zarr_import.import_hdf5
    store, _ = dest.locate(read_only=False)
    left = f"{file} is as it was; {going_on(store, dest, overwrite=overwrite)}"
    try:
        with stoppable(left), progress.bar("importing") as reports:
            report = bring(file, store, progress=reports, **options)
        keep_consolidated(store, dest)
    finally:
        store.close()
    if as_json:
        print_json(report.asdict())
    else:
        click.echo(str(report))
