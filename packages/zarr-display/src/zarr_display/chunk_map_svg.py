"""A chunk map as an SVG picture."""

from __future__ import annotations

from itertools import groupby
from math import isfinite, sqrt
from typing import TYPE_CHECKING

import numpy as np
from zarr_core.messages import format_bytes, pluralize

from zarr_display.chunk_map import largest_mean, summary
from zarr_display.colours import SCALE
from zarr_display.html import number, tag, text
from zarr_display.svg import label, svg

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_display.chunk_map import ChunkMap, Numbers

_WIDTH, _HEIGHT = 460, 380  # maximum size of the cells, unless they would become too small
_LARGEST, _SMALLEST = 22, 5  # side length of a cell
_NAMED = 256  # maximum number of cells with tooltips
_LEGEND = 190  # width of the legend
_FAINT = 0.12  # opacity of missing chunks


def html(chunk_map: ChunkMap) -> str:
    """Return the summary and the picture, for notebooks."""
    first, *more = summary(chunk_map)
    lines = "".join(tag("div", text(line, 400), style="opacity:.8") for line in more)
    heading = tag("div", text(first, 400), style="font-weight:600")
    if chunk_map.chunks.size and chunk_map.complete and not chunk_map.stored.any():
        shown = tag("div", text("Nothing stored yet: every element is the fill value."))
    else:
        shown = picture(chunk_map) if chunk_map.chunks.size else ""
    return tag("div", heading, lines, shown, style="margin:8px 0")


