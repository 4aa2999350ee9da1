"""Storage and changes of the metadata documents of version 2."""

import json

import pytest
import zarr_core as zarr
from counting_store import CountingStore
from v2_documents import array, stored
from zarr_core.errors import (
    MetadataDecodeError,
    MetadataValidationError,
    NodeExistsError,
    NodeNameError,
)
from zarr_core.extension import ArrayMetadata, GroupMetadata, Location
from zarr_formats.v2.format import V2

GROUP = stored({"zarr_format": 2})
FORMAT = V2()


def memory(values):
    return zarr.MemoryStore(values)


def document(store, key):
    return json.loads(bytes(store.get(key)))


# --- reading ---


def test_an_array_is_preferred_to_a_group():
    store = memory({".zgroup": GROUP, ".zarray": stored(array())})
    assert isinstance(FORMAT.read(store, ""), ArrayMetadata)


def test_the_same_documents_give_the_same_object():
    values = {".zarray": stored(array()), ".zattrs": b"{}"}
    first = FORMAT.read(memory(values), "")
    assert FORMAT.read(memory(values), "") is first
    assert FORMAT.read(memory(values | {".zattrs": b'{"a": 1}'}), "") is not first
    group = {".zgroup": GROUP, ".zattrs": b"{}"}
    assert FORMAT.read(memory(group), "") is FORMAT.read(memory(group), "")


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"a/.zarray": b"{"}, MetadataDecodeError, "'a/.zarray'"),
        ({"a/.zarray": b"null"}, MetadataValidationError, "'a/.zarray'"),
        ({"a/.zarray": b'{"order": 1, "order": 2}'}, MetadataDecodeError, "is repeated"),
        (
            {"a/.zarray": stored(array(order="X"))},
            MetadataValidationError,
            "'a/.zarray'(?s:.)*/order",
        ),
        (
            {"a/.zarray": stored(array()), "a/.zattrs": b"[]"},
            MetadataValidationError,
            "'a/.zattrs'",
        ),
        (
            {"a/.zarray": stored(array()), "a/.zattrs": b"null"},
            MetadataValidationError,
            "'a/.zattrs'",
        ),
        ({"a/.zgroup": b"null"}, MetadataValidationError, "'a/.zgroup'"),
        ({"a/.zgroup": GROUP, "a/.zattrs": b"5"}, MetadataValidationError, "'a/.zattrs'"),
        ({"a/.zgroup": GROUP, "a/.zmetadata": b"{}"}, MetadataValidationError, "'a/.zmetadata'"),
    ],
)
def test_damaged_documents_are_named(values, error, message):
    with pytest.raises(error, match=message):
        FORMAT.read(memory(values), "a")


def test_from_json_takes_what_to_json_gives():
    for values in (
        {".zarray": stored(array()), ".zattrs": b'{"a": 1}'},
        {".zgroup": GROUP, ".zmetadata": stored({"zarr_consolidated_format": 1, "metadata": {}})},
    ):
        found = FORMAT.read(memory(values), "")
        assert FORMAT.from_json(FORMAT.to_json(found), Location("here")) == found
    for wrong in (None, {}, {".zattrs": {}}):
        with pytest.raises(MetadataValidationError):
            FORMAT.from_json(wrong, Location("here"))


# --- nested chunks without dimension_separator ---

CHUNKS = {
    "periods": ({"0.0"}, "."),
    "periods, the first is missing": ({"1.1"}, "."),
    "within each other": ({"0/0", "0/1"}, "/"),
    "within each other, the first is missing": ({"2/1"}, "/"),
    "both": ({"1.0", "0/0"}, "."),
    "none": (set(), "."),
    "other folders": ({"x/0"}, "."),
}


@pytest.mark.parametrize("name", CHUNKS)
def test_the_separator_is_found_by_the_chunks(name):
    keys, separator = CHUNKS[name]
    values = {f"a/{key}": bytes(24) for key in keys} | {"a/.zarray": stored(array())}
    found = FORMAT.read(memory(values), "a")
    assert found.chunk_key_encoding.configuration == {"separator": separator}


def test_the_separator_that_is_given_counts():
    for separator, key in (("/", "0.0"), (".", "0/0")):
        values = {".zarray": stored(array(dimension_separator=separator)), key: bytes(24)}
        found = FORMAT.read(memory(values), "")
        assert found.chunk_key_encoding.configuration == {"separator": separator}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({".zarray": stored(array()), "0.0": b""}, 0),
        ({".zarray": stored(array()), "1.0": b""}, 1),
        ({".zarray": stored(array(dimension_separator=".")), "1.0": b""}, 0),
        ({".zarray": stored(array(shape=[4], chunks=[2]))}, 0),
    ],
)
def test_one_listing_at_most(values, expected):
    store = CountingStore(memory(values))
    FORMAT.read(store, "")
    assert store.count("list_dir") == expected


def test_nested_chunks_are_read_written_and_survive_a_pickle(tmp_path):
    import pickle

    place = tmp_path / "old.zarr"
    (place / "0").mkdir(parents=True)
    (place / ".zarray").write_bytes(stored(array()))
    (place / "0" / "0").write_bytes(bytes([1, 0, 0, 0] * 6))
    old = zarr.open(place)
    assert old[0, 0] == 1
    old[2, 3] = 5
    assert (place / "1" / "1").is_file()
    old.attrs["a"] = 1
    assert "dimension_separator" not in json.loads((place / ".zarray").read_text())
    assert pickle.loads(pickle.dumps(old))[2, 3] == 5
    # The separator is added when the document is changed.
    old.resize((8, 4))
    assert json.loads((place / ".zarray").read_text())["dimension_separator"] == "/"
    assert zarr.open(place)[2, 3] == 5


