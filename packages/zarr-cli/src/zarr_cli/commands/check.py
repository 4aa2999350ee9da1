"""Whether chunks can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zarr_cli.failing import Findings
from zarr_cli.output import json_option, print_json, print_styled
from zarr_cli.place import Place, takes_places
from zarr_cli.progress import Progressing, progress_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_cli.checking import ArrayCheck, Check


@click.command
@takes_places("place")
@click.option(
    "--strict", is_flag=True, help="Missing chunks and foreign keys count as damage does."
)
@progress_options
@json_option
def command(place: Place, strict: bool, progress: Progressing, as_json: bool) -> None:
    r"""Whether every chunk of a hierarchy can be read.

    \b
    zarr-core check survey.zarr
    zarr-core check s3://bucket/field.zarr -q || echo damaged

    All that is stored of an array, or of all arrays below a group, is read and decoded, whereby checksums are verified. Told are chunks
    that are damaged or cut short; how many are missing, which read as the fill value; keys
    that belong to nothing; chunks left outside an array that has shrunk; nodes that cannot
    be opened. Nothing is changed.

    Exit status: 0 if all can be read, 1 if not, 2 if the command is wrong.

    The document of --json has store, path, sound, complete, damaged, missing (numbers);
    arrays: a list of {path, unit, total, stored, missing, has_checksums, damages, outside,
    foreign}, where each of damages is {key, chunk, kind, reason} and kind is checksum,
    damaged or unreadable; unopened: a list of {path, problem}; foreign: a list of keys.
    """
    from zarr_cli.checking import check  # noqa: PLC0415 - lazy: not for help

    store, path = place.locate()
    with progress.bar("check") as report:
        result = check(store, path, place.zarr_format, report)
    if as_json:
        print_json(result.to_json())
    elif not progress.quiet:
        _print(result)
    if not result.is_sound or (strict and not result.is_complete):
        raise Findings


def _print(result: Check) -> None:
    for path, problem in result.unopened.items():
        print_styled([(path, "bold"), (f"  cannot be opened: {problem}", "red")], hanging=4)
    for array in result.arrays:
        if array.damages or array.outside or array.foreign:
            print_styled([(array.path, "bold")])
        for damage in array.damages:
            print_styled(
                [(f"  {damage.kind:<10}", "red"), (damage.key, "cyan"), (f"  {damage.reason}", "")],
                hanging=12,
            )
        _print_keys("outside", array.outside)
        _print_keys("foreign", array.foreign)
    if result.foreign:
        print_styled([("in groups", "bold")])
        _print_keys("foreign", result.foreign)
    _print_summary(result)


_SHOWN = 10  # keys of a kind


def _print_keys(what: str, keys: Sequence[str]) -> None:
    for key in keys[:_SHOWN]:
        print_styled([(f"  {what:<10}", "yellow"), (key, "cyan")])
    if len(keys) > _SHOWN:
        print_styled([(f"  ... and {len(keys) - _SHOWN} more", "dim")])


def _print_summary(result: Check) -> None:
    read = _counted(result.arrays, "stored")
    missing = _counted([array for array in result.arrays if array.missing], "missing")
    damaged = sum(len(array.damages) for array in result.arrays)
    arrays = f"{len(result.arrays)} array{'' if len(result.arrays) == 1 else 's'}"
    verdict = ("sound", "bold green") if result.is_sound else ("not sound", "bold red")
    print_styled([verdict, (f": {read or 'nothing'} read, of {arrays}; {damaged} damaged", "")])
    if missing:
        print_styled([(f"{missing} not stored, which read as the fill value", "dim")])
    if unprotected := [it.path for it in result.arrays if it.stored and not it.has_checksums]:
        shown = ", ".join(unprotected[:_SHOWN]) + (", ..." if len(unprotected) > _SHOWN else "")
        print_styled(
            [(f"no checksum, so that some damage cannot be noticed: {shown}", "dim")], hanging=2
        )


def _counted(arrays: Sequence[ArrayCheck], what: str) -> str:
    """Such as ``12 chunks, 1 shard``."""
    parts = []
    for unit in ("chunk", "shard"):
        number = sum(getattr(array, what) for array in arrays if array.unit == unit)
        if number:
            parts.append(f"{number} {unit}{'' if number == 1 else 's'}")
    return ", ".join(parts)
