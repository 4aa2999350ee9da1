"""The command ``zarr-core diff``."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import click
from zarr_core.messages import pluralize

from zarr_cli.errors import ProblemsFound
from zarr_cli.location import Location, location_arguments
from zarr_cli.output import json_option, print_json, print_styled
from zarr_cli.progress import ProgressOutput, progress_options

if TYPE_CHECKING:
    from zarr_cli.compare import Comparison

_TOLERANCE = click.FloatRange(min=0)


@click.command
@location_arguments("a", "b")
@click.option(
    "--rtol", type=_TOLERANCE, default=0.0, help="Relative tolerance for numbers, relative to B."
)
@click.option("--atol", type=_TOLERANCE, default=0.0, help="Absolute tolerance for numbers.")
@click.option("--meta-only", is_flag=True, help="Compare metadata only, not elements.")
@click.option(
    "--ignore-storage",
    is_flag=True,
    help="Ignore differences of chunks, shards, codecs and keys.",
)
@progress_options
@json_option
def command(
    a: Location,
    b: Location,
    rtol: float,
    atol: float,
    meta_only: bool,
    ignore_storage: bool,
    progress: ProgressOutput,
    as_json: bool,
) -> None:
    r"""Compare two arrays or hierarchies.

    \b
    zarr-core diff field.zarr copy.zip
    zarr-core diff a.zarr#t b.zarr#t --ignore-storage --rtol 1e-6

    Groups are compared with all nodes below them. Stores and formats may differ: metadata is
    compared in the form of version 3, elements in blocks. NaN is equal to NaN.

    Exit status: 0 if they are equal, 1 if they differ, 2 for a usage error.

    If a fill value of version 2 and an attribute _FillValue of version 3 mask different elements for
    xarray, this is a difference, although the stored elements may be equal.

    The JSON document of --json has equal, nodes (a number), differences: a list of {path, what,
    where, a, b, message}, where what is node, metadata or values, and where is a JSON pointer
    or the index of the first element that differs.
    """
    from zarr_cli.compare import compare
    from zarr_cli.compare.compare_values import Tolerance

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
        raise ProblemsFound


def _print(result: Comparison) -> None:
    for path, differences in groupby(result.differences, lambda difference: difference.path):
        print_styled([(path, "bold")])
        for difference in differences:
            where = difference.where if difference.what == "metadata" else difference.what
            print_styled([(f"  {where}", "cyan"), (f": {difference.message}", "")])
    nodes = pluralize(result.nodes, "node")
    if not result.differences:
        print_styled([("equal", "bold green"), (f": {nodes} compared", "")])
        return
    count = pluralize(len(result.differences), "difference")
    values = "; the stored values are equal" if result.values_equal else ""
    print_styled([(count, "bold red"), (f" in {nodes}{values}", "")])
