"""The entry point ``zarr.json`` of both drafts."""

import ast
import json

import numpy as np
import pytest
import zarr_core as zarr
from draft_stores import ARRAY, DIALECT, EXTENSION, TEXT, array_store, open_a, store_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from zarr_core.errors import (
    MetadataError,
    MetadataValidationError,
    UnknownExtensionError,
)
from zarr_core.extension import MetadataExtension, ValidationProblem
from zarr_formats.draft.entry_point import new_entry_point
from zarr_formats.draft.metadata_encoding import MetadataEncoding

FORMATS = {"draft": TEXT, "draft-2021": DIALECT}


@pytest.mark.parametrize("name", FORMATS)
def test_a_new_hierarchy_has_an_entry_point(name):
    store = store_of({}, None)
    zarr.create_group(store, zarr_format=name)
    assert json.loads(bytes(store.get("zarr.json"))) == FORMATS[name]


def test_the_metadata_key_suffix_is_used():
    store = store_of({"meta/a.array.zarr-meta": ARRAY, "meta/b.array.json": ARRAY}, None)
    store.set("zarr.json", new_entry_point(metadata_key_suffix=".zarr-meta"))
    group = zarr.open_group(store)
    assert sorted(group) == ["a"]
    group.create_array("c/d", shape=2, dtype="i1")
    assert store.get("meta/c/d.array.zarr-meta")
    del group["a"]
    assert sorted(group) == ["c"]
    assert store.get("meta/b.array.json"), "it belongs to nobody here"


def test_the_suffix_of_the_draft_is_used():
    store = store_of({"meta/root/a.array": {**ARRAY, "data_type": "<i4"}}, None)
    store.set("zarr.json", json.dumps({**DIALECT, "metadata_key_suffix": ""}).encode())
    assert sorted(zarr.open_group(store)) == ["a"]


def test_a_copy_has_the_suffix_of_its_new_hierarchy():
    encoding = {"type": "json", "metadata_key_suffix": ".x"}
    source = store_of(
        {"meta/g.group.x": {"attributes": {}}, "meta/g/a.array.x": ARRAY},
        {**TEXT, "metadata_encoding": encoding},
    )
    target = store_of({}, TEXT)
    zarr.copy(zarr.open(source, path="g"), target, "h")
    assert sorted(target.list()) == ["meta/h.group.json", "meta/h/a.array.json", "zarr.json"]


@pytest.mark.parametrize("suffix", ["/x", "..\\", "ä", 1, None])
def test_suffixes_that_cannot_be_part_of_a_key(suffix):
    encoding = {"type": "json", "metadata_key_suffix": suffix}
    with pytest.raises(MetadataValidationError, match="/metadata_encoding"):
        open_a(array_store({**TEXT, "metadata_encoding": encoding}))
    with pytest.raises(MetadataValidationError, match="/metadata_encoding"):
        new_entry_point(metadata_key_suffix=suffix)


class Python(MetadataEncoding):
    """Documents as Python literals, in the lines that the configuration asks for."""

    def __init__(self, prefix):
        self.prefix = prefix

    @classmethod
    def from_definition(cls, definition):
        return cls(definition.configuration["type"])

    def encode(self, document):
        return f"{self.prefix}\n{document!r}".encode()

    def decode(self, data):
        prefix, _, text = data.decode().partition("\n")
        if prefix != self.prefix:
            raise ValueError(f"begins with {prefix!r:.20}")
        return ast.literal_eval(text)


ENCODING = {"extension": EXTENSION, "type": "python"}


def python_store(name):
    entry = new_entry_point(name, metadata_key_suffix=".py", metadata_encoding=ENCODING)
    return zarr.MemoryStore({"zarr.json": entry})


class PythonOf2021(Python):
    @classmethod
    def from_definition(cls, definition):
        assert definition.configuration == {"metadata_key_suffix": ".py"}
        return cls("python")


@pytest.mark.parametrize("name", FORMATS)
@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(attributes=st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3)))
def test_another_metadata_encoding_is_an_extension(name, attributes):
    store = python_store(name)
    kind = Python if name == "draft" else PythonOf2021
    with zarr.override_extensions({"extension": {EXTENSION: kind}}):
        group = zarr.open_group(store, "r+")
        array = group.create_array("g/a", data=np.arange(6), chunks=4, attributes=attributes)
        array.append(np.arange(6, 8))
        found = zarr.open(store, path="g/a")
        assert found[...].tolist() == [*range(8)]
        assert dict(found.attrs) == attributes
        assert [path for path, _ in group.members(max_depth=None)] == ["g", "g/a"]
        copied = zarr.copy(group, zarr.MemoryStore())
        assert copied["g/a"][...].tolist() == [*range(8)]
    (document,) = (key for key in store.list() if key.endswith("a.array.py"))
    prefix, text = bytes(store.get(document)).decode().split("\n", 1)
    assert prefix == "python"
    assert ast.literal_eval(text)["shape"] == [8]
    assert json.loads(bytes(store.get("zarr.json")))["metadata_encoding"] == (
        {**ENCODING, "metadata_key_suffix": ".py"} if name == "draft" else EXTENSION
    )
    with pytest.raises(UnknownExtensionError, match=EXTENSION):
        zarr.open(store, path="g/a")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"other\n{}", "cannot be decoded by Python: begins with 'other'"),
        (b"python\n{'shape': {1, 2}}", "shape"),
        (b"python\n[]", "a.array.py"),
    ],
)
def test_documents_that_cannot_be_decoded_are_invalid(data, message):
    store = python_store("draft")
    store.set("meta/a.array.py", data)
    extensions = {"extension": {EXTENSION: Python}}
    with pytest.raises(MetadataError, match=message):
        zarr.open(store, path="a", extensions=extensions)


def test_an_extension_that_is_no_encoding_is_rejected():
    class Other(MetadataExtension):
        @classmethod
        def from_definition(cls, definition):
            return cls()

        def check(self, document):
            return []

    class Strict(Python):
        def check(self, document):
            return [ValidationProblem("/extensions", "is not what I need")]

    for kind, message in ((Other, "is not a metadata encoding"), (Strict, "is not what I need")):
        with pytest.raises(MetadataValidationError, match=message):
            zarr.open(python_store("draft"), extensions={"extension": {EXTENSION: kind}})
