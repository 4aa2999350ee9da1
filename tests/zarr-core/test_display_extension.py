"""Representations of nodes: one line, and a display extension or text without one."""

import warnings

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from zarr_core import messages
from zarr_core.extension import Display, Provider
from zarr_core.registry import discovery


@pytest.fixture(autouse=True)
def no_display(monkeypatch):
    """Without zarr-display, even if it is installed; no warnings have been issued."""
    monkeypatch.setattr(messages, "_issued", set())
    with zarr.config.set(disabled_plugins={"zarr-display"}):
        yield


@pytest.fixture
def root():
    root = zarr.create_group(attributes={"title": "a <b>"})
    root.create_array("x", data=np.arange(6).reshape(2, 3), chunks=(1, 3))
    return root


class Short(Display):
    """A minimal display extension."""

    def html(self, shown):
        return f"<i>{type(shown).__name__}</i>"

    def info(self, node, complete=False):
        return {"Name": node.path}

    def tree(self, group, level=None):
        return f"{level} levels"


def test_an_array_in_one_line():
    store = CountingStore(zarr.MemoryStore())
    array = zarr.create_array(
        store, path="t2m", shape=(365, 180, 360), chunks=(30, 90, 90), shards=(60, 180, 360),
        dtype="float32", dimension_names=["time", "lat", None], compressors=["gzip", "crc32c"],
    )  # fmt: skip
    store.calls.clear()
    assert repr(array) == (
        f"<Array {store} /t2m (time: 365, lat: 180, 360) float32 chunks=(30, 90, 90) "
        "shards=(60, 180, 360) gzip crc32c v3>"
    )
    plain = zarr.create_array(store, path="p", shape=(), dtype="int8", compressors=None)
    assert repr(plain) == f"<Array {store} /p () int8 chunks=() v3>"
    assert not [call for call in store.calls if call.key.startswith("t2m")]


def test_counts_of_chunks():
    for shape, chunks, shards, count in (
        ((10, 6), (2, 2), None, 15),
        ((10, 6), (2, 2), (4, 4), 15),
        ((0, 6), (2, 2), None, 0),
        ((0, 6), (2, 2), (4, 4), 0),
        ((), (), None, 1),
        ((7,), (3,), (9,), 3),
    ):
        array = zarr.create_array(shape=shape, chunks=chunks, shards=shards, dtype="uint8")
        assert (array.nchunks, array.nchunks_initialized, array.nbytes_stored()) == (count, 0, 0)
        array[...] = 1
        assert array.nchunks_initialized == count
        array.store.set("c/notes", b"no chunk")
        array.store.set("c/99/99", b"outside")
        assert array.nchunks_initialized == count
        keys = [key for key in array.store.list() if key not in ("zarr.json", "c/notes", "c/99/99")]
        assert sorted(key for _, key in array.stored.stored_chunks()) == sorted(keys)
        assert array.nbytes_stored() == sum(len(array.store.get(key)) for key in keys)


def test_nodes_are_shown_as_text_without_a_display(root):
    root.create_array("b/c\x1b", shape=2, dtype="int8")
    for shown in (root, root["x"], root.attrs):
        assert shown._repr_html_() is None
        assert repr(shown)
    info = root["x"].info
    assert (info["Name"], info["Type"], info["Data type"]) == ("/x", "Array", "int64")
    assert "Shape : (2, 3)\n" in repr(info)
    assert root.info_complete()["Type"] == "Group"
    assert repr(root.tree()) == "/b\n/b/c\\x1b : (2,) int8\n/x : (2, 3) int64"
    assert repr(root.tree(1)) == "/b\n/x : (2, 3) int64"
    with pytest.raises(ValueError, match="level"):
        root.tree(-1)


def test_a_display_that_a_block_gives(root):
    with zarr.override_extensions({"display": {"default": Short}}):
        assert root._repr_html_() == "<i>StoredGroup</i>"
        assert root["x"].info == {"Name": "x"}
        assert root.tree(3) == "3 levels"
    assert root._repr_html_() is None


def test_a_node_keeps_the_display_with_which_it_is_opened(root):
    given = zarr.open(root.store, extensions={"display": {"default": Short}})
    assert given._repr_html_() == "<i>StoredGroup</i>"
    assert given["x"]._repr_html_() == "<i>StoredArray</i>"
    assert given.attrs._repr_html_() == "<i>Attributes</i>"
    assert given["x"].info == {"Name": "x"}


def test_an_object_that_is_not_a_display_is_rejected():
    with pytest.raises(TypeError, match="is not a class derived from Display"):
        zarr.override_extensions({"display": {"default": int}}).__enter__()


class Failing(Short):
    def html(self, shown):
        raise RuntimeError(f"cannot show {type(shown).__name__}")


class Unusable(Short):
    def __init__(self):
        raise RuntimeError("cannot be created")


@pytest.mark.parametrize("display", [Failing, Unusable])
def test_a_display_that_fails_is_reported_once(root, display):
    with zarr.override_extensions({"display": {"default": display}}):
        with pytest.warns(UserWarning, match="display extension.*RuntimeError: cannot.*; text is"):
            assert root._repr_html_() is None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert root.attrs._repr_html_() is None
            assert root["x"].info["Name"]
        assert not caught


def test_an_interrupt_is_not_a_failure_of_the_display(root):
    class Interrupted(Short):
        def html(self, shown):
            raise KeyboardInterrupt

    with (
        zarr.override_extensions({"display": {"default": Interrupted}}),
        pytest.raises(KeyboardInterrupt),
    ):
        root._repr_html_()


@pytest.fixture
def installed(monkeypatch):
    def install(*providers):
        scanned = {**discovery.scan(), "display": {"default": providers}}
        monkeypatch.setattr(discovery, "scan", lambda: scanned)
        zarr.config.invalidate_caches()

    yield install
    zarr.config.invalidate_caches()


def test_a_display_that_cannot_be_imported_is_reported_once(root, installed):
    installed(Provider("display", "default", "acme_missing:Show", "acme-display", "1"))
    with zarr.config.set(disabled_plugins=frozenset()):
        with pytest.warns(UserWarning, match=r"acme-display.*acme_missing.*text is shown instead"):
            assert root._repr_html_() is None
        assert root["x"]._repr_html_() is None
        assert repr(root["x"]).startswith("<Array")


def test_two_displays_are_a_conflict_until_one_is_chosen(root, installed, monkeypatch):
    target = f"{__name__}:Short"
    monkeypatch.setitem(__import__("sys").modules, __name__, __import__("types").ModuleType("m"))
    __import__("sys").modules[__name__].Short = Short
    installed(
        Provider("display", "default", target, "acme-display", "1"),
        Provider("display", "default", target, "other-display", "2"),
    )
    warns = pytest.warns(UserWarning, match="acme-display.*other-display")
    with zarr.config.set(disabled_plugins=frozenset()), warns:
        assert root._repr_html_() is None
    chosen = {"display.default": "other-display"}
    with zarr.config.set(disabled_plugins=frozenset(), providers=chosen):
        assert root._repr_html_() == "<i>StoredGroup</i>"


def test_a_chosen_display_that_is_not_installed_is_reported(root):
    with zarr.config.set(providers={"display.default": "acme-display"}):
        with pytest.warns(UserWarning, match="acme-display.*text is shown instead"):
            assert root._repr_html_() is None
        assert root._repr_html_() is None
