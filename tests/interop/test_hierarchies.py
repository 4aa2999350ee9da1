"""Groups, attributes, dimension names and consolidated metadata, exchanged with other libraries."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import zarr_core

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

zarr = pytest.importorskip("zarr", reason="zarr-python is not installed")

ATTRIBUTES: dict[str, Any] = {
    "title": "Höhen \U0001f30d",
    "large": 2**60 + 1,
    "nested": {"list": [1, 2.5, None, True], "empty": {}},
    "0": "",
}
VALUES = np.arange(35, dtype="int16").reshape(5, 7)


@pytest.fixture(autouse=True)
def _let_zarr_python_warn() -> Iterator[None]:
    # It warns that consolidated metadata is not in the specification.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def zarr_python_writes(place: Path) -> None:
    root = zarr.create_group(place, zarr_format=3, attributes=ATTRIBUTES)
    deep = root.create_group("surface/height", attributes={"level": 2})
    array = deep.create_array(
        "raster",
        shape=VALUES.shape,
        chunks=(2, 3),
        dtype="int16",
        dimension_names=["y", None],
        attributes={"units": "m"},
    )
    array[...] = VALUES
    root.create_array("time", shape=(3,), chunks=(3,), dtype="float64", fill_value=np.nan)
    root.create_array("scalar", shape=(), dtype="uint8", chunk_key_encoding={"name": "v2"})[...] = 9


def we_write(place: Path) -> None:
    root = zarr_core.create_group(place, attributes=ATTRIBUTES)
    deep = root.create_group("surface/height", attributes={"level": 2})
    array = deep.create_array(
        "raster",
        shape=VALUES.shape,
        chunks=(2, 3),
        dtype="int16",
        dimension_names=["y", None],
        attributes={"units": "m"},
    )
    array[...] = VALUES
    root.create_array("time", shape=(3,), chunks=(3,), dtype="float64", fill_value=np.nan)
    root.create_array("scalar", shape=(), dtype="uint8", chunk_key_encoding="v2")[...] = 9


PATHS = ["scalar", "surface", "surface/height", "surface/height/raster", "time"]


def test_we_read_its_hierarchy(tmp_path: Path) -> None:
    zarr_python_writes(tmp_path)
    root = zarr_core.open_group(tmp_path, mode="r")
    assert dict(root.attrs) == ATTRIBUTES
    assert sorted(path for path, _ in root.members(max_depth=None)) == PATHS
    raster = root["surface/height/raster"]
    assert dict(root["surface/height"].attrs) == {"level": 2}
    assert dict(raster.attrs) == {"units": "m"}
    assert raster.metadata.dimension_names == ("y", None)
    assert np.array_equal(raster[...], VALUES)
    assert np.isnan(root["time"][...]).all()
    assert root["scalar"][()] == 9


def test_it_reads_our_hierarchy(tmp_path: Path) -> None:
    we_write(tmp_path)
    root = zarr.open_group(tmp_path, mode="r")
    assert dict(root.attrs) == ATTRIBUTES
    assert sorted(path for path, _ in root.members(max_depth=None)) == PATHS
    raster = root["surface/height/raster"]
    assert dict(root["surface/height"].attrs) == {"level": 2}
    assert dict(raster.attrs) == {"units": "m"}
    assert raster.metadata.dimension_names == ("y", None)
    assert np.array_equal(raster[...], VALUES)
    assert np.isnan(root["time"][...]).all()
    assert root["scalar"][()] == 9


def test_zarrs_reads_our_hierarchy(tmp_path: Path) -> None:
    zarrista = pytest.importorskip("zarrista", reason="zarrista needs a newer Python")
    we_write(tmp_path)
    zarr_core.consolidate_metadata(tmp_path)
    store = zarrista.store.FilesystemStore(tmp_path)
    root = zarrista.Group.open(store)
    assert root.attrs == ATTRIBUTES
    assert sorted(path.lstrip("/") for path in root.child_paths()) == ["scalar", "surface", "time"]
    raster = zarrista.Array.open(store, "/surface/height/raster")
    assert raster.dimension_names == ["y", None]
    assert raster.attrs == {"units": "m"}
    assert np.array_equal(raster.retrieve_array_subset(...).to_numpy(), VALUES)
    assert sorted(root.consolidated_metadata["metadata"]) == PATHS


def test_each_changes_what_the_other_wrote(tmp_path: Path) -> None:
    zarr_python_writes(tmp_path)
    ours = zarr_core.open_group(tmp_path, mode="r+")
    ours["surface/height/raster"][1:3, 2:5] = -1
    ours.attrs["by"] = "us"
    theirs = zarr.open_group(tmp_path, mode="r+")
    expected = VALUES.copy()
    expected[1:3, 2:5] = -1
    assert np.array_equal(theirs["surface/height/raster"][...], expected)
    assert dict(theirs.attrs) == {**ATTRIBUTES, "by": "us"}
    theirs["surface/height/raster"][4:, 6:] = 77
    theirs["surface/height/raster"].resize((6, 7))
    expected[4:, 6:] = 77
    raster = zarr_core.open_array(tmp_path / "surface/height/raster", mode="r")
    assert raster.shape == (6, 7)
    assert np.array_equal(raster[:5], expected)
    assert not raster[5].any()


def test_we_use_its_consolidated_metadata(tmp_path: Path) -> None:
    zarr_python_writes(tmp_path)
    zarr.consolidate_metadata(tmp_path, zarr_format=3)
    # The metadata document is removed, so only its copy in the root can be read.
    (tmp_path / "surface/height/raster/zarr.json").unlink()
    root = zarr_core.open_group(tmp_path, mode="r", use_consolidated=True)
    assert sorted(path for path, _ in root.members(max_depth=None)) == PATHS
    assert np.array_equal(root["surface/height/raster"][...], VALUES)
    assert dict(root["surface/height/raster"].attrs) == {"units": "m"}


def test_it_uses_our_consolidated_metadata(tmp_path: Path) -> None:
    we_write(tmp_path)
    zarr_core.consolidate_metadata(tmp_path)
    (tmp_path / "surface/height/raster/zarr.json").unlink()
    root = zarr.open_consolidated(tmp_path, zarr_format=3)
    assert sorted(path for path, _ in root.members(max_depth=None)) == PATHS
    assert np.array_equal(root["surface/height/raster"][...], VALUES)
    assert dict(root["surface/height/raster"].attrs) == {"units": "m"}


def test_both_consolidate_alike(tmp_path: Path) -> None:
    zarr_python_writes(tmp_path)
    zarr.consolidate_metadata(tmp_path, zarr_format=3)
    theirs = json.loads((tmp_path / "zarr.json").read_text())["consolidated_metadata"]
    zarr_core.consolidate_metadata(tmp_path)
    ours = json.loads((tmp_path / "zarr.json").read_text())["consolidated_metadata"]
    # It writes empty consolidated metadata for groups below the root, and arrays
    # as in their metadata documents.
    for document in theirs["metadata"].values():
        if document["node_type"] == "group":
            document.pop("consolidated_metadata", None)
    assert _by_text(ours) == _by_text(theirs)


def _by_text(document: Any) -> Any:
    # NaN is a string in metadata, so equal documents compare equal.
    return json.loads(json.dumps(document, sort_keys=True, allow_nan=False))
