"""Several formats in one store: detection, errors, and the format of new nodes."""

import json
from itertools import permutations

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import NodeExistsError, NodeNotFoundError

FORMATS = ("v3", "v2", "draft", "draft-2021", "n5")


@pytest.fixture
def place(tmp_path):
    return tmp_path / "hierarchy"


@pytest.mark.parametrize("name", FORMATS)
def test_a_new_member_has_the_format_of_its_hierarchy(place, name):
    zarr.create_group(place, zarr_format=name)
    zarr.create_array(place, path="a/b", data=np.arange(6), chunks=4)
    zarr.create_group(place, path="c")
    for group in (zarr.open(place), zarr.open(place, mode="r")):
        assert group.stored.format.name == name
        assert sorted(group) == ["a", "c"]
        assert group["a/b"].stored.format.name == name
    assert zarr.open(place, path="a").create_array("d", shape=2).stored.format.name == name
    assert zarr.open(place, path="a/b")[...].tolist() == list(range(6))


@pytest.mark.parametrize(("there", "asked"), [*permutations(FORMATS, 2)])
def test_hierarchies_are_of_one_format(place, there, asked):
    zarr.create_array(place, path="a", data=np.arange(3), zarr_format=there)
    before = sorted(zarr.open(place).store.list())
    for path in ("", "a", "b", "c/d"):
        with pytest.raises(NodeExistsError):
            zarr.create_group(place, path=path, zarr_format=asked)
        with pytest.raises(NodeExistsError):
            zarr.create_array(place, path=path, shape=2, zarr_format=asked)
    assert sorted(zarr.open(place).store.list()) == before
    with pytest.raises(NodeNotFoundError):
        zarr.open(place, path="a", zarr_format=asked)


@pytest.mark.parametrize(("there", "asked"), [(2, 3), (3, 2)])
def test_versions_2_and_3_may_replace_each_other(place, there, asked):
    zarr.create_array(place, data=np.arange(9), chunks=2, attributes={"a": 1}, zarr_format=there)
    array = zarr.create_array(place, shape=4, dtype="i2", overwrite=True, zarr_format=asked)
    assert array.zarr_format == asked
    assert [str(key) for key in array.store.list()] == [array.stored.format.documents("")[0]]
    assert zarr.open(place)[...].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("preferred", "other", "key"), [(3, 2, ".zarray"), (2, "n5", "attributes.json")]
)
def test_a_node_with_two_documents_is_opened_in_the_preferred_format(place, preferred, other, key):
    zarr.create_array(place / "other", shape=5, zarr_format=other)
    zarr.create_array(place / "x", data=np.arange(3), zarr_format=preferred)
    (place / "x" / key).write_bytes((place / "other" / key).read_bytes())
    with pytest.warns(UserWarning, match=f"two formats.* read as v{preferred}.*{key!r} is ignored"):
        assert zarr.open(place / "x")[...].tolist() == [0, 1, 2]
    assert zarr.open(place / "x").shape == (3,)  # the warning is issued once
    assert zarr.open(place / "x", zarr_format=other).shape == (5,)


def test_an_array_of_version_1_is_alone_in_its_store(place):
    array = zarr.create_array(place, data=np.arange(5), chunks=2, zarr_format="v1")
    assert zarr.open(place)[...].tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(NodeExistsError):
        zarr.create_array(place, path="below", shape=3)
    assert array.stored.format.name == "v1"


@pytest.mark.parametrize("name", ["v1", "v2", "v3"])
def test_a_wrong_version_in_a_document_is_reported(place, name):
    array = zarr.create_array(place, shape=3, zarr_format=name)
    document = array.stored.format.documents("")[0]
    content = json.loads(array.store.get(document))
    array.store.set(document, json.dumps({**content, "zarr_format": 77}).encode())
    with pytest.raises(ValueError, match=r"zarr_format|looked for"):
        zarr.open(place)


@pytest.mark.parametrize("name", ["v2", "v3", "n5"])
def test_circles_of_links_in_a_hierarchy_end(place, name):
    group = zarr.create_group(place, zarr_format=name)
    group.create_array("g/a", data=np.arange(3))
    for number in range(3):
        (place / "g" / f"loop{number}").symlink_to("..")
    assert [path for path, _ in zarr.open(place).members(max_depth=None)] == ["g", "g/a"]
    copy = zarr.copy(group["g"], zarr.MemoryStore())
    assert copy["a"][...].tolist() == [0, 1, 2]


def test_data_type_is_shown(place):
    group = zarr.create_group(place, zarr_format=2)
    shown = {
        "i4": "int32",
        "S3": "null_terminated_bytes S3",
        "U5": "fixed_length_utf32 U5",
        "M8[ms]": "numpy.datetime64 M8[ms]",
    }
    for number, (dtype, text) in enumerate(shown.items()):
        array = group.create_array(str(number), shape=2, dtype=dtype)
        assert array.info["Data type"] == text
        assert f" {text.split()[0]} " in repr(array)
    fields = [(name, "i1") for name in "abcdef"]
    array = group.create_array("fields", shape=2, dtype=fields)
    assert array.info["Data type"] == "struct (a, b, c, d, ...)"
