"""Hierarchies printed as trees."""

import pytest
import zarr_core as zarr


@pytest.fixture
def root():
    root = zarr.create_group()
    root.create_array("a", shape=(2, 3), dtype="int8")
    root.create_array("b/c/<d>", shape=4, dtype="float32")
    root.create_group("b/e")
    root.create_group("f")
    return root


WHOLE = """\
/
├── a (2, 3) int8
├── b
│   ├── c
│   │   └── <d> (4,) float32
│   └── e
└── f"""


def test_the_whole_tree(root):
    assert repr(root.tree()) == str(root.tree()) == WHOLE


@pytest.mark.parametrize(("level", "lines"), [(0, 1), (1, 4), (2, 6), (3, 7), (9, 7), (None, 7)])
def test_some_levels_of_it(root, level, lines):
    assert len(repr(root.tree(level)).splitlines()) == lines
    assert len(repr(root.tree(level=level)).splitlines()) == lines


def test_a_negative_level(root):
    with pytest.raises(ValueError, match="level must be at least 0"):
        root.tree(-1)


def test_the_tree_of_an_inner_group(root):
    assert repr(root["b"].tree()) == "/b\n├── c\n│   └── <d> (4,) float32\n└── e"
    assert repr(root["f"].tree()) == "/f"


def test_a_long_tree_is_cut(root):
    document = root.store.get("zarr.json")
    for number in range(600):
        root.store.set(f"f/n{number:03}/zarr.json", document)
    lines = repr(root.tree()).splitlines()
    assert len(lines) == 502
    assert lines[-1] == "... more than 500 nodes"


def test_damaged_nodes_are_shown_by_name(root):
    root.store.set("b/c/zarr.json", b"{")
    lines = repr(root.tree()).splitlines()
    assert len(lines) < len(WHOLE.splitlines())
    assert "│   ├── c (cannot be read)" in lines
    assert "│   └── e" in lines
    assert lines[-1] == WHOLE.splitlines()[-1]
    assert "c (cannot be read)" in repr(root["b"].tree())


def test_a_store_that_fails_is_not_an_empty_group(root):
    from zarr_core.errors import StoreReadError

    def fails(prefix):
        raise StoreReadError("cannot be listed", root.store, prefix)

    root.store.list_dir = fails
    with pytest.raises(StoreReadError, match="cannot be listed"):
        root.tree()
