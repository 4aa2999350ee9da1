"""Opening nodes, and the modes that create them."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from zarr_core.errors import (
    MetadataError,
    NodeExistsError,
    NodeNotFoundError,
    NodeTypeError,
    StoreReadOnlyError,
)

OPENERS = (zarr.open, zarr.open_array, zarr.open_group)


@pytest.fixture
def place(tmp_path):
    """A directory with a group and an array."""
    group = zarr.create_group(tmp_path / "g.zarr", attributes={"a": 1})
    group.create_array("x", data=np.arange(4), chunks=2)
    return tmp_path / "g.zarr"


@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize("mode", [None, "r", "r+"])
@pytest.mark.parametrize("name", ["typo", "typo.zarr", "typo.zip", "a/b/c"])
def test_a_misspelt_path_is_an_error_that_creates_nothing(opener, mode, name, tmp_path):
    with pytest.raises(NodeNotFoundError, match="no Zarr array or group here"):
        opener(tmp_path / name, mode)
    with pytest.raises(LookupError):
        zarr.open_consolidated(tmp_path / name)
    with pytest.raises(ValueError, match="typo|a/b/c"):
        zarr.load(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("mode", [None, "r", "r+", "a"])
def test_existing_nodes_are_opened(place, mode):
    group = zarr.open(place, mode)
    assert isinstance(group, zarr.Group)
    assert group.read_only == (mode == "r")
    array = zarr.open(place, mode, path="x")
    assert isinstance(array, zarr.Array)
    assert array[...].tolist() == [0, 1, 2, 3]
    assert zarr.open_group(place, mode).attrs == {"a": 1}
    assert zarr.open_array(place / "x", mode).shape == (4,)
    assert zarr.open(str(place), mode) == group
    assert zarr.open(place.as_uri(), mode, path="/x/").path == "x"
    assert zarr.open(group, mode, path="x").read_only == (mode == "r")


def test_the_other_kind_of_node_is_an_error(place):
    for mode in ("r", "r+", "a"):
        with pytest.raises(
            NodeTypeError, match="is a group, not an array; open it with open_group"
        ):
            zarr.open_array(place, mode, shape=1)
        with pytest.raises(NodeTypeError, match="is an array, not a group; open it with open_arr"):
            zarr.open_group(place, mode, path="x")


def test_a_mode_that_makes_nodes_makes_the_kind_that_is_meant(tmp_path):
    assert isinstance(zarr.open(tmp_path / "1", "a"), zarr.Group)
    assert isinstance(zarr.open(tmp_path / "2", "a", shape=3), zarr.Array)
    assert isinstance(zarr.open(tmp_path / "3", "w", data=[1, 2]), zarr.Array)
    assert zarr.open(tmp_path / "4", "w", attributes={"b": 2}).attrs == {"b": 2}
    assert zarr.open_group(tmp_path / "5", "w-", attributes={"b": 2}).attrs == {"b": 2}
    assert zarr.open_array(tmp_path / "6", "x", shape=2, dtype="int8", path="a/b").path == "a/b"
    assert zarr.open(tmp_path / "6", "r").members(None)[1][0] == "a/b"
    with pytest.raises(TypeError, match="requires shape or data"):
        zarr.open_array(tmp_path / "7", "w")
    assert not (tmp_path / "7").exists()


def test_modes_keep_or_replace_what_is_there(place):
    assert zarr.open(place, "a").attrs == {"a": 1}
    for mode in ("w-", "x"):
        for opener in OPENERS:
            options = {} if opener is zarr.open_group else {"shape": 1}
            with pytest.raises(NodeExistsError, match="a node already exists"):
                opener(place, mode, **options)
    assert zarr.open(place)["x"][...].tolist() == [0, 1, 2, 3]
    assert list(zarr.open(place, "w")) == []
    assert sorted(path.name for path in place.rglob("*")) == ["zarr.json"]


@pytest.mark.parametrize("mode", ["rw", "", "R", 1, "wx"])
def test_unknown_modes(place, mode):
    with pytest.raises(ValueError, match="mode must be one of r, r"):
        zarr.open(place, mode)


@pytest.mark.parametrize("mode", [None, "r", "r+", "a", "w"])
def test_a_misspelt_argument_is_an_error_in_every_mode(place, mode):
    with pytest.raises(TypeError, match="unexpected keyword argument: atributes, chunk"):
        zarr.open(place, mode, chunk=3, atributes={})
    assert "x" in zarr.open(place)


@pytest.mark.parametrize("mode", ["r+", "a", "w", "w-", "x"])
def test_a_store_for_reading_cannot_be_opened_for_writing(place, mode):
    store = zarr.LocalStore(place, read_only=True)
    with pytest.raises(StoreReadOnlyError, match=f'mode="{mode[0]}'):
        zarr.open(store, mode)
    assert zarr.open(store).read_only
    assert zarr.open(store)["x"].read_only


def test_a_node_for_reading_gives_nodes_for_reading(place):
    group = zarr.open(place, "r")
    assert zarr.open(group).read_only
    assert zarr.open(group, path="x").read_only
    assert zarr.open(group["x"]).read_only
    assert not zarr.open(zarr.open(zarr.LocalStore(place), "r"), "r+").read_only
    for make in (
        lambda: group.create_group("new"),
        lambda: group.create_array("new", shape=1),
        lambda: group.require_group("new"),
        lambda: zarr.create_array(group, path="new", shape=1),
        lambda: group.__setitem__("x", [1]),
        lambda: group.__delitem__("x"),
        lambda: group.move("x", "y"),
        lambda: group.__delitem__("x"),
        group.clear,
    ):
        with pytest.raises(StoreReadOnlyError):
            make()
    assert list(group) == ["x"]


def test_overwriting_removes_every_old_key_and_nothing_foreign(place):
    old = zarr.open(place)
    old.create_array("deep/y", data=np.zeros(9) + 1, chunks=2)
    new = zarr.create_array(place, shape=4, dtype="int8", overwrite=True)
    assert sorted(new.store.list()) == ["zarr.json"]
    assert new[...].tolist() == [0] * 4
    notes = place / "notes.txt"
    zarr.create_group(place, overwrite=True)
    notes.write_text("mine")
    for make in (
        lambda: zarr.create_group(place, overwrite=True),
        lambda: zarr.open(place, "w"),
        lambda: zarr.create_array(place, shape=1, overwrite=True),
    ):
        with pytest.raises(NodeExistsError, match=r"would remove 'notes\.txt'"):
            make()
    assert notes.read_text() == "mine"
    assert (place / "zarr.json").exists()
    zarr.open(place).create_array("z", shape=2)
    (place / "z" / "readme").write_text("mine")
    with pytest.raises(NodeExistsError, match="would remove 'z/readme'"):
        zarr.open(place).create_array("z", shape=3, overwrite=True)


def test_one_array_has_settings_of_its_own(place):
    array = zarr.open_array(place, path="x", config={"write_empty_chunks": True})
    array[...] = 0
    assert array.nchunks_initialized == 2
    strict = zarr.open(place, path="x", config={"missing_chunks": "error", "order": "C"})
    assert strict[...].tolist() == [0] * 4
    with pytest.raises(TypeError, match="unknown array setting: colour"):
        zarr.open(place, path="x", config={"colour": 1})
    with pytest.raises(ValueError, match="missing_chunks must be"):
        zarr.open(place, path="x", config={"missing_chunks": "zero"})
    assert zarr.open(store=place, path="x", config={"write_empty_chunks": False}) == array


def test_opening_reads_one_document():
    store = CountingStore(zarr.MemoryStore())
    zarr.create_array(store, path="a/b", data=np.arange(4))
    store.calls.clear()
    with zarr.config.set(disabled_plugins={"zarr-formats"}):
        zarr.open(store, path="a/b")
    assert [(call.method, call.key) for call in store.calls] == [("get", "a/b/zarr.json")]


def test_a_damaged_node_is_neither_opened_nor_replaced(place):
    (place / "zarr.json").write_text("{")
    for mode in (None, "r", "r+", "a"):
        with pytest.raises(MetadataError, match=r"g\.zarr"):
            zarr.open(place, mode)
    for mode in ("w-", "x"):
        with pytest.raises(NodeExistsError):
            zarr.open(place, mode)
    assert isinstance(zarr.open(place, "w"), zarr.Group)


@pytest.mark.parametrize("place_kind", ["memory", "directory"])
def test_concurrent_open_creates_one_node(place_kind, tmp_path):
    for attempt in range(5):
        store = (
            zarr.MemoryStore()
            if place_kind == "memory"
            else zarr.LocalStore(tmp_path / str(attempt))
        )
        barrier = threading.Barrier(6)

        def work(number, store=store, barrier=barrier):
            barrier.wait()
            array = zarr.open_array(store, "a", shape=6, chunks=2, dtype="int8", path="a/b")
            array[number] = number + 1

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(work, range(6)))
        assert zarr.open(store, path="a/b")[...].tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("function", "argument", "meant"),
    [
        ("open_group", "shape", ""),
        ("open_group", "verify", "integrity.verify"),
        ("open_array", "cache", "ChunkCacheStore"),
        ("open_consolidated", "recheck", "recheck"),
        ("open", "portable", "zarr-core portable"),
        ("open", "cache_attrs", "recheck"),
        *[
            (function, "synchronizer", r"SynchronizedStore\(store, synchronizer\) as the store")
            for function in ("open", "open_array", "open_group", "create_group")
        ],
    ],
)
def test_arguments_of_other_functions_are_errors(function, argument, meant):
    for mode in [{}] if function == "create_group" else [{"mode": "a"}, {"mode": "r"}]:
        with pytest.raises(TypeError, match=f"unexpected keyword argument: {argument}.*{meant}"):
            getattr(zarr, function)(zarr.MemoryStore(), **mode, **{argument: None})
