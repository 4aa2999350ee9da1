"""What arrays and groups of every format but version 3 do."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import MetadataError, NodeExistsError, NodeNameError, NodeNotFoundError
from zarr_core.extension import ExtensionDefinition, GroupMetadata, MetadataValidationError
from zarr_core.registry.resolve import format_named

WITH_GROUPS = ("v2", "draft", "draft-2021", "n5")
FORMATS = ("v1", *WITH_GROUPS)
VALUES = np.arange(35, dtype="i2").reshape(7, 5)

every_format = pytest.mark.parametrize("name", FORMATS)
every_format_with_groups = pytest.mark.parametrize("name", WITH_GROUPS)


@pytest.fixture(params=["memory", "local"])
def store(request, tmp_path):
    if request.param == "memory":
        return zarr.MemoryStore()
    return zarr.LocalStore(tmp_path / "store")


def make(store, name, path="a/b", **options):
    options = {"data": VALUES, "chunks": (3, 2), **options}
    return zarr.create_array(store, path=path, zarr_format=name, **options)


def contents(store):
    return {key: bytes(store.get(key)) for key in store.list()}


@every_format
def test_changes_of_an_array_are_stored(store, name):
    array = make(store, name, attributes={"unit": "m"})
    array.resize(4, 9)
    array.append(np.full((1, 9), 7, "i2"))
    array.attrs["more"] = [1]
    del array.attrs["unit"]
    expected = np.zeros((5, 9), "i2")
    expected[:4, :5] = VALUES[:4]
    expected[4] = 7
    again = zarr.open(store, path="a/b")
    assert again.stored.format.name == name
    assert np.array_equal(again[...], expected)
    assert dict(again.attrs) == {"more": [1]}


@every_format
def test_arrays_and_groups_pickle(tmp_path, name):
    make(tmp_path, name, attributes={"x": 1})
    array = pickle.loads(pickle.dumps(zarr.open(tmp_path, path="a/b")))
    assert np.array_equal(array[...], VALUES)
    array.attrs["y"] = 2
    again = zarr.open(tmp_path, path="a/b")
    if name in WITH_GROUPS:
        again = pickle.loads(pickle.dumps(zarr.open(tmp_path, path="a")))["b"]
    assert dict(again.attrs) == {"x": 1, "y": 2}


def test_an_array_of_version_1_is_copied(store):
    copy = zarr.copy(make(store, "v1", attributes={"x": 1}), zarr.MemoryStore(), "b")
    assert np.array_equal(copy[...], VALUES)
    assert dict(copy.attrs) == {"x": 1}


@every_format_with_groups
def test_members_are_copied_moved_removed(store, name):
    root = zarr.create_group(store, zarr_format=name)
    root.create_group("empty")
    root.create_array("a/b", data=VALUES, chunks=(3, 2), attributes={"x": 1})
    root.move("a", "c/d")
    assert [path for path, _ in root.members(max_depth=None)] == ["c", "c/d", "c/d/b", "empty"]
    assert np.array_equal(root["c/d/b"][...], VALUES)
    zarr.copy(root["c/d/b"], root, "copy")
    other = zarr.MemoryStore()
    zarr.copy(root["c"], other)
    copied = zarr.open(other)
    assert copied.stored.format.name == name
    assert np.array_equal(copied["d/b"][...], VALUES)
    del root["c"]
    assert list(root) == ["copy", "empty"]
    assert dict(root["copy"].attrs) == {"x": 1}
    del root["empty"]
    assert list(root) == ["copy"]


@every_format
def test_existing_nodes_are_replaced_only_with_overwrite(store, name):
    make(store, name, attributes={"x": 1})
    for path in ("a/b", "a/b/c", "a/b/0"):
        with pytest.raises(NodeExistsError):
            make(store, name, path)
    make(store, name, data=VALUES[:2], overwrite=True)
    assert np.array_equal(zarr.open(store, path="a/b")[...], VALUES[:2])
    new = zarr.MemoryStore()
    make(new, name, data=VALUES[:2])
    assert contents(store) == contents(new)


@every_format
def test_concurrent_changes_lose_nothing(store, name):
    make(store, name, data=np.zeros((1, 5), "i2"), chunks=(1, 5))

    def change(number):
        array = zarr.open(store, path="a/b")
        array.attrs[f"a{number}"] = number
        array.append(np.full((1, 5), number, "i2"))
        if name in WITH_GROUPS:
            zarr.open(store, path="a").attrs[f"g{number}"] = number

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(change, range(8)))
    array = zarr.open(store, path="a/b")
    assert len(array.attrs) == 8
    assert sorted(array[1:, 0].tolist()) == list(range(8))
    assert name not in WITH_GROUPS or len(zarr.open(store, path="a").attrs) == 8


@every_format
def test_a_rejected_change_changes_nothing(store, name):
    array = make(store, name)
    before = contents(store)
    with pytest.raises(MetadataValidationError):
        array.attrs["a"] = object()
    with pytest.raises(RuntimeError):
        array.stored.format.update(store, "a/b", lambda _: (_ for _ in ()).throw(RuntimeError))
    assert contents(store) == before


@every_format
def test_change_of_a_removed_node_raises(store, name):
    nodes = [make(store, name)]
    if name in WITH_GROUPS:
        nodes += [zarr.open(store, path="a"), zarr.create_group(store, path="g")]
        root = zarr.open(store)
        del root["a"], root["g"]
        assert list(root) == []
    else:
        zarr.remove(nodes[0])
    for gone in ("zarr.json", "no other document"):  # the entry point of the drafts
        before = contents(store)
        for node in nodes:
            with pytest.raises(NodeNotFoundError, match="has been removed"):
                node.attrs["x"] = 1
        assert contents(store) == before
        store.erase(gone)


@every_format
def test_a_damaged_document_is_named_and_can_be_replaced(store, name):
    array = make(store, name)
    key = next(key for key in array.stored.format.documents("a/b") if store.exists(key))
    store.set(key, bytes(store.get(key))[:-2])
    with pytest.raises(MetadataError, match=key):
        zarr.open(store, path="a/b")
    assert np.array_equal(make(store, name, overwrite=True)[...], VALUES)


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("v2", [".zarray", ".zgroup", ".zattrs", ".zmetadata", "zarr.json"]),
        ("n5", ["attributes.json", "zarr.json", ".zarray", ".zgroup"]),
    ],
)
def test_names_of_documents_are_rejected(tmp_path, name, keys):
    # In a file system, a directory with that name would hide the document of the group.
    group = zarr.create_group(tmp_path, zarr_format=name)
    group.create_array("a", shape=2)
    for key in keys:
        for change in (
            lambda key=key: group.create_group(f"foo/{key}"),
            lambda key=key: group.create_array(key, shape=2),
            lambda key=key: group.move("a", key),
            lambda key=key: zarr.copy(group["a"], group, key),
        ):
            with pytest.raises(NodeNameError, match=f"'{key}' is the key of metadata documents"):
                change()
    assert [*zarr.open_group(tmp_path)] == ["a"]


# --- metadata that a format cannot represent ---

TRANSPOSE = {"name": "transpose", "configuration": {"order": [1, 0, 2]}}
OPTIONS = {
    "v1": [
        ({"shape": (), "chunks": ()}, "/shape"),
        ({"compressors": "gzip"}, "/codecs/1"),
        ({"compressors": "zstd"}, "/codecs/1"),
        ({"compressors": {"name": "blosc", "configuration": {"cname": "zstd"}}}, "/codecs/1"),
        ({"compressors": None, "order": "F"}, "/codecs/0"),
        ({"filters": {"name": "numcodecs.delta", "configuration": {"dtype": "<i4"}}}, "/codecs"),
        ({"dtype": "M8[s]"}, "/codecs/1"),
        ({"dtype": [("t", "m8[h]"), ("b", "i2")], "fill_value": None}, "/codecs/1"),
        ({"dtype": [("in", [("t", "M8[D]")])], "fill_value": None}, "/codecs/1"),
        ({"chunk_key_encoding": "default"}, "/chunk_key_encoding"),
        ({"chunk_key_encoding": {"name": "v2", "separator": "/"}}, "/chunk_key_encoding"),
        ({"dimension_names": ["y", "x"]}, "/dimension_names"),
        ({"dtype": "c8", "fill_value": 1j}, "/fill_value"),
        ({"dtype": "S3", "fill_value": b"\xff"}, "/fill_value"),
        ({"dtype": "f8", "fill_value": "0x7ff8000000000001"}, "/fill_value"),
        ({"dtype": [("a", "i4"), ("b", "i4")], "fill_value": (1, 2)}, "/fill_value"),
    ],
    "v2": [
        ({"shards": (4, 4)}, "/codecs/0"),
        ({"dimension_names": ("x", "y")}, "/dimension_names"),
        ({"chunk_key_encoding": {"name": "default", "separator": "/"}}, "/chunk_key_encoding"),
        ({"metadata": {"storage_transformers": [{"name": "acme"}]}}, "/storage_transformers"),
        (
            {"filters": [TRANSPOSE], "shape": (4, 4, 4), "chunks": (2, 2, 2)},
            "/codecs/0/configuration/order",
        ),
    ],
    "n5": [
        ({"fill_value": 1}, "/fill_value"),
        ({"dtype": "f4", "fill_value": -0.0}, "/fill_value"),
        ({"dtype": "bool"}, "/data_type"),
        ({"dtype": "complex64"}, "/data_type"),
        ({"dtype": "r16"}, "/data_type"),
        ({"order": "F"}, "/codecs/0"),
        ({"compressors": ["gzip", "crc32c"]}, "/codecs/2"),
        ({"compressors": ["crc32c"]}, "/codecs/1"),
        ({"shards": (4, 4)}, "/codecs/0"),
        ({"chunk_key_encoding": "v2"}, "/chunk_key_encoding"),
        ({"attributes": {"dimensions": [1]}}, "/attributes/dimensions"),
        ({"attributes": {"n5": "5.0.0"}}, "/attributes/n5"),
        ({"chunks": (2**31, 1), "shape": (2**32, 1)}, "/chunk_grid/configuration/chunk_shape"),
        (
            {"chunks": (2**15, 2**15), "dtype": "f8", "shape": (2**16, 2**16)},
            "/chunk_grid/configuration/chunk_shape",
        ),
        (
            {"dtype": "bool", "fill_value": True, "compressors": "crc32c"},
            "/data_type /fill_value /codecs/1",
        ),
    ],
    "draft": [
        ({"dimension_names": ["y", "x"]}, "/dimension_names"),
        ({"compressors": [{"name": "zstd", "configuration": {"level": 1}}]}, "/codecs/1"),
        ({"chunk_key_encoding": "v2"}, "/chunk_key_encoding"),
        ({"dtype": "M8[25s]"}, "/data_type"),
        ({"dtype": "string"}, "/data_type /codecs/0"),
        (
            {"shards": {"shape": (4, 4), "index_location": "start"}},
            "/codecs/0/configuration/index_location",
        ),
        ({"filters": [{"name": "transpose", "configuration": {"order": [0, 1]}}]}, "/codecs/0"),
    ],
    "draft-2021": [
        ({"dimension_names": ["y", "x"]}, "/dimension_names"),
        ({"chunk_key_encoding": "v2"}, "/chunk_key_encoding"),
        ({"dtype": "M8[25s]"}, "/data_type/configuration/scale_factor"),
    ],
}


def rows(table):
    return [
        pytest.param(name, *row, id=f"{name}-{row[0]}") for name in table for row in table[name]
    ]


@pytest.mark.parametrize(("name", "options", "pointers"), rows(OPTIONS))
def test_options_that_a_format_does_not_support(name, options, pointers):
    options = {"shape": (4, 4), "chunks": (2, 2), "dtype": "i4", **options}
    store = zarr.MemoryStore()
    with pytest.raises(MetadataValidationError) as caught:
        zarr.create_array(store, zarr_format=name, **options)
    assert {problem.pointer for problem in caught.value.problems} == set(pointers.split())
    assert list(store.list()) == []


def definition(name, **configuration):
    return ExtensionDefinition(name, configuration)


SUBARRAY = {"name": "v2.subarray", "configuration": {"data_type": "int8", "shape": [2]}}
CHANGES = {
    "v1": [
        ({"chunk_grid": definition("rectilinear")}, "/chunk_grid"),
        ({"data_type": definition("bfloat16")}, "/data_type"),
        ({"storage_transformers": (definition("x"),)}, "/storage_transformers"),
        ({"additional_fields": {"x": 1}}, "/x"),
    ],
    "v2": [
        ({"chunk_memory_layout": definition("acme")}, "/chunk_memory_layout"),
        ({"data_type_fallbacks": (definition("int8"),)}, "/data_type/fallback"),
        ({"additional_fields": {"foo": {"must_understand": False}}}, "/foo"),
        ({"chunk_grid": definition("rectilinear")}, "/chunk_grid"),
        ({"data_type": definition("bfloat16")}, "/data_type"),
        ({"data_type": definition("float32"), "fill_value": "0x7fc00001"}, "/fill_value"),
        (
            {
                "dimension_names": ("x", "y"),
                "chunk_grid": definition("rectilinear"),
                "codecs": (definition("sharding_indexed"),),
            },
            "/dimension_names /chunk_grid /codecs/0",
        ),
    ],
    "n5": [
        ({"chunk_grid": definition("rectilinear")}, "/chunk_grid"),
        ({"fill_value": "x"}, "/fill_value"),
        ({"codecs": ()}, "/codecs/0"),
        ({"codecs": (definition("n5.block"), definition("gzip"))}, "/codecs/1"),
        (
            {"codecs": (definition("n5.block", codecs=["bytes", "crc32c"]),)},
            "/codecs/0/configuration/codecs/1",
        ),
        ({"storage_transformers": (definition("x"),)}, "/storage_transformers"),
        ({"data_type_fallbacks": (definition("x"),)}, "/data_type/fallback"),
        ({"chunk_memory_layout": definition("x")}, "/chunk_memory_layout"),
        ({"additional_fields": {"extra": {}}}, "/extra"),
    ],
    "draft": [
        ({"data_type": definition("acme.q")}, "/data_type"),
        (
            {
                "data_type": definition("struct", fields=[{"name": "a", "data_type": SUBARRAY}]),
                "fill_value_undefined": True,
            },
            "/data_type",
        ),
        ({"chunk_grid": definition("rectilinear")}, "/chunk_grid"),
        ({"chunk_memory_layout": definition("z")}, "/chunk_memory_layout"),
        (
            {
                "chunk_memory_layout": definition("urn:z"),
                "codecs": (definition("transpose", order=[1, 0]), definition("bytes")),
            },
            "/codecs/0",
        ),
        ({"storage_transformers": (definition("z"),)}, "/storage_transformers/0"),
        ({"additional_fields": {"colour": {"must_understand": False}}}, "/colour"),
        ({"chunk_key_encoding": definition("n5")}, "/chunk_key_encoding"),
        ({"fill_value_undefined": True}, "/fill_value"),
    ],
    "draft-2021": [
        ({"chunk_memory_layout": definition("urn:z", type="z")}, "/chunk_memory_layout"),
    ],
}


@pytest.mark.parametrize(("name", "changes", "pointers"), rows(CHANGES))
def test_metadata_that_a_format_cannot_represent(name, changes, pointers):
    array = make(zarr.MemoryStore(), name, compressors=None if name == "draft" else "auto")
    with pytest.raises(MetadataValidationError) as caught:
        format_named(name).to_json(array.metadata.replace(document=None, **changes))
    assert {problem.pointer for problem in caught.value.problems} == set(pointers.split())


@pytest.mark.parametrize(
    ("name", "message"),
    [("v1", "does not support groups"), ("v2", "/urn:x"), ("n5", "/urn:x"),
     ("draft", "does not support extensions"), ("draft-2021", "does not support extensions")],
)  # fmt: skip
def test_groups_with_additional_fields_are_rejected(name, message):
    group = GroupMetadata(additional_fields={"urn:x": {"must_understand": False}})
    with pytest.raises(MetadataError, match=message):
        format_named(name).to_json(group)
