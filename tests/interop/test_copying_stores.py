"""Copies between stores of all pairs of kinds."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import StoreCapabilityError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KINDS: dict[str, Callable[[Path], Any]] = {
    "memory": lambda folder: zarr.MemoryStore(),
    "dictionary": lambda folder: {},
    "local": lambda folder: folder / "local.zarr",
    "zip": lambda folder: folder / "archive.zip",
    "sqlite": lambda folder: f"sqlite://{folder}/base.sqlite",
    "dbm": lambda folder: f"dbm://{folder}/base.dbm",
}
NO_ERASING = {"zip"}


def place(kind: str, folder: Path) -> Any:
    folder.mkdir()
    return KINDS[kind](folder)


def fill(where: Any, zarr_format: int = 3) -> Any:
    with zarr.resolve_store_path(where)[0] as store:
        root = zarr.create_group(store, zarr_format=zarr_format, attributes={"t": 1})
        root.create_array("g/a", data=np.arange(10), chunks=2, attributes={"n": 1})
        root.create_array("g/h/b", data=np.eye(4), chunks=2)
    return where


def contents(where: Any, path: str = "") -> dict[str, Any]:
    with zarr.resolve_store_path(where)[0] as store:
        prefix = f"{path}/" if path else ""
        found = {key[len(prefix) :]: bytes(store.get(key)) for key in store.list_prefix(prefix)}
    return {key: json.loads(v) if "json" in key else v for key, v in found.items()}


@pytest.mark.parametrize(("old", "new"), [*product(KINDS, KINDS)])
def test_copies_are_what_their_sources_are(tmp_path, old, new):
    source, dest = fill(place(old, tmp_path / "old")), place(new, tmp_path / "new")
    expected = contents(source)
    zarr.copy(zarr.open(source), dest)
    assert contents(dest) == expected
    done = zarr.copy_store(source, dest, "g", "again")
    assert done[:2] == (len(contents(source, "g")), 0)
    assert contents(dest, "again") == contents(source, "g")
    assert zarr.copy_store(source, dest, "g", "again", if_exists="update").copied == 0
    assert zarr.copy_all(zarr.open(source), dest, if_exists="skip")[:2] == (0, 4)
    assert zarr.getsize(dest, "g") == zarr.getsize(source, "g")


@pytest.mark.parametrize(("old", "new"), [*product(KINDS, KINDS)])
def test_nodes_move(tmp_path, old, new):
    source, dest = fill(place(old, tmp_path / "old")), place(new, tmp_path / "new")
    expected = contents(source, "g")
    if old in NO_ERASING:
        with pytest.raises(StoreCapabilityError, match="cannot remove keys"):
            zarr.move(zarr.open(source)["g"], dest)
        assert contents(source, "g") == expected
        return
    moved = zarr.move(zarr.open(source)["g"], dest)
    assert moved["a"][...].tolist() == list(range(10))
    moved.store.close()
    assert contents(dest) == expected
    assert set(contents(source)) == {"zarr.json"}


def test_an_interrupted_archive_is_continued(tmp_path):
    source = fill(place("memory", tmp_path / "old"))
    archive = tmp_path / "a.zip"
    seen = []

    def stop(progress):
        seen.append(progress)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        zarr.copy_store(source, archive, progress=stop)
    assert seen
    assert len(contents(archive)) < len(contents(source))
    zarr.copy_store(source, archive, if_exists="update")
    assert contents(archive) == contents(source)
