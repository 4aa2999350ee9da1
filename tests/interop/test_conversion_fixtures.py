"""Conversion of data written by old libraries; see ``tests/fixtures/README.md``."""

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
