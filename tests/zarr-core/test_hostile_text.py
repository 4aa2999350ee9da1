"""Text about a stored hierarchy contains no control sequences of terminals."""

import warnings

import pytest
import zarr_core as zarr
from hostile_text import NAME, SIGNS, create, raw_signs, sabotage
from zarr_core.errors import ZarrError


@pytest.fixture
def root():
    store = zarr.MemoryStore()
    create(store)
    return zarr.open_group(store, mode="r")


def text_of(node):
    return repr(node), str(node), repr(node.info), repr(node.attrs), "\n".join(node.info.values())


@pytest.mark.parametrize("path", [NAME, f"{NAME}/a{NAME}", "text"])
def test_the_text_of_a_node(root, path):
    node = root[path]
    for text in text_of(node):
        assert not raw_signs(text)
    assert len(repr(node.info).splitlines()) == len(node.info)
    assert path == "text" or ("é温" in repr(node) and "\\x1b[2J" in repr(node))


def test_the_text_of_a_tree(root):
    tree = root.tree()
    assert not raw_signs(repr(tree))
    assert len(repr(tree).splitlines()) == 4
    assert "é温" in repr(tree)
    assert tree.nodes[0].name == NAME  # data, not text


def test_messages_and_warnings_about_nodes():
    store = zarr.MemoryStore()
    create(store)
    broken = sabotage(store)
    messages = []
    for name in broken:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                zarr.open(store, "r", path=name)
            except ZarrError as error:
                messages.append(str(error))
        messages += [str(warning.message) for warning in caught]
    assert len(messages) >= len(broken)
    assert not [message for message in messages if raw_signs(message)]
    tree = zarr.open_group(store, mode="r").tree()
    assert not raw_signs(repr(tree))
    assert len(repr(tree).splitlines()) == 4 + len(broken)


@pytest.mark.parametrize(
    "call",
    [
        lambda root: root[f"missing{NAME}"],
        lambda root: root.attrs[f"missing{NAME}"],
        lambda root: zarr.open(root.store, "r", path=f"missing{NAME}"),
        lambda root: zarr.open_array(root.store, mode="r", path=NAME),
        lambda root: zarr.open_group(root.store, mode="r", path=f"{NAME}/a{NAME}"),
        lambda root: zarr.open(f"/missing/{SIGNS}.zarr", "r"),
        lambda root: zarr.create_group(root.store, path=NAME),
        lambda root: zarr.create_array(root.store, "new", shape=1, dtype=NAME),
        lambda root: zarr.create_array(root.store, "new", shape=1, dtype="i2", compressors=[NAME]),
    ],
)
def test_messages_about_calls(root, call):
    with pytest.raises(Exception) as refused:  # noqa: PT011 - whichever it is
        call(root)
    assert not raw_signs(str(refused.value))


def test_a_log_of_a_copy(root, tmp_path):
    zarr.copy(root, zarr.MemoryStore(), log=tmp_path / "log")
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert "\\x1b[2J" in log
    assert not raw_signs(log)
