"""The command ``zarr-core check``."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import click
from zarr_core.messages import pluralize

from zarr_cli.advice import to_command_line
from zarr_cli.errors import ProblemsFound
from zarr_cli.location import Location, location_arguments
from zarr_cli.output import json_option, print_json, print_styled
from zarr_cli.progress import ProgressOutput, progress_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_cli.check import ArrayCheck, Check
    from zarr_cli.validate import Validation


@click.command
@location_arguments("location")
@click.option("--meta-only", is_flag=True, help="Check metadata only; read no chunks.")
@click.option(
    "--strict",
    is_flag=True,
    help="Warnings, missing chunks and unmanaged keys also give status 1.",
)
@progress_options
@json_option
def command(
    location: Location,
    meta_only: bool,
    strict: bool,
    progress: ProgressOutput,
    as_json: bool,
) -> None:
    r"""Check all metadata and every chunk of a hierarchy.

    \b
    zarr-core check survey.zarr
    zarr-core check old.zarr --meta-only --strict
    zarr-core check s3://bucket/field.zarr -q || echo damaged

    The metadata of a node and of all nodes below it is validated against the JSON Schemas of
    its format, the constraints between fields, and the extensions that it names. Consolidated
    metadata is compared with the stored metadata. Each problem has a JSON pointer.

    Then all stored chunks are read and decoded, which verifies checksums. The report lists
    chunks that are damaged or truncated, the number of missing chunks (which read as the fill
    value), unmanaged keys, and chunks outside the shape of an array that has shrunk. Nothing
    is changed.

    Exit status: 0 if everything is valid and can be read, 1 if not, 2 for a
    usage error.

    The JSON document of --json has store, path, zarr_format, sound, complete, nodes, errors,
    warnings, damaged, missing (numbers); problems: a list of {path, pointer, message, kind,
    severity}, where kind is document, extension, consolidated or store, and severity is error
    or warning; arrays: a list of {path, unit, total, stored, missing, has_checksums, damages,
    outside, unmanaged}, where each of damages is {key, chunk, kind, reason} and
    kind is checksum, damaged or unreadable; unmanaged: a list of keys. With --meta-only,
    arrays is empty.
    """
    from zarr_cli.check import check

    store, path = location.locate()
    with progress.bar("check") as report:
        result = check(store, path, location.zarr_format, report, chunks=not meta_only)
    if as_json:
        print_json(result.to_json())
    elif not progress.quiet:
        _print(result, meta_only=meta_only)
    if not result.is_sound or (strict and not result.is_complete):
        raise ProblemsFound


def _print(result: Check, *, meta_only: bool) -> None:
    _print_problems(result.metadata)
    for array in result.arrays:
        if array.damages or array.outside or array.unmanaged:
            print_styled([(array.path, "bold")])
        for damage in array.damages:
            print_styled(
                [(f"  {damage.kind:<10}", "red"), (damage.key, "cyan"), (f"  {damage.reason}", "")]
            )
        _print_keys("outside", array.outside)
        _print_keys("unmanaged", array.unmanaged)
    if result.unmanaged:
        print_styled([("in groups", "bold")])
        _print_keys("unmanaged", result.unmanaged)
    _print_nodes(result.metadata)
    if not meta_only:
        _print_chunks(result)


def _print_problems(result: Validation) -> None:
    ordered = sorted(result.problems, key=lambda problem: problem.path)
    for path, problems in groupby(ordered, lambda problem: problem.path):
        print_styled([(path, "bold")])
        for problem in problems:
            print_styled(
                [
                    ("  " if problem.is_error else "  warning ", "yellow"),
                    (problem.pointer or "metadata", "cyan"),
                    (f": {to_command_line(problem.message)}", ""),
                ]
            )


def _print_nodes(result: Validation) -> None:
    nodes = pluralize(result.nodes, "node")
    if not result.problems:
        print_styled([("valid", "bold green"), (f": {nodes} of format {result.zarr_format}", "")])
        return
    parts = [pluralize(result.errors, "problem")] if result.errors else []
    parts += [pluralize(result.warnings, "warning")] if result.warnings else []
    style = "bold red" if result.errors else "yellow"
    print_styled([(", ".join(parts), style), (f" in {nodes}", "")])


_SHOWN = 10  # keys that are listed per category


def _print_keys(label: str, keys: Sequence[str]) -> None:
    for key in keys[:_SHOWN]:
        print_styled([(f"  {label:<10}", "yellow"), (key, "cyan")])
    if len(keys) > _SHOWN:
        print_styled([(f"  ... and {len(keys) - _SHOWN:,} more", "dim")])


def _print_chunks(result: Check) -> None:
    read = _counted(result.arrays, "stored")
    missing = _counted([array for array in result.arrays if array.missing], "missing")
    damaged = sum(len(array.damages) for array in result.arrays)
    arrays = pluralize(len(result.arrays), "array")
    verdict = ("sound", "bold green") if result.is_sound else ("not sound", "bold red")
    print_styled([verdict, (f": {read or 'nothing'} read in {arrays}; {damaged:,} damaged", "")])
    if missing:
        print_styled([(f"{missing} missing (read as the fill value)", "dim")])
    if unprotected := [x.path for x in result.arrays if x.stored and not x.has_checksums]:
        shown = ", ".join(unprotected[:_SHOWN]) + (", ..." if len(unprotected) > _SHOWN else "")
        print_styled([(f"no checksum, some damage cannot be detected: {shown}", "dim")])


def _counted(arrays: Sequence[ArrayCheck], what: str) -> str:
    """Return a text such as ``12 chunks, 1 shard``."""
    parts = []
    for unit in ("chunk", "shard"):
        number = sum(getattr(array, what) for array in arrays if array.unit == unit)
        if number:
            parts.append(pluralize(number, unit))
    return ", ".join(parts)
