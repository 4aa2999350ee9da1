"""Where two hierarchies differ."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import click

from zarr_cli.failing import Findings
from zarr_cli.output import json_option, print_json, print_styled
from zarr_cli.place import Place, takes_places
from zarr_cli.progress import Progressing, progress_options

if TYPE_CHECKING:
    from zarr_cli.comparing import Comparison

_TOLERANCE = click.FloatRange(min=0)


@click.command
@takes_places("a", "b")
@click.option(
    "--rtol", type=_TOLERANCE, default=0.0, help="Numbers may differ by so much of that in B."
)
@click.option("--atol", type=_TOLERANCE, default=0.0, help="Numbers may differ by so much.")
@click.option("--meta-only", is_flag=True, help="Compare no elements.")
@click.option(
    "--ignore-storage",
    is_flag=True,
    help="Let chunks, shards, codecs, keys differ: only what readers see counts.",
)
@progress_options
@json_option
def command(
    a: Place,
    b: Place,
    rtol: float,
    atol: float,
    meta_only: bool,
    ignore_storage: bool,
    progress: Progressing,
    as_json: bool,
) -> None:
    r"""Where two arrays or hierarchies differ.

    \b
    zarr-core diff field.zarr copy.zip
    zarr-core diff a.zarr#t b.zarr#t --ignore-storage --rtol 1e-6

    Groups are compared with all that is below them. They may be in different stores and formats: documents are compared in the words of
    version 3, elements piece by piece. NaN is the same as NaN.

    Exit status: 0 if nothing differs, 1 if something does, 2 if the command is wrong.

    The document of --json has equal, nodes (a number), differences: a list of {path, what,
    where, a, b, message}, where what is node, metadata or values, and where is a JSON pointer
    or the index of the first element that differs.
    """
    from zarr_cli.comparing import compare  # noqa: PLC0415 - lazy: not for help
    from zarr_cli.comparing.values import Tolerance  # noqa: PLC0415 - as above

    with progress.bar("compare") as report:
        result = compare(
            a.open(),
            b.open(),
            values=not meta_only,
            storage=not ignore_storage,
            tolerance=Tolerance(rtol, atol),
            progress=report,
        )
    if as_json:
        print_json(result.to_json())
    elif not progress.quiet:
        _print(result)
    if result.differences:
        raise Findings


def _print(result: Comparison) -> None:
    for path, differences in groupby(result.differences, lambda difference: difference.path):
        print_styled([(path, "bold")])
        for difference in differences:
            where = difference.where if difference.what == "metadata" else difference.what
            print_styled([(f"  {where}", "cyan"), (f": {difference.message}", "")], hanging=4)
    nodes = f"{result.nodes} node{'' if result.nodes == 1 else 's'}"
    if not result.differences:
        print_styled([("equal", "bold green"), (f": {nodes} compared", "")])
        return
    count = len(result.differences)
    print_styled(
        [(f"{count} difference{'' if count == 1 else 's'}", "bold red"), (f" in {nodes}", "")]
    )
