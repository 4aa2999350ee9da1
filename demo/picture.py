"""Draw the data that was read back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LightSource, LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Rectangle

if TYPE_CHECKING:
    from pathlib import Path

    import zarr_core as zarr
    from matplotlib.axes import Axes

    Arrays = dict[str, zarr.Array]

METRES_PER_DEGREE = 111_200.0
INK = "#222222"
ACCENT = "#b5322a"
LAND = LinearSegmentedColormap.from_list(
    "land", ["#4f7a5a", "#8fae72", "#d6cf94", "#c79f68", "#94694c", "#efe8df"]
)


def draw(arrays: Arrays, window: tuple[slice, slice], target: Path) -> None:
    """Draw a window of the terrain, the whole of it, and the slice, as read from the hierarchy.

    Parameters
    ----------
    arrays : dict of str to Array
        The arrays of the hierarchy, by path.
    window : tuple of slice
        Rows and columns of the terrain to show large.
    target : Path
        The file, a PNG.
    """
    margins = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1)
    figure = Figure(figsize=(12, 7.2), dpi=150, facecolor="white", layout=margins)
    FigureCanvasAgg(figure)  # draws without a window
    grid = figure.add_gridspec(2, 2, width_ratios=(2.1, 1))
    _window(figure.add_subplot(grid[:, 0]), arrays, window)
    _overview(figure.add_subplot(grid[0, 1]), arrays["terrain/elevation"], window)
    _slice(figure.add_subplot(grid[1, 1]), arrays["head/slice"])
    figure.savefig(target)


def _window(axes: Axes, arrays: Arrays, window: tuple[slice, slice]) -> None:
    rows, columns = window
    elevation = arrays["terrain/elevation"][rows, columns].astype("float64")
    latitude = arrays["terrain/latitude"][rows]
    longitude = arrays["terrain/longitude"][columns]
    south_north = METRES_PER_DEGREE * (latitude[0] - latitude[-1]) / (len(latitude) - 1)
    west_east = south_north * np.cos(np.deg2rad(latitude.mean()))
    tints = Normalize(elevation.min(), elevation.max())
    shaded = LightSource(azdeg=315, altdeg=45).shade(
        elevation, LAND, tints, "soft", vert_exag=2.0, dx=west_east, dy=south_north
    )
    extent = (longitude[0], longitude[-1], latitude[-1], latitude[0])
    aspect = south_north / west_east
    axes.imshow(shaded, extent=extent, aspect=aspect, interpolation="bicubic")
    _title(axes, f"terrain/elevation[{_written(rows)}, {_written(columns)}]")
    axes.set_xlabel("longitude, degrees east", color=INK)
    axes.set_ylabel("latitude, degrees north", color=INK)
    for edge in axes.spines.values():
        edge.set_color(ACCENT)
        edge.set_linewidth(1.6)
    scale = axes.figure.colorbar(
        ScalarMappable(tints, LAND), ax=axes, orientation="vertical", shrink=0.5, pad=0.015
    )
    scale.set_label("elevation, m", color=INK)


def _overview(axes: Axes, array: zarr.Array, window: tuple[slice, slice]) -> None:
    axes.imshow(array[...], cmap="Greys_r", aspect="equal", alpha=0.85)
    for lengths, stroke in ((array.chunks, 0.3), (array.shards or array.chunks, 1.6)):
        for position in range(0, array.shape[0] + 1, lengths[0]):
            axes.axhline(position - 0.5, color="white", linewidth=stroke)
        for position in range(0, array.shape[1] + 1, lengths[1]):
            axes.axvline(position - 0.5, color="white", linewidth=stroke)
    rows, columns = window
    corner = (columns.start - 0.5, rows.start - 0.5)
    width, height = columns.stop - columns.start, rows.stop - rows.start
    axes.add_patch(Rectangle(corner, width, height, fill=False, edgecolor=ACCENT, linewidth=1.8))
    _title(axes, "terrain/elevation, its chunks and shards")
    _bare(axes)


def _slice(axes: Axes, array: zarr.Array) -> None:
    values = array[...]
    axes.imshow(values, cmap="bone", vmax=np.percentile(values, 99.5), interpolation="bicubic")
    _title(axes, "head/slice")
    _bare(axes)


def _title(axes: Axes, text: str) -> None:
    axes.set_title(text, loc="left", fontsize=10, fontweight="bold", color=INK)


def _bare(axes: Axes) -> None:
    axes.set_xticks([])
    axes.set_yticks([])


def _written(part: slice) -> str:
    return f"{part.start}:{part.stop}"
