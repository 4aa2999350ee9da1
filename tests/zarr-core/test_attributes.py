"""Attributes as a mapping, whose changes are stored at once."""

import contextlib
import copy
import json
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from zarr_core.errors import (
    AttributeValueError,
    NodeNotFoundError,
    NodeTypeError,
    StoreError,
    StoreReadOnlyError,
)
from zarr_core.extension import strictjson, update_additional_fields


class Failing(zarr.MemoryStore):
    """A memory store that can be set to reject the next values."""

    fails = False

    def set(self, key, value):
        if self.fails:
            raise StoreError("the disk is full", store=self, key=key)
        super().set(key, value)


@pytest.fixture(params=["array", "group"])
def node(request):
    if request.param == "group":
        return zarr.create_group(attributes={"first": 1})
    return zarr.create_array(shape=3, dtype="int8", attributes={"first": 1})


def stored(node):
    return json.loads(bytes(node.store.get("zarr.json")))["attributes"]


def test_it_is_a_mapping(node):
    attrs = node.attrs
    attrs["second"] = [1, {"a": None}]
    attrs.update({"third": "x"}, fourth=np.True_)
    assert attrs.setdefault("third", 5) == "x"
    attrs.setdefault("fifth", (2.5,))
    assert attrs["fifth"] == [2.5], "what is read is what was stored"
    assert list(attrs) == ["first", "second", "third", "fourth", "fifth"]
    assert (len(attrs), "third" in attrs, "sixth" in attrs) == (5, True, False)
    assert attrs.pop("first") == 1
    del attrs["third"]
    assert attrs.get("third", "none") == "none"
    assert attrs == {"second": [1, {"a": None}], "fourth": True, "fifth": [2.5]}
    assert stored(node) == attrs.asdict()
    assert repr(attrs) == "{'second': [1, {'a': None}], 'fourth': True, 'fifth': [2.5]}"
    with pytest.raises(KeyError):
        attrs["first"]
    with pytest.raises(KeyError):
        del attrs["first"]


def test_all_are_replaced_at_once(node):
    node.attrs.put({"a": 1})
    assert stored(node) == {"a": 1}
    node.attrs = {"b": 2}
    assert stored(node) == {"b": 2}
    node.attrs.clear()
    assert stored(node) == {}
    assert node.update_attributes({"c": 3}) is node
    assert stored(node) == {"c": 3}


def test_a_change_of_several_is_one_write():
    store = CountingStore(zarr.MemoryStore())
    node = zarr.create_group(store)
    store.calls.clear()
    node.attrs.update(a=1, b=2, c=3)
    assert store.count("update") == 1
    store.calls.clear()
    node.attrs.update({})
    assert not store.calls


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), "cannot be represented in JSON"),
        (float("nan"), "not valid JSON"),
        ({1: 2}, "not a string"),
        ({"a": {"b": b"bytes"}}, "/attributes/bad/a/b"),
    ],
)
def test_a_rejected_value_leaves_everything_as_it_was(node, value, message):
    with pytest.raises(AttributeValueError, match=message) as caught:
        node.attrs["bad"] = value
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ValueError)
    assert node.attrs == stored(node) == {"first": 1}
    node.attrs["good"] = 1
    assert node.attrs == stored(node) == {"first": 1, "good": 1}
    with pytest.raises(AttributeValueError, match="5 is not a string"):
        node.attrs.put({5: 1})


def test_a_failed_write_leaves_the_object_usable():
    store = Failing()
    array = zarr.create_array(store, shape=4, chunks=2, dtype="int8", attributes={"a": 1})
    store.fails = True
    for change in (
        lambda: array.attrs.update(a=2),
        lambda: array.attrs.clear(),
        lambda: array.resize(8),
    ):
        with pytest.raises(StoreError, match="the disk is full"):
            change()
    assert (array.attrs.asdict(), array.shape) == ({"a": 1}, (4,))
    store.fails = False
    array.attrs["a"] = 3
    array.resize(6)
    assert (stored(array), array.shape) == ({"a": 3}, (6,))


