"""Real measurements from the sample data of matplotlib."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

FOLDER = Path(mpl.get_data_path()) / "sample_data"


@dataclass(frozen=True)
class Sample:
    """An array with its description.

    Parameters
    ----------
    path : str
        Where it belongs in a hierarchy.
    source : str
        File that it comes from.
    values : ndarray
        The measurements.
    dimension_names : tuple of str
        One a dimension.
    attributes : dict
        Units and the like.
    """

    path: str
    source: str
    values: np.ndarray[Any, Any]
    dimension_names: tuple[str, ...]
    attributes: dict[str, str] = field(default_factory=dict)


def samples() -> list[Sample]:
    """Read all samples: a terrain, a coast, a slice through a head."""
    return [*_terrain(), *_coast(), _head()]


def _terrain() -> list[Sample]:
    name = "jacksboro_fault_dem.npz"
    with np.load(FOLDER / name) as stored:
        elevation = stored["elevation"]
        # The file counts from the north: its "ymin" is the latitude of the first row.
        first, last = float(stored["ymin"]), float(stored["ymax"])
        west, east = float(stored["xmin"]), float(stored["xmax"])
    rows, columns = elevation.shape
    return [
        Sample(
            "terrain/elevation",
            name,
            elevation,
            ("latitude", "longitude"),
            {"units": "m", "long_name": "elevation along the Jacksboro fault, Tennessee"},
        ),
        *_axes("terrain", name, np.linspace(first, last, rows), np.linspace(west, east, columns)),
    ]


def _coast() -> list[Sample]:
    name = "topobathy.npz"
    with np.load(FOLDER / name) as stored:
        height, latitude, longitude = stored["topo"], stored["latitude"], stored["longitude"]
    return [
        Sample(
            "coast/height",
            name,
            height,
            ("latitude", "longitude"),
            {"units": "m", "long_name": "height above the sea, or depth below it"},
        ),
        *_axes("coast", name, latitude, longitude),
    ]


def _head() -> Sample:
    name = "s1045.ima.gz"
    with gzip.open(FOLDER / name) as file:
        values = np.frombuffer(file.read(), "<u2").reshape(256, 256)
    return Sample(
        "head/slice", name, values, ("row", "column"), {"long_name": "magnetic resonance"}
    )


def _axes(
    group: str, source: str, latitude: np.ndarray[Any, Any], longitude: np.ndarray[Any, Any]
) -> list[Sample]:
    return [
        Sample(f"{group}/latitude", source, latitude, ("latitude",), {"units": "degrees_north"}),
        Sample(f"{group}/longitude", source, longitude, ("longitude",), {"units": "degrees_east"}),
    ]
