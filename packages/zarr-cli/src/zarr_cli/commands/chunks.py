"""The command ``zarr-core chunks``."""

from __future__ import annotations

import shutil

import click

from zarr_cli.location import Location, location_arguments
from zarr_cli.output import echo, is_terminal, json_option, print_json


@click.command
@location_arguments("location")
@click.option(
    "--dims", help="One or two dimensions to show, such as y,x or 0,2; default: the last two."
)
@click.option(
    "--at",
    "fixed",
    multiple=True,
    metavar="DIM=INDEX",
    help="Show only this index of a dimension. Can be repeated. Other dimensions are summed.",
)
@click.option("--shards", is_flag=True, help="Count shards instead of inner chunks.")
@click.option("--no-sizes", is_flag=True, help="Do not read sizes; needs only one listing.")
@click.option("--cells", type=click.IntRange(1), help="Maximum number of cells along a dimension.")
@json_option
def command(
    location: Location,
    dims: str | None,
    fixed: tuple[str, ...],
    shards: bool,
    no_sizes: bool,
    cells: int | None,
    as_json: bool,
) -> None:
    r"""Show a map of which chunks are stored and how large they are.

    \b
    zarr-core chunks survey.zarr#north/elevation
    zarr-core chunks field.zarr#t --at time=3

    The map shows the last two dimensions of the chunk grid by default, and also chunks that
    do not compress. No chunk is read. In a large grid, several neighbours share a cell.

    The JSON document of --json has name, unit (chunk or shard), dims, others, shape, per_cell;
    total, total_stored, total_nbytes, total_nbytes_in_memory, total_incompressible (numbers);
    chunks, stored, nbytes, nbytes_in_memory, incompressible (lists of numbers, one per cell);
    problems, complete.
    """
    from zarr_display.chunk_map import chunk_map

    array = location.open_array()
    wanted = None if dims is None else [_dimension(item) for item in dims.split(",")]
    try:
        shown = chunk_map(
            array,
            wanted,
            dict(map(_fixed, fixed)),
            sizes=not no_sizes,
            inner=not shards,
            cells=cells or (256 if as_json else _default_cells()),
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        print_json(shown.to_dict())
    else:
        echo(repr(shown))


def _default_cells() -> int:
    """Return the number of cells that fit into a row without wrapping."""
    return min(64, shutil.get_terminal_size().columns) if is_terminal() else 64


def _dimension(text: str) -> int | str:
    return int(text) if text.strip().lstrip("-").isdigit() else text.strip()


def _fixed(text: str) -> tuple[int | str, int]:
    name, equals, index = text.partition("=")
    if not equals or not index.lstrip("-").isdigit():
        raise click.BadParameter(f"{text!r} is not DIM=INDEX", param_hint="--at")
    return _dimension(name), int(index)