def test_returned_values_are_copies(node):
    mine = {"deep": [1]}
    node.attrs["value"] = mine
    mine["deep"].append(2)
    node.attrs.asdict()["value"]["deep"].append(4)
    assert node.attrs["value"] == {"deep": [1]}
    # Equal documents are parsed once; a second node must not share changes.
    assert zarr.open(node.store).attrs["value"] == {"deep": [1]}


def test_handles_of_one_node_keep_what_the_other_wrote(node):
    other = zarr.open(node.store)
    node.attrs["a"] = 1
    other.attrs["b"] = 2
    assert stored(node) == {"first": 1, "a": 1, "b": 2}
    assert "b" not in node.attrs
    del node.attrs["b"], other.attrs["first"]
    assert stored(node) == {"a": 1}
    node.attrs.refresh()
    assert node.attrs == {"a": 1}
    with pytest.raises(KeyError):
        del other.attrs["nothing"]


@pytest.mark.parametrize("handles", ["one", "many"])
@pytest.mark.parametrize("place", ["memory", "directory"])
def test_concurrent_writers_lose_nothing(handles, place, tmp_path):
    store = zarr.MemoryStore() if place == "memory" else zarr.LocalStore(tmp_path / "a")
    shared = zarr.create_array(store, shape=3, dtype="int8")

    def write(worker):
        node = shared if handles == "one" else zarr.open(store)
        for number in range(10):
            node.attrs[f"{worker}-{number}"] = number

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(6)))
    assert len(stored(shared)) == 60
    if handles == "one":  # the object shows the stored attributes, whoever wrote them
        assert shared.attrs == stored(shared)


def test_a_reader_never_sees_half_a_change(node):
    stop = threading.Event()

    def read():
        while not stop.is_set():
            both = node.attrs.asdict()
            assert both.get("a") == both.get("b")

    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(read)
        for number in range(100):
            node.attrs.update(a=number, b=number)
        stop.set()
        reader.result()


def test_reading_only(node):
    read_only = zarr.open(node.store, "r")
    for change in (
        lambda: read_only.attrs.update(a=1),
        lambda: read_only.attrs.put({}),
        lambda: read_only.attrs.__delitem__("first"),
    ):
        with pytest.raises(StoreReadOnlyError, match=r'open it with mode="r\+"'):
            change()
    frozen = zarr.open(zarr.MemoryStore(dict(node.store._mapping), read_only=True))
    with pytest.raises(StoreReadOnlyError, match="the store is open for reading only"):
        frozen.attrs["a"] = 1
    assert stored(node) == {"first": 1}


def test_a_node_that_is_gone_or_has_become_another(node):
    other = zarr.open(node.store)
    if isinstance(node, zarr.Array):
        zarr.create_group(node.store, overwrite=True)
    else:
        zarr.create_array(node.store, shape=2, overwrite=True)
    for use in (lambda: other.attrs.update(a=1), other.refresh):
        with pytest.raises(NodeTypeError, match="other type"):
            use()
    node.store.erase("zarr.json")
    for use in (lambda: other.attrs.update(a=1), other.refresh):
        with pytest.raises(NodeNotFoundError, match="has been removed"):
            use()
    assert other.attrs == {"first": 1}


DOCUMENT = {
    "acme": {"must_understand": False, "anything": [1.0, 12345678901234567890]},
    "node_type": "array",
    "zarr_format": 3,
    "shape": [4],
    "codecs": ["bytes"],
    "data_type": "uint8",
    "chunk_grid": {"configuration": {"chunk_shape": [2]}, "name": "regular"},
    "chunk_key_encoding": {"name": "default"},
    "fill_value": 0,
    "storage_transformers": [],
    "attributes": {"z": 1, "a": {"b": 2}},
    "dimension_names": [None],
}


