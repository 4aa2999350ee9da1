"""Conversion of data of old libraries, and of arrays that others read; see tests/fixtures/README.md."""

from __future__ import annotations

import json
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr_core
from old_libraries import same_bits
from recording import unpack
from zarr_transfer import convert, plan_conversion

FIXTURES = Path(__file__).parents[1] / "fixtures"
RECORDS = {
    file.relative_to(FIXTURES).with_suffix("").as_posix(): json.loads(file.read_text("utf-8"))
    for file in sorted(FIXTURES.glob("*/*/*.json"))
}

# Prefixes of the names of arrays that version 3 does not support.
IMPOSSIBLE = {
    "v2/zarr-python-2.18/objects": ("json2", "msgpack2", "vlen-array"),
    "v2/zarr-python-2.18/pickles": ("pickled",),
    "v2/zarr-python-2.18/structures": ("subarray",),
    "draft-2021/zarr-python-2.18/data_types": ("object/", "structure/nested"),
    "draft/text/extensions": ("fallback/",),
}


def stores(name: str) -> dict[str, zarr_core.MemoryStore]:
    """Copies of the stores in an archive, in memory, by the path of their root in the record."""
    found: dict[str, dict[str, bytes]] = {}
    with zipfile.ZipFile(FIXTURES / f"{name}.zip") as archive:
        for key in archive.namelist():
            top, _, rest = key.partition("/") if RECORDS[name].get("separate") else ("", "", key)
            if not key.endswith("/"):
                found.setdefault(top, {})[rest] = archive.read(key)
    return {top: zarr_core.MemoryStore(values) for top, values in found.items()}


def contents(store: Any) -> dict[str, bytes]:
    return {key: bytes(store.get(key)) for key in store.list()}


@pytest.fixture(autouse=True)
def _quietly():
    with warnings.catch_warnings(), zarr_core.config.set(fallback="use"):
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("name", [name for name in RECORDS if "/refused" not in name])
def test_all_of_it_becomes_version_3(name):
    for top, source in stores(name).items():
        untouched, dest = contents(source), zarr_core.MemoryStore()
        done = convert(source, dest, on_error="skip")
        impossible = [step.path for step in done.steps if step.problems]
        assert all(path.startswith(IMPOSSIBLE.get(name, ())) for path in impossible)
        assert contents(source) == untouched
        check(RECORDS[name]["nodes"], top, dest, done)


@pytest.mark.parametrize("name", [name for name in RECORDS if name.startswith(("v1/", "v2/"))])
def test_it_becomes_version_3_where_it_is(name):
    for top, store in stores(name).items():
        untouched = contents(store)
        refused = plan_conversion(store).steps[0].problems
        if refused:  # the only array of the store
            assert "must be decoded" in str(refused[0])
            continue
        done = convert(store, on_error="skip")
        for step in done.steps:
            if not step.problems:
                assert step.cost == "document"
            elif not step.path.startswith(IMPOSSIBLE.get(name, ())):
                assert "must be decoded" in str(step.problems[0])
        after = contents(store)
        assert {key: after[key] for key in untouched} == untouched
        assert {key.rpartition("/")[2] for key in after.keys() - untouched.keys()} == {"zarr.json"}
        check(RECORDS[name]["nodes"], top, store, done)


def check(nodes: Any, top: str, dest: Any, done: Any) -> None:
    """Compare with the record."""
    for step in done.steps:
        if step.kind != "array" or step.problems:
            continue
        node = nodes["/".join(part for part in (top, step.path) if part)]
        array = zarr_core.open_array(dest, "r", path=step.path, zarr_format=3)
        names = node["attributes"].get("_ARRAY_DIMENSIONS")
        if names is not None and len(names) == len(node["shape"]):
            assert array.dimension_names == tuple(names)
        if "damaged" in node:
            continue
        expected = unpack(node["dtype"], node["shape"], node["data"])
        actual = np.asarray(array[...])
        assert same_bits(actual, expected), f"{step.path}: {actual!r} is not {expected!r}"


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
