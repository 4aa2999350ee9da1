"""Stored text is escaped in terminals and pages."""

import pytest
import zarr_core as zarr
from hostile_text import NAME, create, raw_signs
from zarr_display.chunk_map import chunk_map


@pytest.fixture
def root():
    store = zarr.MemoryStore()
    create(store)
    return zarr.open_group(store, mode="r")


def shown_of(node):
    yield node._repr_html_()
    yield node.info._repr_html_()
    yield node.attrs._repr_html_()


def test_nodes(root):
    for node in (root[NAME], root[f"{NAME}/a{NAME}"], root["text"]):
        for shown in shown_of(node):
            assert not raw_signs(shown)


def test_tree(root):
    tree = root.tree()
    assert not raw_signs(tree._repr_html_())


def test_chunk_map(root):
    shown = chunk_map(root[f"{NAME}/a{NAME}"])
    for text in (repr(shown), shown._repr_html_()):
        assert not raw_signs(text)