def picture(chunk_map: ChunkMap, alone: bool = False) -> str:
    """Return the map as SVG, standalone or as part of a page."""
    rows, columns = np.atleast_2d(chunk_map.chunks).shape
    fitting = min(_WIDTH // max(columns, 1), _HEIGHT // max(rows, 1))
    side = max(_SMALLEST, min(_LARGEST, fitting))
    width, height = columns * side, rows * side
    has_rows = len(chunk_map.dims) > 1
    digits = len(f"{chunk_map.shape[0] - 1:,}") if has_rows else 0
    left = 18 + max(2, digits) * 7 if has_rows else 4
    across, down = left + max(width, 40), 24 + (16 if chunk_map.dims else 0)
    parts = [
        tag("g", *_cells(chunk_map, side), transform=f"translate({left},4)"),
        *_axes(chunk_map, left, width, height),
        tag("g", *_legend(chunk_map), transform=f"translate({across + 24},8)"),
    ]
    description = " ".join(summary(chunk_map))
    size = (across + 24 + _legend_width(chunk_map), max(height + down, 120))
    return svg(size, *parts, description=description, alone=alone)


def _cells(chunk_map: ChunkMap, side: int) -> Iterator[str]:
    """Yield the background, one path for each colour, marks and tooltips."""
    stored, chunks = np.atleast_2d(chunk_map.stored), np.atleast_2d(chunk_map.chunks)
    hard, levels = np.atleast_2d(chunk_map.incompressible), np.atleast_2d(_levels(chunk_map))
    runs: list[list[str]] = [[] for _ in SCALE]  # adjacent complete cells
    parts: list[list[str]] = [[] for _ in SCALE]
    behind, marks = [], []
    for row in range(len(chunks)):
        y, middle = row * side, number(row * side + (side - 1) / 2)
        shares = (stored[row] / chunks[row]).tolist()
        kinds = zip(levels[row].tolist(), shares, strict=True)
        column = 0
        for (level, share), same in groupby(kinds):
            count = len([*same])
            line = f"M{column * side} {middle}h{count * side - 1}"
            if share < 1:
                behind.append(line)
            if share == 1:
                runs[level].append(line)
            elif share:
                inner = (side - 1) * max(0.4, sqrt(share))
                gap = (side - 1 - inner) / 2
                parts[level] += [
                    _square(each * side + gap, y + gap, inner)
                    for each in range(column, column + count)
                ]
            column += count
        column = 0
        for fails, same in groupby((hard[row] > 0).tolist()):
            count = len([*same])
            if fails:
                start = number(column * side + (side - 1) / 2)
                marks.append(f"M{start} {middle}h{(count - 1) * side + 0.1}")
            column += count
    dashed = {"stroke_width": side - 1, "stroke_dasharray": f"{side - 1} 1", "fill": "none"}
    yield tag("path", d="".join(behind), stroke="currentColor", stroke_opacity=_FAINT, **dashed)
    for colour, lines, squares in zip(SCALE, runs, parts, strict=True):
        if lines:
            yield tag("path", d="".join(lines), stroke=colour, **dashed)
        if squares:
            yield tag("path", d="".join(squares), fill=colour)
    if marks:
        yield _dots("".join(marks), side)
    if chunks.size <= _NAMED:
        for (row, column), _ in np.ndenumerate(chunks):
            position = {"x": column * side, "y": row * side, "width": side, "height": side}
            yield tag(
                "rect",
                tag("title", text(_tooltip(chunk_map, row, column))),
                fill="transparent",
                **position,
            )


def _levels(chunk_map: ChunkMap) -> Numbers:
    """Return the colour index of each cell; the middle if sizes are unknown."""
    largest = largest_mean(chunk_map)
    if not largest:
        return np.full(chunk_map.chunks.shape, len(SCALE) // 2)
    share = np.nan_to_num(chunk_map.mean_nbytes) / largest
    return np.asarray(np.minimum(share * len(SCALE), len(SCALE) - 1), np.int64)


def _dots(path: str, side: int) -> str:
    """Return dots along a path, visible on every colour."""
    dotted = {"stroke_linecap": "round", "stroke_dasharray": f"0 {side}", "fill": "none"}
    outer, inner = number(max(3.6, side * 0.45)), number(max(2, side * 0.25))
    light = tag("path", d=path, stroke="#fff", stroke_width=outer, **dotted)
    return light + tag("path", d=path, stroke="#000", stroke_width=inner, **dotted)


def _square(x: float, y: float, side: float) -> str:
    length = number(side)
    return f"M{number(x)} {number(y)}h{length}v{length}h-{length}z"


def _tooltip(chunk_map: ChunkMap, row: int, column: int) -> str:
    """Return the tooltip of a cell."""
    at = (row, column)[2 - len(chunk_map.dims) :]
    ranges = (
        str(index * each)
        if each == 1
        else f"{index * each} to {min((index + 1) * each, count) - 1}"
        for index, each, count in zip(at, chunk_map.per_cell, chunk_map.shape, strict=True)
    )
    where = ", ".join(f"{name} {span}" for name, span in zip(chunk_map.dims, ranges, strict=True))
    stored, chunks = int(chunk_map.stored[at]), int(chunk_map.chunks[at])
    many = f"{stored} of {pluralize(chunks, chunk_map.unit)} stored" if chunks > 1 else ""
    parts = [many or ("stored" if stored else "not stored")]
    if stored and chunk_map.nbytes is not None:
        parts.append(format_bytes(int(chunk_map.nbytes[at])))
    if isfinite(ratio := float(chunk_map.ratios[at])):
        parts.append(f"ratio {ratio:.2f}")
    return f"{where}{': ' if where else ''}{', '.join(parts)}"


def _axes(chunk_map: ChunkMap, left: int, width: int, height: int) -> Iterator[str]:
    """Yield labels: dimension names, the first and the last chunk coordinate."""
    if not chunk_map.dims or not chunk_map.chunks.size:
        return
    below = height + 17
    columns = chunk_map.shape[-1]
    last = f"{columns - 1:,}"
    if columns > 1 and width > 30:
        yield label(left, below, "0")
        yield label(left + width - 1, below, last, anchor="end")
    name = chunk_map.dims[-1][:24]
    if width > len(name) * 7 + len(last) * 14 + 12:
        yield label(left + width / 2, below, name, anchor="middle", strong=True)
    else:
        yield label(left, below + 14, name, strong=True)
    if len(chunk_map.dims) > 1:
        rows, name = chunk_map.shape[0], chunk_map.dims[0][:24]
        if rows > 1 and height > 22:
            yield label(left - 5, 14, "0", anchor="end")
            yield label(left - 5, height + 2, f"{rows - 1:,}", anchor="end")
        yield label(10, 4 + height / 2, name, anchor="middle", strong=True, vertical=True)


def _legend_width(chunk_map: ChunkMap) -> int:
    """Return the width of the legend; large numbers need more."""
    longest = f"{int(chunk_map.incompressible.sum()):,} not smaller than in memory"
    return max(_LEGEND, 18 + 7 * len(longest)) if chunk_map.incompressible.any() else _LEGEND


def _legend(chunk_map: ChunkMap) -> Iterator[str]:
    largest, y = largest_mean(chunk_map), 0
    if chunk_map.stored.any():
        colours = SCALE if largest else SCALE[len(SCALE) // 2 :][:1]
        for step, colour in enumerate(colours):
            yield tag("rect", x=step * 14, y=y, width=14, height=10, fill=colour)
        if largest:
            yield label(0, y + 24, "0")
            yield label(14 * len(SCALE), y + 24, format_bytes(largest), anchor="end")
            yield label(0, y + 38, f"stored per {chunk_map.unit}")
            y += 56
        else:
            yield label(20, y + 10, "stored")
            y += 20
    if chunk_map.missing.any():
        yield tag("rect", y=y, width=10, height=10, fill_opacity=_FAINT)
        yield label(18, y + 10, f"{int(chunk_map.missing.sum()):,} not stored")
        y += 20
    if ((chunk_map.stored > 0) & (chunk_map.missing > 0)).any():
        yield tag("rect", y=y, width=10, height=10, fill_opacity=_FAINT)
        yield tag("rect", x=2.5, y=y + 2.5, width=5, height=5, fill=SCALE[3])
        yield label(18, y + 10, "partly stored")
        y += 20
    if hard := int(chunk_map.incompressible.sum()):
        yield _dots(f"M5 {y + 5}h0.1", 14)
        yield label(18, y + 10, f"{hard:,} not smaller than in memory")
