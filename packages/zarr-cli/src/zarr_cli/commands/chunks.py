"""Which chunks of an array are stored."""

from __future__ import annotations

from pathlib import Path

import click

from zarr_cli.output import console, is_terminal, json_option, print_json
from zarr_cli.place import Place, takes_places


@click.command
@takes_places("place")
@click.option(
    "--dims", help="One or two dimensions to show, such as y,x or 0,2; by default the last."
)
@click.option(
    "--at",
    "fixed",
    multiple=True,
    metavar="DIM=INDEX",
    help="Of this dimension one index only; again for more. Others are summed.",
)
@click.option("--shards", is_flag=True, help="Count shards, without looking into them.")
@click.option("--no-sizes", is_flag=True, help="Only which there are; costs one listing.")
@click.option("--cells", type=click.IntRange(1), help="So many cells at most along a dimension.")
@click.option(
    "--svg",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the map as a picture.",
)
@json_option
def command(
    place: Place,
    dims: str | None,
    fixed: tuple[str, ...],
    shards: bool,
    no_sizes: bool,
    cells: int | None,
    svg: Path | None,
    as_json: bool,
) -> None:
    r"""Which chunks are stored, how large they are: a map.

    \b
    zarr-core chunks survey.zarr#north/elevation
    zarr-core chunks field.zarr#t --at time=3 --svg t.svg

    Of the last two dimensions of the chunk grid, if not told otherwise; also where
    compression fails. No chunk is read. Of a large grid several neighbours share a cell.

    The document of --json has name, unit (chunk or shard), dims, others, shape, per_cell;
    total, total_stored, total_nbytes, total_nbytes_in_memory, total_incompressible (numbers);
    chunks, stored, nbytes, nbytes_in_memory, incompressible (lists of numbers, one a cell);
    problems, complete.
    """
    array = place.open_array()
    wanted = None if dims is None else [_dimension(item) for item in dims.split(",")]
    try:
        shown = array.chunk_map(
            wanted,
            dict(map(_fixed, fixed)),
            sizes=not no_sizes,
            inner=not shards,
            cells=cells or (256 if as_json or svg else _fitting()),
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if svg is not None:
        svg.write_text(shown.to_svg(), encoding="utf-8")
    if as_json:
        print_json(shown.to_dict())
    elif svg is None:
        console().print(shown) if is_terminal() else click.echo(repr(shown))


def _fitting() -> int:
    """Cells that fit beside each other, so that no row of the map is broken."""
    return min(64, console().width) if is_terminal() else 64


def _dimension(text: str) -> int | str:
    return int(text) if text.strip().lstrip("-").isdigit() else text.strip()


def _fixed(text: str) -> tuple[int | str, int]:
    name, equals, index = text.partition("=")
    if not equals or not index.lstrip("-").isdigit():
        raise click.BadParameter(f"{text!r} is not DIM=INDEX", param_hint="--at")
    return _dimension(name), int(index)
