"""Consolidated metadata of version 2: reading, writing, updating."""

import json
import pickle

import numpy as np
import pytest
import zarr_core as zarr
from v2_documents import array, stored
from zarr_core.extension import MetadataValidationError
from zarr_formats.v2.consolidated import read_consolidated, write_consolidated

GROUP = {"zarr_format": 2}
DOCUMENT = {
    "zarr_consolidated_format": 1,
    "metadata": {
        ".zgroup": GROUP,
        ".zattrs": {"title": "root"},
        "b/.zattrs": {"unit": "m"},
        "b/.zarray": array(),
        "a/.zgroup": GROUP,
        "a/c/.zarray": array(shape=[1, 1]),
    },
}
OWN = {".zgroup": GROUP, ".zattrs": {"title": "root"}}


@pytest.fixture
def store():
    """A stored hierarchy with up-to-date consolidated metadata."""
    values = {key: stored(document) for key, document in DOCUMENT["metadata"].items()}
    return values | {".zmetadata": stored(DOCUMENT)}


def copies(store):
    return json.loads(store[".zmetadata"])["metadata"]


def test_keys_that_mean_nothing_are_kept():
    further = {"odd/.zattrs": {}, "x": {"y": 1}}
    document = {**DOCUMENT, "metadata": {**further, **DOCUMENT["metadata"]}, "further": 1}
    found = read_consolidated(document, "here")
    assert set(found.entries) == {"a", "b", "a/c"}
    assert json.dumps(write_consolidated(found, OWN)) == json.dumps(document)


def test_changes_of_the_group_itself_reach_its_copy():
    found = read_consolidated(DOCUMENT, "here")
    written = write_consolidated(found, {".zgroup": GROUP})
    assert ".zattrs" not in written["metadata"]
    assert "b/.zattrs" in written["metadata"]


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ([], ""),
        ({"metadata": {}}, "/zarr_consolidated_format"),
        ({**DOCUMENT, "zarr_consolidated_format": 2}, "/zarr_consolidated_format"),
        ({"zarr_consolidated_format": 1}, "/metadata"),
        ({**DOCUMENT, "metadata": []}, "/metadata"),
        ({**DOCUMENT, "metadata": {"a/.zarray": 1}}, "/metadata/a~1.zarray"),
    ],
)
def test_invalid_documents(document, pointer):
    with pytest.raises(MetadataValidationError) as caught:
        read_consolidated(document, "here")
    assert [problem.pointer for problem in caught.value.problems] == [pointer]


def test_the_document_of_a_member_is_looked_at_when_it_is_asked_for(store):
    store[".zmetadata"] = stored(
        {**DOCUMENT, "metadata": {**DOCUMENT["metadata"], "b/.zarray": array(order="X")}}
    )
    group = zarr.open_group(store, "r")
    assert group["a/c"].shape == (1, 1)
    with pytest.raises(MetadataValidationError, match=r"'b' '.zarray'(?s:.)*/order"):
        group["b"]


def test_consolidating(store):
    before = json.dumps(copies(store), sort_keys=True)
    del store[".zmetadata"]
    assert not zarr.open_group(store, "r").metadata.consolidated
    zarr.consolidate_metadata(store)
    assert json.dumps(copies(store), sort_keys=True) == before
    assert list(copies(store)) == sorted(copies(store))
    assert json.loads(store[".zmetadata"])["zarr_consolidated_format"] == 1


def test_copies_that_are_out_of_step_are_noticed(store):
    store["b/.zattrs"] = b"{}"
    store["e/.zgroup"] = stored(GROUP)
    del store["a/c/.zarray"]
    found = zarr.check_consolidated(zarr.open_group(store))
    assert (found.stale, found.missing, found.extra) == (("b",), ("e",), ("a/c",))


def test_groups_below_may_have_copies_of_their_own(store):
    inner = {"zarr_consolidated_format": 1, "metadata": {".zgroup": GROUP, "c/.zarray": array()}}
    store["a/.zmetadata"] = stored(inner)
    group = zarr.open_group(store, "r", path="a", use_consolidated=True)
    assert group["c"].shape == (6, 4)
    zarr.consolidate_metadata(store)
    assert "a/.zmetadata" not in copies(store)


def test_groups_on_disk_pickle_with_their_copies(tmp_path):
    group = zarr.create_group(tmp_path / "x", zarr_format=2)
    group.create_array("a", data=np.arange(4))
    zarr.consolidate_metadata(tmp_path / "x")
    again = pickle.loads(pickle.dumps(zarr.open_group(tmp_path / "x", "r")))
    assert again.metadata.consolidated == zarr.open_group(tmp_path / "x").metadata.consolidated
    assert again["a"][2] == 2


def test_tokens_that_are_not_json(store):
    text = store[".zmetadata"].replace(b'"m"', b"NaN")
    store[".zmetadata"] = text
    assert np.isnan(zarr.open_group(store, "r")["b"].attrs["unit"])


def test_copies_that_are_damaged(store):
    store[".zmetadata"] = b"null"
    with pytest.raises(MetadataValidationError, match=r"'.zmetadata'"):
        zarr.open_group(store, "r")
