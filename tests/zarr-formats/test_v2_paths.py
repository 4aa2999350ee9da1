"""Conversion of logical paths of version 2 to prefixes of keys."""

import pytest
import zarr_core as zarr
from v2_documents import array, stored
from zarr_core.errors import NodeNameError, ZarrError
from zarr_formats.v2.format import V2

GROUP = stored({"zarr_format": 2})


@pytest.fixture
def store():
    return zarr.MemoryStore(
        {
            ".zgroup": GROUP,
            "foo/.zgroup": GROUP,
            "foo/bar/.zarray": stored(array()),
            "foo/bar/0.0": bytes(24),
        }
    )


def test_a_path_is_what_keys_begin_with(store):
    node = zarr.open(store, path="foo/bar", zarr_format=2)
    node.attrs["a"] = 1
    node[3, 3] = 7
    assert set(store.list()) == {
        ".zgroup", "foo/.zgroup", "foo/bar/.zarray", "foo/bar/.zattrs", "foo/bar/0.0", "foo/bar/1.1",
    }  # fmt: skip


@pytest.mark.parametrize(
    "path",
    ["/foo/bar/", "foo\\bar", "\\foo\\bar\\", "foo//bar", "//foo/bar", "foo/bar//", "foo\\/bar"],
)
def test_other_spellings_mean_the_same_node(store, path):
    assert zarr.open(store, path=path, zarr_format=2).path == "foo/bar"
    zarr.create_group(store, path=path.replace("bar", "new"), zarr_format=2)
    assert store.exists("foo/new/.zgroup")
    assert "bar" in zarr.open(store, path=path.replace("bar", ""))


@pytest.mark.parametrize("name", ["__x", "..."])
def test_names_that_version_3_reserves_are_names(store, name):
    group = zarr.open(store)
    group.create_array(f"foo/{name}", data=[1, 2])
    assert group[f"foo/{name}"][...].tolist() == [1, 2]
    assert sorted(group["foo"]) == sorted(["bar", name])
    assert sorted(zarr.consolidate_metadata(store)["foo"]) == sorted(["bar", name])
    assert zarr.open_consolidated(store)[f"foo/{name}"].shape == (2,)


@pytest.mark.parametrize(
    "path", [".", "..", "foo/.", "foo/..", "./foo", "../foo", "foo/../bar", "foo/./bar"]
)
def test_segments_that_are_dots_are_errors(store, path):
    before = set(store.list())
    for attempt in (zarr.open, zarr.open_group):
        with pytest.raises(ZarrError):
            attempt(store, path=path, zarr_format=2)
    with pytest.raises(ZarrError):
        zarr.create_array(store, path=path, shape=1, dtype="i1", zarr_format=2)
    assert set(store.list()) == before


def test_valid_names(store):
    version_2 = V2()
    assert all(
        map(version_2.is_valid_name, ("a", ".a", "...", "__x", "zarr.json", "a b", "\u03a9"))
    )
    assert not any(map(version_2.is_valid_name, ("", ".", "..", "a\\b")))
    version_2.check_path("a/b c/~!")
    with pytest.raises(NodeNameError, match="ASCII"):
        zarr.create_group(store, path="a/\u03a9")
    assert not [key for key in store.list() if not key.isascii()]
