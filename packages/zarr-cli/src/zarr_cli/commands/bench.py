"""The command ``zarr-core bench codec``."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import click
from zarr_core.messages import format_bytes, pluralize

from zarr_cli.errors import explain_interrupt
from zarr_cli.location import Location, location_arguments
from zarr_cli.output import echo, json_option, print_json, print_table
from zarr_cli.progress import ProgressOutput, progress_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core import Array

    from zarr_cli.bench.benchmark import BenchmarkResult
    from zarr_cli.bench.candidates import Candidate
    from zarr_cli.bench.measure import Trial


@click.group
def command() -> None:
    """Compare codecs on the data of an array: bench codec."""


@command.command
@location_arguments("location")
@click.option(
    "--seconds", type=click.FloatRange(0.1), default=20.0, show_default=True,
    help="Approximate duration of the measurement.",
)  # fmt: skip
@click.option(
    "--also", multiple=True, metavar="CODECS",
    help="Also try these codecs: 'numcodecs.shuffle:elementsize=4 + zstd:5'. Can be repeated.",
)  # fmt: skip
@click.option("--only", "only_also", is_flag=True, help="Try only the codecs of --also.")
@click.option("--chunks", "most", type=click.IntRange(1), default=16, show_default=True,
              help="Maximum number of chunks in the sample.")  # fmt: skip
@click.option(
    "--all", "show_all", is_flag=True, help="Also list codecs that are worse in every respect."
)
@progress_options
@json_option
def codec(
    location: Location,
    seconds: float,
    also: tuple[str, ...],
    only_also: bool,
    most: int,
    show_all: bool,
    progress: ProgressOutput,
    as_json: bool,
) -> None:
    """Compare sizes and speeds of codecs on a sample of the chunks of an array.

    Nothing is written. Chunks from all parts of the array are encoded and decoded in memory,
    in one thread and in several rounds. Speeds are medians over the rounds, in MB of elements
    per second of processor time. Codecs that are lossy for these elements, not installed, or
    not supported by the format are excluded.

    The JSON document of --json has location, sample, results: a list of {codecs, present,
    definitions, options, nbytes, ratio, encode_mb_s, decode_mb_s, rounds, best}; recommended:
    the codecs for size, speed and balance; excluded: a list of {codecs, reason}.
    """
    from zarr_cli.bench.benchmark import benchmark_codecs
    from zarr_cli.bench.candidates import parse_candidate

    array = location.open_array()
    more = list(map(parse_candidate, also))
    with explain_interrupt("Nothing was written."), progress.bar("measuring") as draw:
        result = benchmark_codecs(
            array, more, seconds, _reporter(draw), only_also=only_also, most=most
        )
    if as_json:
        print_json(_document(location, result))
    else:
        _print(location, array, result, show_all=show_all)


def _reporter(draw: Callable[[Any], None] | None) -> Callable[[int, int], None]:
    from zarr_transfer import Progress

    def report(done: int, total: int) -> None:
        if draw is not None:
            draw(Progress("", done, total, "trials", 1, 1))

    return report


def _speed(nbytes: int, seconds: float) -> float:
    """Return a speed in MB per second."""
    return nbytes / max(seconds, 1e-9) / 1e6


def _document(location: Location, result: BenchmarkResult) -> dict[str, Any]:
    trials, whole, front = result.trials, result.nbytes, result.best
    return {
        "location": str(location),
        "sample": {"chunks": len(result.chunks), "nbytes": whole},
        "results": [
            {
                "codecs": _candidate_name(each.candidate),
                "present": each.candidate.present,
                "definitions": [definition.to_json() for definition in each.definitions],
                "options": _options(each, result.present),
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
            purpose: _candidate_name(trials[number].candidate)
            for purpose, number in result.recommended.items()
        },
        "excluded": [
            {"codecs": _candidate_name(candidate), "reason": reason}
            for candidate, reason in result.excluded
        ],
    }


def _label(each: Trial) -> str:
    """Return the codecs as command-line text; for the array itself, from its metadata."""
    if not each.candidate.present:
        return str(each.candidate)
    parts = []
    for definition in each.definitions:
        pairs = ",".join(
            f"{key}={value if isinstance(value, str) else json.dumps(value)}"
            for key, value in definition.configuration.items()
        )
        if definition.name != "bytes":
            parts.append(f"{definition.name}:{pairs}" if pairs else definition.name)
    return f"now: {' + '.join(parts) or 'none'}"


def _candidate_name(candidate: Candidate) -> str:
    return "present" if candidate.present else str(candidate)


def _print(location: Location, array: Array, result: BenchmarkResult, *, show_all: bool) -> None:
    trials, whole, front = result.trials, result.nbytes, result.best
    rounds = pluralize(max(len(each.encoding) for each in trials), "round")
    echo(
        f"{location}: {pluralize(len(result.chunks), 'chunk')} tried, {format_bytes(whole)} of "
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
            format_bytes(each.nbytes),
            f"{_speed(whole, each.encode_seconds):,.0f}",
            f"{_speed(whole, each.decode_seconds):,.0f}",
            "*" if number in front else "",
        )
        for number, each in shown
    ]
    print_table(_COLUMNS, rows, right=_COLUMNS[1:5])
    echo("* no other codecs are smaller and faster in both directions")
    if hidden := len(trials) - len(shown):
        echo(f"{hidden} others are worse in every respect; --all lists them")
    if result.excluded and not show_all:
        echo(f"{pluralize(len(result.excluded), 'other')} excluded; --all lists the reasons")
    for candidate, reason in result.excluded if show_all else ():
        echo(f"excluded {_candidate_name(candidate)}: {reason.splitlines()[0]}")
    for purpose, number in result.recommended.items():
        echo(f"for {purpose} ({_PURPOSES[purpose]}): {_advice(trials[number], result, location)}")


_COLUMNS = ("codecs", "ratio", "size", "encode MB/s", "decode MB/s", "best")
_PURPOSES = {
    "size": "fewest bytes",
    "speed": "written and read once at 500 MB/s, as on a local disk",
    "balance": "written and read once at 100 MB/s, as in an object store",
}


def _advice(each: Trial, result: BenchmarkResult, location: Location) -> str:
    if each.candidate.present:
        return "the present codecs"
    share = each.nbytes / max(1, result.present.nbytes) - 1
    change = f"{abs(share):.0%} {'smaller' if share < 0 else 'larger'} than now"
    if abs(share) < _ROUNDED:
        change = "same size as now"
    return f"{each.candidate}, {change}\n    zarr-core rechunk {location} NEW {_options(each, result.present)}"


_ROUNDED = 0.005


def _options(each: Trial, present: Trial) -> str:
    """Return the options of ``zarr-core rechunk`` that select these codecs."""
    candidate = each.candidate
    if candidate.present:
        return ""
    parts = [("-f", part) for part in candidate.filters]
    if present.chain.array_to_array and not candidate.filters:
        parts.append(("-f", "none"))
    own = each.chain.array_to_bytes
    if candidate.serializer is not None:
        parts.append(("--serializer", candidate.serializer))
    elif type(own) is not type(present.chain.array_to_bytes):
        parts.append(("--serializer", each.chain.names[len(each.chain.array_to_array)]))
    parts += [("-z", part) for part in candidate.compressors or ("none",)]
    return " ".join(f"{flag} {shlex.quote(part)}" for flag, part in parts)