# --- changing ---


class RecordingStore(zarr.MemoryStore):
    """Records the keys that are set."""

    def __init__(self, values):
        super().__init__(values)
        self.changes = []

    def set(self, key, value):
        self.changes.append(key)
        super().set(key, value)


@pytest.fixture
def written():
    return RecordingStore({"a/.zarray": stored(array(foo=1)), "a/0.0": bytes(24)})


def test_only_what_changes_is_written(written):
    node = zarr.open(written, path="a")
    node.attrs["x"] = 1
    assert written.changes == ["a/.zattrs"]
    node.attrs["x"] = 1
    assert written.changes == ["a/.zattrs"]
    node.resize((8, 4))
    assert written.changes == ["a/.zattrs", "a/.zarray"]
    assert document(written, "a/.zarray") == array(foo=1, shape=[8, 4])
    node.attrs.clear()
    assert document(written, "a/.zattrs") == {}


def test_tokens_that_are_not_json_survive_a_change(written):
    written.set("a/.zattrs", b'{"a": [NaN, -Infinity]}')
    zarr.open(written, path="a").attrs["b"] = 1
    assert "NaN" in bytes(written.get("a/.zattrs")).decode()
    assert zarr.open(written, path="a").attrs["a"][1] == float("-inf")


def test_writing_over_all():
    store = memory({".zgroup": GROUP, ".zattrs": b'{"a": 1}', ".zmetadata": b"{}"})
    FORMAT.write(store, "", GroupMetadata())
    assert sorted(store.list()) == [".zgroup"]


# --- creating ---


def test_making_excludes_both_kinds():
    array_ = FORMAT.read(memory({".zarray": stored(array())}), "").replace(attributes={"a": 1})
    for first, other in ((array_, GroupMetadata()), (GroupMetadata(), array_)):
        store = memory({"x/.zattrs": b'{"left": "over"}'})
        assert FORMAT.create(store, "x", first)
        before = {key: bytes(store.get(key)) for key in store.list()}
        assert not FORMAT.create(store, "x", other)
        assert not FORMAT.create(store, "x", first)
        assert before == {key: bytes(store.get(key)) for key in store.list()}
        # Documents left by an interrupted removal do not become part of the new node.
        assert FORMAT.read(store, "x").attributes == first.attributes


def test_keys_are_ascii():
    with pytest.raises(NodeNameError, match="ASCII"):
        zarr.create_group(zarr.MemoryStore(), path="\u03a9", zarr_format=2)
    # Other writers have created some.
    store = memory({".zgroup": GROUP, "\u03a9/.zgroup": GROUP})
    assert list(zarr.open_group(store)) == ["\u03a9"]


# --- below a group ---


def test_a_damaged_document_is_listed():
    store = memory({".zgroup": GROUP, "a/.zarray": b"{"})
    assert list(FORMAT.child_names(store, "")) == ["a"]


# --- removing ---


@pytest.mark.parametrize("version", [2, 3])
def test_unmanaged_keys_are_not_overwritten(version):
    for key in ("x/.zarray.txt", "x/0.0", "y/0.x", "y/notes", "y/0/.x"):
        store = memory({"y/.zarray": stored(array()), "y/0.0": bytes(24), key: b""})
        with pytest.raises(NodeExistsError, match="not part of a Zarr node"):
            zarr.create_group(store, zarr_format=version, overwrite=True)


@pytest.mark.parametrize("version", [2, 3])
def test_files_of_file_managers_do_not_prevent_overwriting(version):
    for name in (".DS_Store", "Thumbs.db", "desktop.ini"):
        store = memory(
            {"y/.zarray": stored(array()), name: b"", f"y/{name}": b"", f"z/{name}": b""}
        )
        zarr.create_group(store, zarr_format=version, overwrite=True)
        assert not [key for key in store.list() if key.endswith(name)]


# --- number of requests ---


def asked_for(store, work):
    store.calls.clear()
    work()
    return [(call.method, call.key) for call in store.calls]


@pytest.mark.parametrize("requests", [None, 8])
def test_no_document_is_asked_for_twice(requests):
    store = CountingStore(zarr.MemoryStore())
    store.max_concurrency = requests
    group = zarr.create_group(store, zarr_format=2, attributes={"a": 1})
    group.create_array("b", shape=2, attributes={"c": 2})
    of_root = {".zarray", ".zgroup", ".zattrs", ".zmetadata"}
    assert {*asked_for(store, lambda: FORMAT.read(store, ""))} == {("get", key) for key in of_root}
    assert len(store.calls) == 4
    of_array = asked_for(store, lambda: FORMAT.read(store, "b"))
    assert sorted(of_array) == [("get", "b/.zarray"), ("get", "b/.zattrs")]
    assert FORMAT.read(store, "").attributes == {"a": 1}
    assert FORMAT.read(store, "b").attributes == {"c": 2}
    assert FORMAT.read(store, "d") is None


def test_a_new_node_is_written_without_asking():
    source = zarr.create_array(shape=3, dtype="i2", zarr_format=2, attributes={"a": 1})
    store = CountingStore(zarr.MemoryStore())
    written = asked_for(store, lambda: FORMAT.write(store, "x", source.metadata))
    assert written == [("set", "x/.zattrs"), ("set", "x/.zarray")]  # .zarray last
    assert FORMAT.read(store, "x") == source.metadata
