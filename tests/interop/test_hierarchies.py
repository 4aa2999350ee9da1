"""Groups, attributes, dimension names and consolidated metadata, exchanged with other libraries."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import zarr_core

if TYPE_CHECKING:
    from pathlib import Path

zarr = pytest.importorskip("zarr", reason="zarr-python is not installed")
pytestmark = pytest.mark.usefixtures("silent")

ATTRIBUTES: dict[str, Any] = {
    "title": "Höhen \U0001f30d",
    "large": 2**60 + 1,
    "nested": {"list": [1, 2.5, None, True], "empty": {}},
    "0": "",
}
VALUES = np.arange(35, dtype="int16").reshape(5, 7)


LIBRARIES = {"zarr-python": zarr, "zarr-core": zarr_core}
DIRECTIONS = pytest.mark.parametrize(
    ("writer", "reader"), [("zarr-python", "zarr-core"), ("zarr-core", "zarr-python")]
)
VERSIONS = pytest.mark.parametrize("version", [2, 3])
PATHS = ["scalar", "surface", "surface/height", "surface/height/raster", "time"]


def write(library: str, path: Path, version: int = 3) -> None:
    root = LIBRARIES[library].create_group(path, zarr_format=version, attributes=ATTRIBUTES)
    deep = root.create_group("surface/height", attributes={"level": 2})
    named: dict[str, Any] = {"dimension_names": ["y", None]} if version == 3 else {}
    array = deep.create_array(
        "raster",
        shape=VALUES.shape,
        chunks=(2, 3),
        dtype="int16",
        attributes={"units": "m"},
        **named,
    )
    array[...] = VALUES
    root.create_array("time", shape=(3,), chunks=(3,), dtype="float64", fill_value=np.nan)
    root.create_array("scalar", shape=(), dtype="uint8", chunk_key_encoding={"name": "v2"})[...] = 9


def consolidate(library: str, path: Path, version: int = 3) -> None:
    LIBRARIES[library].consolidate_metadata(path, zarr_format=version)


@VERSIONS
@DIRECTIONS
def test_hierarchy_is_read(tmp_path: Path, writer: str, reader: str, version: int) -> None:
    write(writer, tmp_path, version)
    root = LIBRARIES[reader].open_group(tmp_path, mode="r")
    assert dict(root.attrs) == ATTRIBUTES
    assert sorted(path for path, _ in root.members(max_depth=None)) == PATHS
    raster = root["surface/height/raster"]
    assert dict(root["surface/height"].attrs) == {"level": 2}
    assert dict(raster.attrs) == {"units": "m"}
    if version == 3:
        assert raster.metadata.dimension_names == ("y", None)
    assert np.array_equal(raster[...], VALUES)
    assert np.isnan(root["time"][...]).all()
    assert root["scalar"][()] == 9


@VERSIONS
@DIRECTIONS
def test_consolidated_metadata_is_used(
    tmp_path: Path, writer: str, reader: str, version: int
) -> None:
    write(writer, tmp_path, version)
    consolidate(writer, tmp_path, version)
    # The metadata documents are removed, so only their copy in the root can be read.
    for name in ("zarr.json",) if version == 3 else (".zarray", ".zattrs"):
        (tmp_path / "surface/height/raster" / name).unlink()
    root = LIBRARIES[reader].open_group(tmp_path, mode="r", use_consolidated=True)
    assert sorted(path for path, _ in root.members(max_depth=None)) == PATHS
    assert np.array_equal(root["surface/height/raster"][...], VALUES)
    assert dict(root["surface/height/raster"].attrs) == {"units": "m"}


def test_zarrs_reads_our_hierarchy(tmp_path: Path) -> None:
    zarrista = pytest.importorskip("zarrista", reason="zarrista needs a newer Python")
    write("zarr-core", tmp_path)
    consolidate("zarr-core", tmp_path)
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
    write("zarr-python", tmp_path)
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


@VERSIONS
def test_both_consolidate_alike(tmp_path: Path, version: int) -> None:
    write("zarr-python", tmp_path, version)
    found = []
    for library in LIBRARIES:
        consolidate(library, tmp_path, version)
        text = (tmp_path / (".zmetadata" if version == 2 else "zarr.json")).read_text()
        document = json.loads(text)
        if version == 2:  # zarr-python also stores empty attributes
            copies = document["metadata"]
            found.append((sorted(document), sorted(key for key in copies if copies[key])))
            continue
        # It writes empty consolidated metadata for groups below the root.
        for node in document["consolidated_metadata"]["metadata"].values():
            if node["node_type"] == "group":
                node.pop("consolidated_metadata", None)
        # NaN is a string in metadata, so equal documents compare equal.
        found.append(json.dumps(document["consolidated_metadata"], sort_keys=True, allow_nan=False))
    assert found[0] == found[1]
