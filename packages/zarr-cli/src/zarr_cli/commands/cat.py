"""Elements of an array."""

from __future__ import annotations

import shutil
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import click

from zarr_cli.output import is_terminal
from zarr_cli.place import Place, takes_places
from zarr_cli.progress import Progressing, progress_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from zarr_core import Array

    from zarr_cli.slicing.selection import Part

    Pieces = Iterable[np.ndarray[Any, Any]]


@click.command
@takes_places("place")
@click.argument("selection", default="")
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["text", "csv", "json", "npy"]),
    default="text",
    help="How elements are written.",
)
@click.option(
    "--all", "whole", is_flag=True, help="Also on a terminal all elements, however many there are."
)
@click.option(
    "-O",
    "--output",
    type=click.Path(dir_okay=False),
    default="-",
    metavar="FILE",
    help="Where to write; by default to standard output.",
)
@progress_options
def command(
    place: Place, selection: str, form: str, whole: bool, output: str, progress: Progressing
) -> None:
    r"""The elements of an array, or of a part of it.

    \b
    zarr-core cat survey.zarr#north/elevation 1000:1010,2000:2005
    zarr-core cat field.zarr#t time=0,lat=::10 -f csv > t.csv
    zarr-core cat field.zarr#t -f npy -O t.npy

    SELECTION is written as in NumPy, without spaces: 10:20,:,3 or ...,0 or ::100. Where
    dimensions have names: time=0,y=10:20. Put -- before one that begins with a minus sign.

    \b
    text  a line for each row, an empty line between planes; on a terminal
          only the corners of what has more than 1000 elements, if not --all
    csv   a matrix as it is; else the indices of an element before its value,
          or before its fields, with a heading
    json  lists within lists; NaN, Infinity, -Infinity are strings
    npy   a file that numpy.load reads

    What is large is read in pieces of 32 MiB, so it need not fit into memory.
    """
    from zarr_cli.slicing.selection import SelectionTextError, parse_selection  # noqa: PLC0415 - lazy: not for help

    array = place.open_array()
    try:
        parts = parse_selection(selection, array.shape, array.dimension_names)
    except SelectionTextError as error:
        raise click.BadParameter(str(error), param_hint="SELECTION") from None
    on_terminal = output == "-" and is_terminal()
    if form == "npy" and on_terminal:
        raise click.UsageError("a terminal cannot show NPY; redirect it, or give --output FILE.")
    if form == "text" and on_terminal and not whole:
        _print_glance(array, parts, progress)
        return
    # Where the elements appear there is no place for a bar.
    shown = replace(progress, shown=progress.shown and not on_terminal)
    with shown.bar("read") as report:
        _write(array, parts, form, output, report)


def _print_glance(array: Array, parts: tuple[Part, ...], progress: Progressing) -> None:
    from zarr_cli.slicing.glance import WHOLE, glance  # noqa: PLC0415 - lazy: not for help
    from zarr_cli.slicing.selection import lengths  # noqa: PLC0415 - as above

    click.echo(glance(array, parts, shutil.get_terminal_size().columns))
    if (count := prod(lengths(parts))) > WHOLE:
        progress.note(f"the corners of {count} elements; --all prints every one")


def _write(array: Array, parts: tuple[Part, ...], form: str, output: str, report: Any) -> None:
    from zarr_cli.slicing.pieces import read_pieces  # noqa: PLC0415 - lazy: not for help
    from zarr_cli.slicing.selection import lengths  # noqa: PLC0415 - as above
    from zarr_cli.slicing.target import written_whole  # noqa: PLC0415 - as above

    shape = lengths(parts)
    pieces = _told(read_pieces(array, parts), array, shape, report)
    encoded = _encoded(array, parts, shape, form, pieces)
    with written_whole(output) as target:
        for part in encoded:
            target.write(part)


def _encoded(
    array: Array, parts: tuple[Part, ...], shape: tuple[int, ...], form: str, pieces: Pieces
) -> Iterator[bytes | memoryview]:
    from zarr_cli.slicing import npy, writers  # noqa: PLC0415 - lazy: not for help

    if form == "npy":
        return npy.npy_parts(npy.npy_header(shape, array.dtype), pieces)
    if form == "csv":
        lines = writers.csv_lines(pieces, shape, _names(array, parts), array.dtype.names)
    else:
        lines = (writers.json_lines if form == "json" else writers.text_lines)(pieces, shape)
    return map(str.encode, lines)


def _names(array: Array, parts: tuple[Part, ...]) -> list[str]:
    names = array.dimension_names or (None,) * array.ndim
    return [
        name or f"dim_{number}"
        for number, (name, part) in enumerate(zip(names, parts, strict=True))
        if not isinstance(part, int)
    ]


def _told(pieces: Pieces, array: Array, shape: tuple[int, ...], report: Any) -> Iterator[Any]:
    """The same pieces; how many elements have been written is told."""
    from zarr_core.extension import ProgressReporter  # noqa: PLC0415 - lazy: not for help

    reporter = ProgressReporter(report, 1)
    reporter.begin(array.path, prod(shape), "elements")
    for piece in pieces:
        yield piece
        reporter.advance(piece.size, piece.nbytes)
    reporter.end()
