"""Data written by old libraries and releases, read bit for bit; see tests/fixtures/README.md."""

from __future__ import annotations

import hashlib
import json
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr_core
from old_libraries import same_bits
from recording import unpack

FIXTURES = Path(__file__).parents[1] / "fixtures"
RECORDS = {
    file.relative_to(FIXTURES).with_suffix("").as_posix(): json.loads(file.read_text("utf-8"))
    for file in sorted(FIXTURES.glob("*/*/*.json"))
}
NODES = [(name, path) for name, record in RECORDS.items() for path in record["nodes"]]
ARRAYS = [(name, path) for name, path in NODES if RECORDS[name]["nodes"][path]["kind"] == "array"]
GROUPS = [(name, path) for name, path in NODES if RECORDS[name]["nodes"][path]["kind"] == "group"]
REFUSED = [node for node in NODES if node not in {*ARRAYS, *GROUPS}]


@pytest.fixture(scope="session")
def place_of(tmp_path_factory):
    """Returns the location of a store, unpacked once."""
    places: dict[str, Path] = {}

    def place(name: str) -> Path:
        if name not in places:
            places[name] = FIXTURES / f"{name}.zip"
            if RECORDS[name]["store"] != "ZipStore":
                folder = tmp_path_factory.mktemp("store") / Path(name).name
                with zipfile.ZipFile(places[name]) as archive:
                    archive.extractall(folder)
                places[name] = folder
        return places[name]

    return place


@pytest.fixture
def opened(place_of):
    """Opens a node of a store for reading, without warnings about fallbacks."""

    def open_node(name: str, path: str) -> Any:
        place, record = place_of(name), RECORDS[name]
        if record.get("separate"):
            place, path = place / path, ""
        return zarr_core.open(place, mode="r", path=path, extensions=allowed(record))

    with zarr_core.config.set(fallback="use"):
        yield open_node


def allowed(record: dict[str, Any]) -> Any:
    if "pickled" not in record["nodes"]:
        return None
    from zarr_codecs.pickle import PickleCodec

    return {"codec": {"numcodecs.pickle": PickleCodec}}


def text_of(attributes: Any) -> str:
    # NaN differs from itself, but its text does not.
    return json.dumps(dict(attributes), sort_keys=True)


def children(record: dict[str, Any], path: str) -> set[str]:
    """The names of the children of a group."""
    prefix = f"{path}/" if path else ""
    below = (other[len(prefix) :] for other in record["nodes"] if other.startswith(prefix))
    return {name for name in below if name and "/" not in name}


@pytest.mark.parametrize(("name", "path"), ARRAYS)
def test_an_array_is_what_was_written(opened, name, path):
    node = RECORDS[name]["nodes"][path]
    expected = unpack(node["dtype"], node["shape"], node["data"])
    array = opened(name, path)
    assert array.shape == tuple(node["shape"])
    assert array.chunks == tuple(node["chunks"])
    if expected.dtype != object:
        assert array.dtype.newbyteorder("=") == expected.dtype.newbyteorder("=")
    assert text_of(array.attrs) == text_of(node["attributes"])
    if "damaged" in node:
        with pytest.raises(zarr_core.errors.ChunkDecodeError):
            array[...]
        return
    actual = array[...]
    assert same_bits(np.asarray(actual), expected), f"{actual!r}\nis not\n{expected!r}"
    check_fill_value(node, array.fill_value, expected.dtype)


def check_fill_value(node: dict[str, Any], actual: Any, dtype: np.dtype[Any]) -> None:
    if node.get("any_fill_value"):
        return
    if node["fill_value"] is None:
        assert actual is None
        return
    expected = unpack(node["dtype"], (), node["fill_value"])
    if dtype.kind == "O" and expected[()] == 0:
        # The default of zarr-python, also for text.
        assert actual in (0, "", b"")
    else:
        assert same_bits(np.array(actual, dtype), expected), f"{actual!r} is not {expected!r}"


@pytest.mark.parametrize(("name", "path"), GROUPS)
def test_a_group_has_its_children_and_attributes(opened, name, path):
    record = RECORDS[name]
    group = opened(name, path)
    assert text_of(group.attrs) == text_of(record["nodes"][path]["attributes"])
    assert set(group.keys()) == children(record, path)
    kinds = {name: "array" if hasattr(node, "shape") else "group" for name, node in group.items()}
    prefix = f"{path}/" if path else ""
    assert kinds == {name: record["nodes"][prefix + name]["kind"] for name in kinds}


@pytest.mark.parametrize(("name", "path"), REFUSED)
def test_invalid_input_is_rejected(opened, name, path):
    # Other nodes of the store can be read; see above.
    with pytest.raises(zarr_core.errors.ZarrError):
        opened(name, path)


def test_pickled_objects_are_rejected_unless_allowed(place_of):
    place = place_of("v2/zarr-python-2.18/pickles")
    with pytest.raises(zarr_core.errors.ExtensionError, match="pickle"):
        zarr_core.open(place, mode="r", path="pickled")
    # Other nodes can be read.
    assert zarr_core.open(place, mode="r", path="beside")[...].any()


GOLDEN = Path(__file__).parents[1] / "fixtures" / "golden"
SUMS = dict(
    reversed(line.split("  ", 1)) for line in (GOLDEN / "SHA256SUMS").read_text().splitlines()
)


def test_golden_stores_do_not_change():
    for name, expected in SUMS.items():
        data = (GOLDEN / name).read_bytes()
        assert hashlib.sha256(data).hexdigest() == expected, f"{name} must not be written again"


def test_every_golden_store_has_a_digest():
    files = {path.relative_to(GOLDEN).as_posix() for path in GOLDEN.glob("*/*")}
    assert files == SUMS.keys()


def test_this_version_has_golden_stores():
    major, minor, *_ = version("zarr-core").split(".")
    stores = sorted((GOLDEN / f"zarr-core-{major}.{minor}").glob("*.json"))
    assert {store.stem for store in stores} >= {"arrays", "v2", "v3_codecs", "n5", "draft"}
