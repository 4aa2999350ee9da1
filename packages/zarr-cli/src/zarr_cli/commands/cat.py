"""The command ``zarr-core cat``."""

from __future__ import annotations

import shutil
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import click

from zarr_cli.location import Location, location_arguments
from zarr_cli.output import echo, escape_text, is_terminal, json_option
from zarr_cli.progress import ProgressOutput, progress_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from zarr_core import Array

    from zarr_cli.cat.selection import Part

    Blocks = Iterable[np.ndarray[Any, Any]]


@click.command
@location_arguments("location")
@click.argument("selection", default="")
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["text", "csv", "json", "npy"]),
    help="Output format; default: text.",
)
@click.option("--all", "whole", is_flag=True, help="Print all elements, also to a terminal.")
@progress_options
@json_option
def command(
    location: Location,
    selection: str,
    form: str | None,
    whole: bool,
    progress: ProgressOutput,
    as_json: bool,
) -> None:
    r"""Print the elements of an array, or of a selection of it.

    \b
    zarr-core cat survey.zarr#north/elevation 1000:1010,2000:2005
    zarr-core cat field.zarr#t time=0,lat=::10 -f csv > t.csv
    zarr-core cat field.zarr#t -f npy > t.npy

    SELECTION is written as in NumPy, without spaces: 10:20,:,3 or ...,0 or ::100. With
    dimension names: time=0,y=10:20. Put -- before a selection that begins with a minus sign.

    \b
    text  one line per row, an empty line between planes; a terminal shows only
          the corners of more than 1000 elements, unless --all
    csv   two dimensions: the matrix; otherwise one line per element with its
          indices and its value or fields, below a header
    json  nested lists; NaN, Infinity, -Infinity are strings
    npy   a file for numpy.load

    Large selections are read in blocks of 32 MiB and need not fit into memory.

    The JSON document of --json is that of --format json.
    """
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} cannot be combined")
    form = "json" if as_json else form or "text"
    from zarr_cli.cat.selection import parse_selection

    array = location.open_array()
    parts = parse_selection(selection, array.shape, array.dimension_names)
    on_terminal = is_terminal()
    if form == "npy" and on_terminal:
        raise click.UsageError("cannot print NPY to a terminal; redirect the output to a file.")
    if form == "text" and on_terminal and not whole:
        _print_preview(array, parts, progress)
        return
    # A bar would mix with the elements on the terminal.
    shown = replace(progress, shown=progress.shown and not on_terminal)
    with shown.bar("read") as report:
        _write(array, parts, form, report)


def _print_preview(array: Array, parts: tuple[Part, ...], progress: ProgressOutput) -> None:
    from zarr_cli.cat.preview import WHOLE, preview
    from zarr_cli.cat.selection import lengths

    echo(preview(array, parts, shutil.get_terminal_size().columns))
    if (count := prod(lengths(parts))) > WHOLE:
        progress.note(f"corners of {count:,} elements; --all prints all of them")


def _write(array: Array, parts: tuple[Part, ...], form: str, report: Any) -> None:
    from zarr_cli.cat.blocks import read_blocks
    from zarr_cli.cat.selection import lengths

    shape = lengths(parts)
    blocks = _report_progress(read_blocks(array, parts), array, shape, report)
    encoded = _encoded(array, parts, shape, form, blocks)
    with click.open_file("-", "wb") as target:
        for part in map(_escaped, encoded) if is_terminal() else encoded:
            target.write(part)


def _encoded(
    array: Array, parts: tuple[Part, ...], shape: tuple[int, ...], form: str, blocks: Blocks
) -> Iterator[bytes | memoryview]:
    from zarr_cli.cat import npy, writers

    if form == "npy":
        return npy.npy_parts(npy.npy_header(shape, array.dtype), blocks)
    if form == "csv":
        lines = writers.csv_lines(blocks, shape, _names(array, parts), array.dtype.names)
    else:
        lines = (writers.json_lines if form == "json" else writers.text_lines)(blocks, shape)
    return map(str.encode, lines)


def _escaped(part: bytes | memoryview) -> bytes:
    """Escape control characters of CSV, which has no escapes of its own, for a terminal."""
    return escape_text(str(part, "utf-8"), keep="\n").encode()


def _names(array: Array, parts: tuple[Part, ...]) -> list[str]:
    names = array.dimension_names or (None,) * array.ndim
    return [
        name or f"dim_{number}"
        for number, (name, part) in enumerate(zip(names, parts, strict=True))
        if not isinstance(part, int)
    ]


def _report_progress(
    blocks: Blocks, array: Array, shape: tuple[int, ...], report: Any
) -> Iterator[Any]:
    """Yield the blocks and report how many elements were written."""
    from zarr_core.optional import reporter_for

    reporter = reporter_for(report, 1)
    reporter.begin(array.path, prod(shape), "elements")
    for block in blocks:
        yield block
        reporter.advance(block.size, block.nbytes)
    reporter.end()