@pytest.mark.parametrize(
    "document",
    [
        DOCUMENT,
        {"node_type": "group", "acme": {"must_understand": False}, "zarr_format": 3,
         "attributes": {"z": 1, "a": {"b": 2}}},
    ],
    ids=["array", "group"],
)  # fmt: skip
def test_changing_one_attribute_changes_one_attribute(document):
    store = zarr.MemoryStore({"zarr.json": json.dumps(document).encode()})
    zarr.open(store).attrs["a"] = 5
    after = json.loads(bytes(store.get("zarr.json")))
    assert json.dumps(after) == json.dumps({**document, "attributes": {"z": 1, "a": 5}}), (
        "members, their order and their spelling stay"
    )
    if document is DOCUMENT:
        zarr.open(store).resize(9)
        after = json.loads(bytes(store.get("zarr.json")))
        assert json.dumps(after) == json.dumps(
            {**document, "shape": [9], "attributes": {"z": 1, "a": 5}}
        )


@pytest.mark.parametrize(
    "change",
    [
        lambda attrs: attrs["list"].append(1),
        lambda attrs: attrs["list"].__setitem__(0, 2),
        lambda attrs: attrs["list"][1]["x"].extend([1]),
        lambda attrs: attrs["list"].__iadd__([1]),
        lambda attrs: attrs.get("object").update(y=1),
        lambda attrs: attrs["object"].setdefault("y", []).append(1),
        lambda attrs: attrs["object"].pop("x"),
        lambda attrs: next(iter(attrs.values())).sort(),
        lambda attrs: dict(attrs)["object"].__delitem__("x"),
    ],
)
@pytest.mark.parametrize("kind", ["array", "group"])
def test_changes_in_place_are_rejected_instead_of_forgotten(change, kind):
    attributes = {"list": [0.5, {"x": [1]}], "object": {"x": {}}}
    node = (
        zarr.create_group({}, attributes=attributes)
        if kind == "group"
        else zarr.create_array(shape=2, dtype="bool", attributes=attributes)
    )
    with pytest.raises(TypeError, match="Change a copy and assign it"):
        change(node.attrs)
    assert node.attrs.asdict() == attributes


@pytest.mark.parametrize(
    "copied",
    [
        copy.copy,
        copy.deepcopy,
        lambda value: pickle.loads(pickle.dumps(value)),
        lambda value: value[:],
    ],
)
def test_values_of_attributes_are_lists_and_dictionaries_and_copies_are_ordinary(copied):
    group = zarr.create_group({}, attributes={"list": [1, {"x": [None, 2.5]}]})
    value = group.attrs["list"]
    assert value == [1, {"x": [None, 2.5]}]
    assert isinstance(value, list)
    assert isinstance(value[1], dict)
    assert json.dumps(value) == '[1, {"x": [null, 2.5]}]'
    changed = copied(value)
    changed.append(3)
    group.attrs["list"] = changed
    group.attrs["same"] = value
    assert group.attrs.asdict() == {"list": [*value, 3], "same": value}


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_no_part_of_metadata_can_be_changed_in_place(zarr_format):
    root = zarr.create_group(attributes={"n": [{"x": [1]}]}, zarr_format=zarr_format)
    root.create_array("a", shape=(4, 6), chunks=(2, 3), attributes=root.attrs)
    if zarr_format == 3:
        update_additional_fields(root["a"], {"note": {"must_understand": False, "by": ["me"]}})
    for node in (root, root["a"]):
        metadata = node.metadata
        document = strictjson.encode(metadata.to_json())
        with pytest.raises(TypeError, match=r"; array.attrs\['name'\] = value"):
            metadata.attributes["n"] = 2
        with pytest.raises(TypeError, match="within attributes"):
            metadata.attributes["n"].append(3)
        change_everything(metadata.to_json().values())
        change_everything([{**metadata.attributes}, *node.attrs.values(), metadata.attributes])
        change_everything([metadata.additional_fields, dict(metadata.additional_fields)])
        if zarr_format == 3 or node is not root:
            change_everything([metadata.document])
        definitions = [] if node is root else [metadata.chunk_grid, *metadata.codecs]
        change_everything(definition.configuration for definition in definitions)
        assert strictjson.encode(zarr.open(node).metadata.to_json()) == document


def change_everything(values):
    """Try to change the lists and dictionaries within values, but not these themselves."""
    for value in values:
        if isinstance(value, dict | list):
            for key in [*value] if isinstance(value, dict) else range(len(value)):
                change_everything([value[key]])
                with contextlib.suppress(TypeError):
                    value[key] = "changed"
