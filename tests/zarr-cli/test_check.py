"""``zarr-core check``: damaged, truncated and missing chunks, unmanaged keys."""

import os
from pathlib import Path

import numpy as np
import pytest
import zarr_core as zarr
from formats_for_commands import FORMATS
from unlisted_store import UnlistedStore
from zarr_cli.check import check
from zarr_core.extension import StoreReadError
from zarr_core.registry.resolve import format_named
from zarr_transfer.unmanaged import unmanaged_keys


@pytest.mark.parametrize("location", [*(f"{name}.zarr" for name in FORMATS), "three.zip"])
def test_sound_hierarchies(location, here, command, query):
    shown = command("check", location)
    assert "\nsound: " in shown
    found = query("check", location, "--strict")
    assert (found["sound"], found["complete"], found["damaged"], found["missing"]) == (
        True, True, 0, 0,
    )  # fmt: skip
    stored = sum(array["stored"] for array in found["arrays"])
    assert stored == {"1": 8, "2": 15, "3": 23, "d": 12, "n": 12, "t": 23}[location[0]]


def cut(file, size):
    os.truncate(file, size)


def flip(file, position):
    value = bytearray(Path(file).read_bytes())
    value[position] ^= 0xFF
    Path(file).write_bytes(value)


@pytest.mark.parametrize(
    ("location", "key"),
    [
        ("1.zarr", "1.0"),
        ("2.zarr", "height/1.0"),
        ("draft.zarr", "data/height/c1/0"),
        ("draft-2021.zarr", "data/root/height/c1/0"),
        ("n5.zarr", "height/0/1"),
    ],
)
def test_truncated_chunk_in_older_formats(location, key, here, query):
    cut(Path(location, key), 40)
    found = query("check", location, status=1)
    [damage] = next(it["damages"] for it in found["arrays"] if it["damages"])
    assert (damage["key"], damage["chunk"], damage["kind"]) == (key, [1, 0], "damaged")


def test_all_kinds_of_damage(here, command, query):
    root = Path("3.zarr")
    cut(root / "height/c/0/1", 100)
    flip(root / "height/c/1/1", -1)
    shard = root / "north/shards/c/0/0"
    flip(shard, 60)
    flip(shard, shard.stat().st_size // 2)
    cut(root / "north/shards/c/1/0", 50)
    flip(root / "north/shards/c/0/1", -3)  # within the index
    cut(root / "north/raw/c/2", 5)
    (root / "height/c/2/0").unlink()
    (root / "height/c/7").mkdir()
    for unmanaged in ("height/c/7/0", "height/notes.txt", "north/README"):
        (root / unmanaged).write_text("?")
    (root / "junk/deep").mkdir(parents=True)
    (root / "junk/deep/file").write_text("?")
    (root / "north/scalar/zarr.json").write_text("{")

    found = query("check", "3.zarr", status=1)
    arrays = {array["path"]: array for array in found["arrays"]}
    damages = [
        (damage["key"], damage["kind"]) for array in found["arrays"] for damage in array["damages"]
    ]
    assert damages == [
        ("height/c/0/1", "damaged"),
        ("height/c/1/1", "checksum"),
        ("north/raw/c/2", "damaged"),
        ("north/shards/c/0/0", "checksum"),
        ("north/shards/c/0/0", "checksum"),
        ("north/shards/c/0/1", "checksum"),
        ("north/shards/c/1/0", "damaged"),
    ]
    reasons = [damage["reason"] for damage in arrays["/north/shards"]["damages"]]
    assert "inner chunk (0, 0)" in reasons[0]
    assert "inner chunk" in reasons[1]
    assert "(0, 0)" not in reasons[1]
    assert "shard index" in reasons[2]
    height = arrays["/height"]
    assert (height["stored"], height["total"], height["missing"]) == (7, 8, 1)
    assert (height["outside"], height["unmanaged"]) == (["height/c/7/0"], ["height/notes.txt"])
    assert found["unmanaged"] == ["junk/", "north/README"]
    assert "/north/scalar" in [each["path"] for each in found["problems"]]
    assert not arrays["/north/raw"]["has_checksums"]

    shown = command("check", "3.zarr", status=1)
    assert "  checksum  height/c/1/1  zstd: the content differs from its checksum\n" in shown
    assert "not sound: 17 chunks, 4 shards read in 7 arrays; 7 damaged\n" in shown
    assert "1 chunk missing (read as the fill value)\n" in shown
    assert "cannot be detected: /north/raw\n" in shown
    assert command("check", "3.zarr", "-q", status=1) == ""


def test_strict_reports_missing_chunks(here, command):
    Path("2.zarr/height/0.0").unlink()
    command("check", "2.zarr")
    command("check", "2.zarr", "--strict", status=1)
    assert "sound: 7 chunks read" in command("check", "2.zarr#north", "--strict")


def test_chunks_with_differing_lengths(tmp_path):
    array = zarr.create_array(
        zarr.LocalStore(tmp_path), data=np.arange(60).reshape(10, 6), chunks=((2, 5, 3), (6,))
    )
    assert array.nchunks == 3
    cut(tmp_path / "c/1/0", 10)
    [result] = check(array.store).arrays
    assert ([damage.chunk for damage in result.damages], result.stored) == ([(1, 0)], 3)


class OneFails(zarr.MemoryStore):
    def get(self, key):
        if key == "c/1":
            raise StoreReadError("disk failure", store=str(self), key=key)
        return super().get(key)


def test_store_errors_do_not_stop_the_check():
    store = zarr.MemoryStore()
    zarr.create_array(store, data=np.arange(8), chunks=2)
    [result] = check(OneFails({key: store.get(key) for key in store.list()})).arrays
    assert [(damage.kind, damage.key) for damage in result.damages] == [("unreadable", "c/1")]
    assert result.stored == 4


def test_store_without_listing():
    store = zarr.MemoryStore()
    root = zarr.create_group(store)
    plain = root.create_array("plain", shape=(8,), chunks=(2,), dtype="i4")
    plain[2:6] = 1
    shards = root.create_array("shards", shape=(8,), chunks=(2,), shards=(4,), dtype="i4")
    shards[:2] = 1
    zarr.consolidate_metadata(store)
    values = {key: bytes(store.get(key)) for key in store.list()}
    values["plain/c/1"] = b"?"
    result = check(UnlistedStore(values))
    found = [(array.path, array.stored, array.missing) for array in result.arrays]
    assert found == [("/plain", 2, 2), ("/shards", 1, 1)]
    assert [len(array.damages) for array in result.arrays] == [1, 0]


def test_unmanaged_keys_of_the_draft(here):
    store = zarr.LocalStore("draft.zarr")
    for key in ("meta/stray", "data/stray/c0", "meta/north/stray.txt"):
        store.set(key, b"?")
    paths = ["", "height", "north", "north/temperature"]
    found = unmanaged_keys(store, format_named("draft"), ["", "north"], paths)
    assert [*map(sorted, found)] == [["data/stray/", "meta/stray"], ["meta/north/stray.txt"]]
