"""Copying, moving or converting a node onto itself raises an error and loses nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import NodeExistsError
from zarr_transfer import ConversionError
from zarr_transfer.plan import is_within_location

if TYPE_CHECKING:
    from pathlib import Path


def _made(path: Path) -> dict[str, bytes]:
    zarr.create_group(path).create_array("g/x", data=np.arange(6), chunks=3)
    os.symlink(path, f"{path}.link", target_is_directory=True)
    return _files(path)


def _files(path: Path) -> dict[str, bytes]:
    return {str(it.relative_to(path)): it.read_bytes() for it in path.rglob("*") if it.is_file()}


def test_a_node_is_not_moved_into_itself(tmp_path: Path) -> None:
    before = _made(tmp_path / "a")
    with pytest.raises(NodeExistsError, match="is within the node to move"):
        zarr.move(zarr.open(tmp_path / "a", "r+"), tmp_path / "a.link/g", "new")
    assert _files(tmp_path / "a") == before


@pytest.mark.parametrize(
    ("source", "dest", "name"),
    [
        ("a/g", "a", "g"),  # the same node, from another root
        ("a", "a/g", None),  # within its source
        ("a", "a.link/g", None),
        ("a.link/g", "a", None),  # around its source
        ("a/g", "a.link", "g/new"),
    ],
)
def test_a_copy_that_overlaps_its_source_is_rejected(
    tmp_path: Path, source: str, dest: str, name: str | None
) -> None:
    before = _made(tmp_path / "a")
    with pytest.raises(NodeExistsError, match="overlap"):
        zarr.copy(zarr.open(tmp_path / source), tmp_path / dest, name, overwrite=True)
    assert _files(tmp_path / "a") == before


@pytest.mark.parametrize(
    ("source", "dest", "name"), [("a/g", "a", "g"), ("a", "a/g", None), ("a/g", "a.link", None)]
)
@pytest.mark.parametrize("options", [{"overwrite": True, "chunks": 2}, {"remove_source": True}])
def test_a_conversion_that_overlaps_its_source_is_rejected(
    tmp_path: Path, source: str, dest: str, name: str | None, options: dict[str, Any]
) -> None:
    before = _made(tmp_path / "a")
    with pytest.raises(ConversionError, match="overlap"):
        zarr.convert(tmp_path / source, tmp_path / dest, dest_path=name, **options)
    assert _files(tmp_path / "a") == before


def test_neighbours_with_the_same_beginning_are_not_relatives(tmp_path: Path) -> None:
    one, other = zarr.LocalStore(tmp_path / "a"), zarr.LocalStore(tmp_path / "ab")
    assert not is_within_location(other, "", one, "")
    assert not is_within_location(one, "b", zarr.LocalStore(tmp_path), "a/bc")
    assert is_within_location(one, "b/c", zarr.LocalStore(tmp_path), "a/b")
    assert not is_within_location(zarr.MemoryStore(), "", zarr.MemoryStore(), "")
