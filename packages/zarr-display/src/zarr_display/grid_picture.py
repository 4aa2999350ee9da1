"""A drawing of the chunk grid to scale: chunks and shards in up to three dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from zarr_display.axis_scale import AxisScale, axis_scale
from zarr_display.colours import CHUNK
from zarr_display.html import number, tag
from zarr_display.svg import label, svg

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_core.extension import ChunkAxis

_WIDTH, _HEIGHT = 240, 180  # maximum size of the front
_THINNEST = 18  # minimum side length of the front
_DEPTH = 0.5  # scale of the depth relative to the front
_DEEPEST, _SHALLOWEST = 150, 24
_SLANT = (0.8, 0.6)  # direction of the depth: to the right and up
_BAR = 130, 16  # size of a dimension that is drawn as a bar
_MOST_BARS = 5
_LETTER = 6.6  # approximate width of a letter

Point = tuple[float, float]


class Picture(NamedTuple):
    """A drawing as SVG, and notes on what is not to scale."""

    svg: str
    notes: list[str]


def grid_picture(
    names: Sequence[str], axes: Sequence[ChunkAxis], inner: Sequence[int] | None = None
) -> Picture:
    """Draw a grid of stored chunks or shards, with the shape of inner chunks if any.

    The last three dimensions are drawn as a cuboid, rectangle or bar, other dimensions as one
    bar each.
    """
    if not axes:
        square = tag("rect", x=1, y=1, width=30, height=30, fill=CHUNK, fill_opacity=0.75)
        return Picture(svg((32, 32), square, description="one element"), [])
    lengths = inner or (None,) * len(axes)
    items = [*zip(names, axes, lengths, strict=True)]
    sizes = [axis.size for axis in axes[-3:]]
    pixels = _pixels(sizes)
    solid = [axis_scale(*item, length) for item, length in zip(items[-3:], pixels, strict=True)]
    bars = [axis_scale(*item, _BAR[0]) for item in items[:-3]]
    return _assemble(solid, bars, _notes(solid, bars, sizes, pixels))


def _pixels(sizes: list[int]) -> list[float]:
    """Return lengths in the drawing with a common scale, but not below a minimum."""
    *depth, rows, columns = [1, *sizes] if len(sizes) == 1 else sizes
    if len(sizes) == 1:
        return [float(_WIDTH)]
    scale = min(_WIDTH / max(columns, 1), _HEIGHT / max(rows, 1))
    deep = [max(min(item * scale * _DEPTH, _DEEPEST), _SHALLOWEST) for item in depth]
    return [*deep, max(rows * scale, _THINNEST), max(columns * scale, _THINNEST)]


def _notes(
    solid: list[AxisScale], bars: list[AxisScale], sizes: list[int], pixels: list[float]
) -> list[str]:
    notes = [
        f"{item.count:,} chunks along {item.name or 'one dimension'}: some edges are not drawn"
        for item in (*bars, *solid)
        if item.is_thinned
    ]
    if len(sizes) > 1:
        factors = [_DEPTH, 1, 1][-len(sizes) :]
        scales = [
            length / (size * factor)
            for size, length, factor in zip(sizes, pixels, factors, strict=True)
            if size
        ]
        if scales and max(scales) > 1.05 * min(scales):
            notes.append("sides are drawn to different scales")
    if not all(item.size for item in (*bars, *solid)):
        notes.append("the array has no elements")
    if len(bars) > _MOST_BARS:
        notes.append(f"{len(bars) - _MOST_BARS} more dimensions before these")
    return notes


def _assemble(solid: list[AxisScale], bars: list[AxisScale], notes: list[str]) -> Picture:
    """Combine the bars, the cuboid below them, and the legend."""
    parts: list[str] = []
    y, width = 4.0, 0.0
    for bar in bars[-_MOST_BARS:]:
        parts.append(_translated(0, y, *_solid([bar])))
        parts.append(label(_BAR[0] + 8, y + 12, bar.label))
        width = max(width, _BAR[0] + 8 + len(bar.label) * _LETTER)
        y += _BAR[1] + 12
    depth = solid[0].pixels if len(solid) == 3 else 0
    right, up = depth * _SLANT[0], depth * _SLANT[1]
    across = solid[-1].pixels
    down = solid[-2].pixels if len(solid) > 1 else 28.0
    left = 2.0
    if len(solid) == 3:  # its label is to the left of the slanted edge
        left = max(left, len(solid[0].label) * _LETTER + 6 - right / 2)
        y = max(y, y + 10 - up / 2)
    top = y + up
    parts.append(_translated(left, top, *_solid(solid, down)))
    if len(solid) == 3:
        parts.append(label(left + right / 2 - 6, top - up / 2, solid[0].label, anchor="end"))
    if len(solid) > 1:
        name = solid[-2].label
        parts.append(label(left + across + right + 7, top + (down - up) / 2 + 4, name))
        width = max(width, left + across + right + 10 + len(name) * _LETTER)
    name = solid[-1].label
    middle = max(left + across / 2, len(name) * _LETTER / 2 + 1)
    parts.append(label(middle, top + down + 15, name, anchor="middle"))
    width = max(width, left + across + right + 2, middle + len(name) * _LETTER / 2)
    bottom = top + down + 24
    if all(item.size for item in (*bars, *solid)):
        parts += _legend(bottom, any(item.shard for item in solid))
        width, bottom = max(width, 120), bottom + 16
    shape = " by ".join(item.label for item in (*bars, *solid))
    return Picture(svg((width, bottom), *parts, description=f"chunks of {shape}"), notes)


def _legend(y: float, has_shards: bool) -> list[str]:
    square = {"y": y, "width": 9, "height": 9, "fill": CHUNK}
    parts = [tag("rect", x=1, fill_opacity=0.8, **square), label(14, y + 9, "a chunk")]
    if has_shards:
        parts += [tag("rect", x=70, fill_opacity=0.3, **square), label(83, y + 9, "a shard")]
    return parts


def _translated(x: float, y: float, *content: str) -> str:
    return tag("g", *content, transform=f"translate({number(x)},{number(y)})")


def _solid(scales: list[AxisScale], down: float = _BAR[1]) -> Iterator[str]:
    """Yield faces with lines; the origin is the upper left corner of the front."""
    line = AxisScale("", 1, down, down, down, (), (), 1, False)
    rows, columns = scales[-2] if len(scales) > 1 else line, scales[-1]
    depth = scales[0] if len(scales) == 3 else None
    faces = [_Face(columns, rows, (0, 0), (1, 0), (0, 1), 0.03)]
    if depth is not None:
        slant = (_SLANT[0], -_SLANT[1])
        faces.append(_Face(columns, depth, (0, 0), (1, 0), slant, 0.07))
        faces.append(_Face(depth, rows, (columns.pixels, 0), slant, (0, 1), 0.12))
    for face in faces:
        # The right face shows the last chunk, which may be the first chunk too.
        end = face.origin[0] - 0.01
        yield from face.drawn(columns.chunk >= end, columns.shard >= end)


class _Face(NamedTuple):
    """A parallelogram with lines in two directions.

    ``origin`` is the common corner of the sides; ``right`` and ``down`` are their directions, of
    length 1; ``shade`` is the opacity.
    """

    across: AxisScale
    along: AxisScale
    origin: Point
    right: Point
    down: Point
    shade: float

    def drawn(self, chunk: bool, shard: bool) -> Iterator[str]:
        """Yield the face, with the first chunk and the first shard if they are at its corner."""
        width, height = self.across.pixels, self.along.pixels
        empty = not (self.across.size and self.along.size)
        yield tag("path", d=self._part(width, height), fill_opacity=self.shade)
        for shown, across, along, opacity in (
            (shard, self.across.shard, self.along.shard, 0.25),
            (chunk, self.across.chunk, self.along.chunk, 0.65),
        ):
            if shown and across and along:
                yield tag("path", d=self._part(across, along), fill=CHUNK, fill_opacity=opacity)
        yield from self._lines(self.across.chunks, self.along.chunks, 0.35, 0.8)
        yield from self._lines(self.across.shards, self.along.shards, 0.85, 1.4)
        yield tag(
            "path", d=self._part(width, height), fill="none", stroke="currentColor",
            stroke_width=1.4, stroke_linejoin="round", stroke_dasharray="4 3" if empty else None,
        )  # fmt: skip

    def _part(self, across: float, along: float) -> str:
        corners = ((0, 0), (across, 0), (across, along), (0, along))
        return f"M{'L'.join(self._point(*corner) for corner in corners)}z"

    def _lines(
        self, across: Sequence[float], along: Sequence[float], opacity: float, stroke: float
    ) -> Iterator[str]:
        width, height = self.across.pixels, self.along.pixels
        ends: list[tuple[Point, Point]] = [((x, 0), (x, height)) for x in across]
        ends += [((0, y), (width, y)) for y in along]
        d = "".join(f"M{self._point(*start)}L{self._point(*end)}" for start, end in ends)
        if d:
            yield tag(
                "path", d=d, fill="none", stroke="currentColor",
                stroke_opacity=opacity, stroke_width=stroke,
            )  # fmt: skip

    def _point(self, across: float, along: float) -> str:
        x = self.origin[0] + across * self.right[0] + along * self.down[0]
        y = self.origin[1] + across * self.right[1] + along * self.down[1]
        return f"{number(x)} {number(y)}"
