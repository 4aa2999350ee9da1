"""Tables of benchmark results."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from benchmarks.peers import BASELINE, LOOP, OURS, OWN, PYTHON

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.measure import Result

Row = list[str]


def table(results: Sequence[Result], atomic: frozenset[str], wide: bool) -> list[Row]:
    """Return a heading and a row for each case, as text.

    Ratios are our time divided by theirs; below 1 is faster. ``!`` marks ratios above the limit
    of their case.

    Parameters
    ----------
    atomic : frozenset of str
        Libraries that replace stored objects atomically.
    wide : bool
        Whether to show the time of every library.
    """
    names = [name for name in _names(results) if name != OURS]
    ours = any(OURS in result.samples for result in results)
    heading = ["case", "ours"] if ours else ["case", "fastest peer"]
    if ours:
        heading += [
            "best peer",
            "to best",
            "best atomic",
            "to it",
            "to zarr",
            "to Python",
            "to C loop",
            "peak MiB",
            "peers' peak",
        ]
    if wide or not ours:
        heading += names
    return [heading, *(_row(result, names, atomic, ours, wide) for result in results)]


def _row(
    result: Result, names: Sequence[str], atomic: frozenset[str], ours: bool, wide: bool
) -> Row:
    row = [result.case.name]
    if ours:
        row += _ours(result, atomic)
    else:
        row.append(min(result.samples, key=result.seconds))
    if wide or not ours:
        row += [_time(result.seconds(name)) if name in result.samples else "-" for name in names]
    return row


def _ours(result: Result, atomic: frozenset[str]) -> Row:
    limits = result.case.limits
    best = fastest(result)
    best_atomic = fastest(result, atomic) if result.case.writes else None
    row = [_time(result.seconds(OURS))]
    if best is None:
        row += ["-", "-"]
    else:
        limit = None if result.case.writes else limits.to_best
        row += [best, _ratio(result.ratio(OURS, best), limit)]
    if best_atomic is None:
        row += ["", ""]
    else:
        row += [best_atomic, _ratio(result.ratio(OURS, best_atomic), limits.to_best)]
    row.append(
        _ratio(result.ratio(OURS, BASELINE), limits.to_zarr) if BASELINE in result.samples else "-"
    )
    for name in (PYTHON, LOOP):
        row.append(_ratio(result.ratio(OURS, name), None) if name in result.samples else "")
    peaks = {name: peak for name, peak in result.peaks.items() if name not in OWN}
    row.append(f"{result.peaks[OURS] / 2**20:.0f}" if OURS in result.peaks else "")
    row.append(
        f"{min(peaks.values()) / 2**20:.0f}..{max(peaks.values()) / 2**20:.0f}" if peaks else ""
    )
    return row


def fastest(result: Result, among: frozenset[str] | None = None) -> str | None:
    """Return the peer with the largest ratio of our time to theirs."""
    peers = [
        name for name in result.samples if name not in OWN and (among is None or name in among)
    ]
    if OURS not in result.samples or not peers:
        return None
    return max(peers, key=lambda name: result.ratio(OURS, name))


def verdict(results: Sequence[Result], atomic: frozenset[str]) -> list[str]:
    """Return one line for each operation: cases within the limit, median and worst ratio."""
    lines = []
    for operation in dict.fromkeys(result.case.operation for result in results):
        ratios = []
        kept = 0
        for result in results:
            if result.case.operation == operation and (
                best := fastest(result, atomic if result.case.writes else None)
            ):
                ratio = result.ratio(OURS, best)
                limits = result.case.limits
                fast = ratio <= limits.to_best
                if limits.to_zarr is not None and BASELINE in result.samples:
                    fast = fast and result.ratio(OURS, BASELINE) <= limits.to_zarr
                ratios.append(ratio)
                kept += fast
        if ratios:
            median, worst = statistics.median(ratios), max(ratios)
            lines.append(
                f"{operation}: {kept} of {len(ratios)} within the limit; "
                f"ratio to the best peer: median {median:.2f}, worst {worst:.2f}"
            )
    for operation in ("read", "write"):
        measured = [r for r in results if OURS in r.peaks and r.case.operation == operation]
        if measured:
            returned = operation == "read"
            above = max(r.peaks[OURS] - returned * r.case.nbytes for r in measured) / 2**20
            what = "more than the result" if returned else "more than its argument"
            lines.append(f"memory: a {operation} takes at most {above:.0f} MiB {what}")
    return lines


def as_text(rows: Sequence[Row]) -> str:
    """Return the table as text with aligned columns."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def as_markdown(rows: Sequence[Row]) -> str:
    """Return the table in Markdown."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|---" + "|---:" * (len(rows[0]) - 1) + "|")
    return "\n".join(lines)


def as_json(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return all measurements: the seconds of every sample, the bytes of every peak."""
    return [
        {
            "case": result.case.name,
            "nbytes": result.case.nbytes,
            "seconds": {name: result.seconds(name) for name in result.samples},
            "samples": result.samples,
            "peak_bytes": result.peaks,
            "skipped": result.skipped,
        }
        for result in results
    ]


def _names(results: Sequence[Result]) -> list[str]:
    return list(dict.fromkeys(name for result in results for name in result.samples))


def _time(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.1f} us"
    return f"{seconds * 1e3:.2f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _ratio(ratio: float, limit: float | None) -> str:
    return f"{ratio:.2f}{'!' if limit is not None and ratio > limit else ''}"
