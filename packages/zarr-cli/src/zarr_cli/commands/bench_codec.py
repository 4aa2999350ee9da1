"""Which codec suits an array, measured on its own chunks."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import click

from zarr_cli.changing.counted import counted
from zarr_cli.changing.stopping import stoppable
from zarr_cli.output import json_option, print_json, print_table
from zarr_cli.place import Place, takes_places
from zarr_cli.progress import Progressing, progress_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core import Array

    from zarr_cli.benching.candidates import Candidate
    from zarr_cli.benching.measuring import Trial
    from zarr_cli.benching.trying import Tried


@click.group
def bench() -> None:
    """Measure what suits a hierarchy: bench codec."""


@bench.command
@takes_places("place")
@click.option(
    "--seconds", type=click.FloatRange(0.1), default=20.0, show_default=True,
    help="How long to measure, about.",
)  # fmt: skip
@click.option(
    "--also", multiple=True, metavar="CODECS",
    help="Codecs to try besides: 'numcodecs.shuffle:elementsize=4 + zstd:5'; again for more.",
)  # fmt: skip
@click.option("--only", "only_also", is_flag=True, help="Try no others than those of --also.")
@click.option("--chunks", "most", type=click.IntRange(1), default=16, show_default=True,
              help="How many chunks to try with, at most.")  # fmt: skip
@click.option("--all", "show_all", is_flag=True, help="List also what is worse in every respect.")
@progress_options
@json_option
def codec(
    place: Place,
    seconds: float,
    also: tuple[str, ...],
    only_also: bool,
    most: int,
    show_all: bool,
    progress: Progressing,
    as_json: bool,
) -> None:
    """Which codecs suit an array: sizes and speeds, on a sample of its own chunks.

    Nothing is written. Chunks from all over the array are encoded and decoded in memory,
    in one thread, round after round until the time is used up; speeds are the middle of all
    rounds, of processor time, in MB of elements a second. Codecs that lose anything, that
    are not installed, or that the format has no words for, are left out.
    """
    from zarr_cli.benching.candidates import parse_candidate  # noqa: PLC0415 - lazy: not for help
    from zarr_cli.benching.trying import try_codecs  # noqa: PLC0415 - as above

    array = place.open_array()
    more = list(map(parse_candidate, also))
    with stoppable("Nothing was written."), progress.bar("measuring") as drawn:
        tried = try_codecs(array, more, seconds, _telling(drawn), only_also=only_also, most=most)
    if as_json:
        print_json(_document(place, tried))
    else:
        _print(place, array, tried, show_all=show_all)


def _telling(drawn: Callable[[Any], None] | None) -> Callable[[int, int], None]:
    from zarr_core import Progress  # noqa: PLC0415 - lazy: not for help

    def tell(done: int, total: int) -> None:
        if drawn is not None:
            drawn(Progress("", done, total, "trials", 1, 1))

    return tell


def _speed(nbytes: int, seconds: float) -> float:
    """MB a second."""
    return nbytes / max(seconds, 1e-9) / 1e6


def _document(place: Place, tried: Tried) -> dict[str, Any]:
    from zarr_cli.benching.choosing import best, recommended  # noqa: PLC0415 - lazy: not for help

    trials, whole = tried.trials, tried.nbytes
    front, chosen = best(trials), recommended(trials)
    return {
        "place": str(place),
        "sample": {"chunks": len(tried.chunks), "nbytes": whole},
        "results": [
            {
                "codecs": _called(each.candidate),
                "present": each.candidate.present,
                "definitions": [definition.to_json() for definition in each.definitions],
                "options": _options(each, tried.present),
                "nbytes": each.nbytes,
                "ratio": round(whole / max(1, each.nbytes), 3),
                "encode_mb_s": round(_speed(whole, each.encode_seconds), 1),
                "decode_mb_s": round(_speed(whole, each.decode_seconds), 1),
                "rounds": len(each.encoding),
                "best": number in front,
            }
            for number, each in enumerate(trials)
        ],
        "recommended": {
            purpose: _called(trials[number].candidate) for purpose, number in chosen.items()
        },
        "left_out": [
            {"codecs": _called(candidate), "reason": reason} for candidate, reason in tried.left_out
        ],
    }


def _label(each: Trial) -> str:
    """Codecs as they are typed; those of the array as they stand in its metadata."""
    if not each.candidate.present:
        return str(each.candidate)
    words = []
    for definition in each.definitions:
        pairs = ",".join(
            f"{key}={value if isinstance(value, str) else json.dumps(value)}"
            for key, value in definition.configuration.items()
        )
        if definition.name != "bytes":
            words.append(f"{definition.name}:{pairs}" if pairs else definition.name)
    return f"now: {' + '.join(words) or 'none'}"


def _called(candidate: Candidate) -> str:
    return "present" if candidate.present else str(candidate)


def _print(place: Place, array: Array, tried: Tried, *, show_all: bool) -> None:
    from zarr_cli.benching.choosing import best, recommended  # noqa: PLC0415 - lazy: not for help
    from zarr_cli.sizes import bytes_for_people  # noqa: PLC0415 - as above

    trials, whole = tried.trials, tried.nbytes
    front, chosen = best(trials), recommended(trials)
    rounds = counted(max(len(each.encoding) for each in trials), "round")
    click.echo(
        f"{place}: {counted(len(tried.chunks), 'chunk')} tried, {bytes_for_people(whole)} of "
        f"{array.dtype}, in up to {rounds}"
    )
    shown = [
        (number, each)
        for number, each in enumerate(trials)
        if show_all or each.candidate.present or number in front
    ]
    rows = [
        (
            _label(each),
            f"{whole / max(1, each.nbytes):.2f}",
            bytes_for_people(each.nbytes),
            f"{_speed(whole, each.encode_seconds):,.0f}",
            f"{_speed(whole, each.decode_seconds):,.0f}",
            "*" if number in front else "",
        )
        for number, each in shown
    ]
    print_table(_COLUMNS, rows, right=_COLUMNS[1:5])
    click.echo("* no other is smaller and faster in both directions")
    if hidden := len(trials) - len(shown):
        click.echo(f"{hidden} more are worse in every respect than one of these; --all lists them")
    if tried.left_out and not show_all:
        click.echo(f"{counted(len(tried.left_out), 'other')} left out; --all says why")
    for candidate, reason in tried.left_out if show_all else ():
        click.echo(f"left out {_called(candidate)}: {reason.splitlines()[0]}")
    for purpose, number in chosen.items():
        click.echo(f"for {purpose} ({_PURPOSES[purpose]}): {_advice(trials[number], tried, place)}")


_COLUMNS = ("codecs", "ratio", "size", "encode MB/s", "decode MB/s", "best")
_PURPOSES = {
    "size": "fewest bytes",
    "speed": "written and read once at 500 MB/s, as a local disk gives",
    "balance": "written and read once at 100 MB/s, as an object store gives",
}


def _advice(each: Trial, tried: Tried, place: Place) -> str:
    if each.candidate.present:
        return "what the array has now"
    share = each.nbytes / max(1, tried.present.nbytes) - 1
    change = f"{abs(share):.0%} {'smaller' if share < 0 else 'larger'} than now"
    if abs(share) < _ROUNDED:
        change = "as large as now"
    return f"{each.candidate}, {change}\n    zarr-core rechunk {place} NEW {_options(each, tried.present)}"


_ROUNDED = 0.005


def _options(each: Trial, present: Trial) -> str:
    """The options of ``zarr-core rechunk`` by which an array gets these codecs."""
    candidate = each.candidate
    if candidate.present:
        return ""
    words = [("-f", word) for word in candidate.filters]
    if present.chain.array_to_array and not candidate.filters:
        words.append(("-f", "none"))
    own = each.chain.array_to_bytes
    if candidate.serializer is not None:
        words.append(("--serializer", candidate.serializer))
    elif type(own) is not type(present.chain.array_to_bytes):
        words.append(("--serializer", each.chain.names[len(each.chain.array_to_array)]))
    words += [("-z", word) for word in candidate.compressors or ("none",)]
    return " ".join(f"{flag} {shlex.quote(word)}" for flag, word in words)
