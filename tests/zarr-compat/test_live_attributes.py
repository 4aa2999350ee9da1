"""Changes of attributes in place are seen, and stored with the next change, as in zarr-python."""

import pickle

import numpy as np
import pytest

START = {"levels": [{"path": "0"}], "units": {"y": {"scale": [1.5]}}, "n": 1}


def append_and_assign(node):
    node.attrs["levels"].append({"path": "1"})
    node.attrs["levels"] = node.attrs["levels"]


def append_and_set_other(node):
    node.attrs["levels"][0].update(scale=2)
    node.attrs["z"] = 0


def nested_and_update(node):
    node.attrs.get("units")["y"]["scale"].append(3)
    node.attrs.update(z=0)


def nested_and_update_attributes(node):
    node.attrs["units"].clear()
    node.update_attributes(new_attributes={"z": 0})


def nested_and_delete(node):
    node.attrs["units"]["y"]["x"] = None
    node.attrs.pop("n")


def metadata_and_set_other(node):
    node.metadata.attributes["added"] = {"x": [True]}
    del node.metadata.attributes["n"]
    node.attrs["z"] = 0


def value_of_the_program(node):
    value = {"x": []}
    node.attrs["own"] = value
    value["x"].append(1)
    node.attrs["z"] = 0


def held_across_a_change(node):
    held, attributes = node.attrs["levels"], node.metadata.attributes
    node.attrs["z"] = 0
    held.append(4)
    attributes["t"] = "u"
    node.attrs["z"] = 1


CHANGES = {
    append_and_assign: {**START, "levels": [{"path": "0"}, {"path": "1"}]},
    append_and_set_other: {**START, "levels": [{"path": "0", "scale": 2}], "z": 0},
    nested_and_update: {**START, "units": {"y": {"scale": [1.5, 3]}}, "z": 0},
    nested_and_update_attributes: {**START, "units": {}, "z": 0},
    nested_and_delete: {
        "levels": [{"path": "0"}], "units": {"y": {"scale": [1.5], "x": None}}
    },
    metadata_and_set_other: {
        "levels": START["levels"], "units": START["units"], "added": {"x": [True]}, "z": 0
    },
    value_of_the_program: {**START, "own": {"x": [1]}, "z": 0},
    held_across_a_change: {**START, "levels": [{"path": "0"}, 4], "t": "u", "z": 1},
}  # fmt: skip


def node_of(zarr, store, kind, zarr_format, consolidated):
    root = zarr.create_group(store, zarr_format=zarr_format)
    if kind == "array":
        root.create_array("m", shape=(4,), chunks=(3,), dtype="complex64", attributes=START)
    else:
        root.create_group("m", attributes=START)
    if consolidated:
        zarr.consolidate_metadata(store)
    return zarr.open_group(store, mode="r+", use_consolidated=consolidated)["m"]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("consolidated", [False, True])
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("kind", ["array", "group"])
def test_changes_in_place_are_stored_with_the_next(alias, kind, zarr_format, consolidated, change):
    store = alias.storage.MemoryStore()
    node = node_of(alias, store, kind, zarr_format, consolidated)
    change(node)
    expected = CHANGES[change]
    assert node.attrs.asdict() == node.metadata.attributes == expected
    assert alias.open(store, path="m", mode="r").attrs.asdict() == expected


@pytest.mark.parametrize(
    "change",
    [
        lambda array: array.resize((9,)),
        lambda array: array.resize(new_shape=2),
        lambda array: array.append(np.ones(2, "c8")),
    ],
)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_changes_of_the_shape_store_them(alias, zarr_format, change):
    store = alias.storage.MemoryStore()
    array = node_of(alias, store, "array", zarr_format, False)
    array.attrs["units"]["y"]["scale"] = 7
    change(array)
    stored = alias.open_array(store, path="m", mode="r")
    assert stored.attrs["units"] == {"y": {"scale": 7}}
    assert stored.shape == array.shape != (4,)


def test_changes_in_place_are_seen_before_they_are_stored(alias):
    store = alias.storage.MemoryStore()
    node = node_of(alias, store, "group", 3, True)
    node.attrs["levels"].append(2)
    assert node.attrs["levels"] is node.metadata.attributes["levels"]
    assert len(node.attrs["levels"]) == 2
    assert len(pickle.loads(pickle.dumps(node)).attrs["levels"]) == 2
    assert alias.open_group(store, path="m", mode="r").attrs["levels"] == [{"path": "0"}]


def test_changes_by_other_writers_are_kept(alias):
    store = alias.storage.MemoryStore()
    node = node_of(alias, store, "array", 3, False)
    held = node.attrs["levels"]
    alias.open_array(store, path="m").attrs.update(n=2, other=[1])
    held.append(1)
    node.attrs["z"] = 0
    expected = {**START, "levels": [*START["levels"], 1], "n": 2, "other": [1], "z": 0}
    assert node.attrs.asdict() == expected
    assert alias.open_array(store, path="m", mode="r").attrs.asdict() == expected


def test_values_without_json_form_are_rejected_when_they_are_stored(alias):
    node = node_of(alias, alias.storage.MemoryStore(), "group", 2, False)
    node.attrs["levels"].append(object())
    with pytest.raises(TypeError, match="/attributes/levels/1"):
        node.attrs["z"] = 0
    node.attrs["levels"].pop()
    node.attrs["z"] = 0
    assert node.attrs["z"] == 0
