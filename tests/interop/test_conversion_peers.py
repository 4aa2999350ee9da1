"""Converted data, read by zarr-python 3 and tensorstore."""

from __future__ import annotations

import numpy as np
import pytest
import zarr_core
from zarr_transfer import convert

pytestmark = pytest.mark.usefixtures("silent")
VALUES = np.arange(1, 71, dtype="int32").reshape(10, 7)


def from_version_2(place):
    options = {"order": "F", "compressors": "gzip", "fill_value": 3}
    zarr_core.create_array(place, data=VALUES, chunks=(4, 3), zarr_format=2, **options)
    assert convert(place).cost == "document"
    return place


def from_shards_of_the_draft(place):
    old = {"chunks": (2, 2), "shards": (4, 6), "zarr_format": "draft"}
    zarr_core.create_array(place / "old", data=VALUES, **old)
    assert convert(place / "old", place / "new").cost == "copy"
    return place / "new"


def from_n5(place):
    zarr_core.create_array(place / "old", path="a", data=VALUES, chunks=(4, 3), zarr_format="n5")
    assert convert(place / "old", place / "new", source_path="a").cost == "recode"
    return place / "new"


def with_other_shards(place):
    zarr_core.create_array(place / "old", data=VALUES, chunks=(4, 3))
    convert(place / "old", place / "new", chunks=(2, 3), shards=(6, 6), compressors="zstd")
    return place / "new"


MADE = [from_version_2, from_shards_of_the_draft, from_n5, with_other_shards]


@pytest.mark.parametrize("make", MADE)
def test_version_3(make, tmp_path):
    zarr = pytest.importorskip("zarr")
    tensorstore = pytest.importorskip("tensorstore")
    place = make(tmp_path)
    assert np.array_equal(zarr.open_array(str(place), mode="r", zarr_format=3)[...], VALUES)
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{place}/"}}
    assert np.array_equal(tensorstore.open(spec, read=True).result().read().result(), VALUES)


def test_version_2(tmp_path):
    zarr = pytest.importorskip("zarr")
    options = {"shards": (4, 6), "compressors": "gzip", "dimension_names": ("y", "x")}
    zarr_core.create_array(tmp_path / "old", data=VALUES, chunks=(2, 3), **options)
    convert(tmp_path / "old", tmp_path / "new", zarr_format=2)
    array = zarr.open_array(str(tmp_path / "new"), mode="r", zarr_format=2)
    assert np.array_equal(array[...], VALUES)
    assert array.attrs["_ARRAY_DIMENSIONS"] == ["y", "x"]
    assert array.chunks == (2, 3)
