"""The command ``zarr-core verify``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from zarr_core.messages import format_bytes, pluralize

from zarr_cli.commands.digest import require_stores
from zarr_cli.errors import ProblemsFound
from zarr_cli.location import Location, location_arguments
from zarr_cli.output import json_option, print_json, print_styled
from zarr_cli.progress import ProgressOutput, progress_options

if TYPE_CHECKING:
    from zarr_stores.integrity.verify import Verification


@click.command
@location_arguments("location", zarr_format=False)
@click.option(
    "--manifest", "file", metavar="FILE", type=click.Path(exists=True, dir_okay=False),
    help="The manifest; default: the one that is stored at LOCATION or above.",
)  # fmt: skip
@progress_options
@json_option
def command(
    location: Location,
    file: str | None,
    progress: ProgressOutput,
    as_json: bool,
) -> None:
    r"""Compare a hierarchy with its manifest, and name each key that differs.

    \b
    zarr-core verify survey.zarr --manifest survey.manifest.jsonl
    zarr-core verify s3://bucket/survey.zarr -q || echo damaged

    Every value is read and hashed. A key is missing, unexpected (not in the manifest), of another
    size, of another content, or unreadable. Unlike the checksums that check reads, this finds
    chunks that are swapped, lost, added, or from an older state of the array.

    A stored manifest describes the values as they were when digest --store read them: a change
    since then is also reported.

    Exit status: 0 if everything is as in the manifest, 1 if not, 2 for a usage error.

    The JSON document of --json has store, path, sound, digest, keys, nbytes, listed (whether
    unexpected keys can be found); problems: a list of {key, kind, reason}.
    """
    require_stores()
    from zarr_stores.integrity.verify import verify

    store, path = location.locate()
    with store, progress.bar("verify") as report:
        result = verify(store, file, path, progress=report)
    if as_json:
        print_json(result.to_json())
    elif not progress.quiet:
        _print(result)
    if not result.is_sound:
        raise ProblemsFound


def _print(result: Verification) -> None:
    for problem in result.problems:
        print_styled(
            [
                (f"{problem.kind:<11}", "red"),
                (problem.key or "/", "cyan"),
                (f"  {problem.reason}", ""),
            ]
        )
    verdict = ("sound", "bold green") if result.is_sound else ("not sound", "bold red")
    keys, size = pluralize(result.keys, "key"), format_bytes(result.nbytes)
    differ = f"; {len(result.problems):,} not as in the manifest" if result.problems else ""
    print_styled([verdict, (f": {keys}, {size}{differ}", "")])
    if not result.listed:
        print_styled([("the store has no listing: unexpected keys cannot be found", "dim")])
