"""Nodes of version 3 whose names begin with ``__``: existing ones are nodes, new ones are rejected."""

import warnings

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from zarr_core.errors import NodeExistsError, NodeNameError
from zarr_core.hierarchy.create_node import check_reserved_names, permit_nodes
from zarr_core.registry.resolve import format_named

PATHS = ["__grp", "__grp/__inner", "__grp/x", "__v", "ok"]


def write(store):
    """A hierarchy with such names, written without the library."""
    made = zarr.MemoryStore()
    root = zarr.create_group(made, attributes={"of": "root"})
    root["g/x"] = np.arange(6).reshape(2, 3)
    root["g/inner/y"] = np.arange(2)
    root["v"] = np.arange(3.0)
    root["ok"] = np.arange(4)
    for key in made.list():
        parts = key.split("/")
        new = {"g": "__grp", "inner": "__inner", "v": "__v"}
        store.set("/".join(new.get(part, part) for part in parts), made.get(key))
    return store


@pytest.fixture(params=["memory", "directory"])
def store(request, tmp_path):
    made = zarr.MemoryStore() if request.param == "memory" else zarr.LocalStore(tmp_path / "a")
    return write(made)


def paths(place):
    return [path for path, _ in zarr.open_group(place).members(None) if path[-2:] != "/y"]


def test_they_are_listed_and_opened(store):
    group = zarr.open_group(store)
    assert [*group] == [*group.keys()] == ["__grp", "__v", "ok"]
    assert "__v" in group
    assert "__grp/__inner/y" in group
    assert [*group["__grp"]] == ["__inner", "x"]
    assert paths(store) == PATHS
    assert [*group.array_keys()] == ["__v", "ok"]
    assert [*group.group_keys()] == ["__grp"]
    assert len(group) == 3
    assert "__inner" in str(group.tree())
    assert "__grp/__inner/y" in [path for path, _ in group.members(max_depth=None)]
    assert zarr.open_array(store, path="__grp/x").shape == (2, 3)
    assert zarr.open(store, path="__v")[...].tolist() == [0, 1, 2]


@pytest.mark.parametrize("layout", [{}, {"chunks": (1,)}, {"compressors": None}])
def test_they_are_copied(store, layout):
    group = zarr.open_group(store)
    layout = {name: "auto" if name == "chunks" else value for name, value in layout.items()}
    assert zarr.copy_all(group, dest := zarr.MemoryStore(), **layout).copied == 6
    assert paths(dest) == PATHS
    zarr.copy(group, whole := zarr.MemoryStore(), **layout)
    assert paths(whole) == PATHS
    zarr.copy_all(group, whole, if_exists="replace", **layout)
    assert zarr.open(whole)["__grp/__inner/y"][...].tolist() == [0, 1]
    other = zarr.create_group({})
    assert zarr.copy(group["__grp/x"], other, **layout).path == "x"
    assert zarr.copy(group["__grp"], other, **layout).path == "__grp"
    assert zarr.copy(group["__grp/x"], other, "__grp/new", **layout).path == "__grp/new"
    assert zarr.copy(group["__grp/x"], {}, "__grp/x", **layout).path == "__grp/x"
    zarr.copy(group, only := zarr.MemoryStore(), only=lambda path: path == "__grp/x", **layout)
    assert paths(only) == ["__grp", "__grp/x"]


def test_they_are_moved(store):
    group = zarr.open_group(store, "r+")
    group.move("__grp", "ok_too")
    assert group["ok_too/__inner/y"][...].tolist() == [0, 1]
    moved = zarr.move(group["__v"], zarr.create_group({}))
    assert moved.path == "__v"
    assert moved[...].tolist() == [0, 1, 2]
    group.move("ok_too/__inner", "__inner")
    assert [*group] == ["__inner", "ok", "ok_too"]


def test_they_are_removed(store):
    group = zarr.open_group(store, "r+")
    del group["__grp/__inner"]
    del group["__v"]
    zarr.remove(group["__grp"])
    assert [*store.list_prefix("__grp/")] == [*store.list_prefix("__v/")] == []
    assert [*group] == ["ok"]
    write(store)
    group.clear()
    assert [*store.list()] == ["zarr.json"]


def test_they_are_overwritten_as_they_are_not_new_names(store):
    group = zarr.open_group(store, "r+")
    with pytest.raises(NodeExistsError):
        group.create_array("__v", shape=1)
    assert group.create_array("__v", shape=1, overwrite=True).shape == (1,)
    assert group.create_array("__grp/new", shape=2).path == "__grp/new"
    assert group.require_group("__grp/__inner").path == "__grp/__inner"
    assert zarr.open(store, "w", path="__v", shape=3).shape == (3,)


def creations(group):
    """All functions that create a node with a name, in a group with an array ``ok``."""
    store = group.store
    return {
        "create_array": lambda name: group.create_array(name, shape=1),
        "create_group": lambda name: group.create_group(name),
        "assignment": lambda name: group.__setitem__(name, np.arange(2)),
        "require_group": lambda name: group.require_group(name),
        "require_array": lambda name: group.require_array(name, shape=1),
        "function": lambda name: zarr.create_array(store, path=name, shape=1),
        "open": lambda name: zarr.open(store, "a", path=name),
        "overwrite": lambda name: zarr.create_group(store, path=name, overwrite=True),
        "copy": lambda name: zarr.copy(group["ok"], group, name),
        "recode": lambda name: zarr.copy(group["ok"], group, name, compressors=None),
        "move": lambda name: group.move("ok", name),
        "move function": lambda name: zarr.move(group["ok"], group, name),
        "save": lambda name: zarr.save(store, np.arange(2), path=name),
    }


@pytest.mark.parametrize("name", ["__", "__x", "__x/y", "g/__x", "a/__x/y", "g/__x/__y"])
@pytest.mark.parametrize("how", creations(zarr.create_group({})))
def test_new_ones_are_rejected_unless_they_are_asked_for(how, name):
    group = zarr.create_group({})
    group["ok"] = np.arange(3)
    group.create_group("g")
    keys = sorted(group.store.list())
    create = creations(group)[how]
    with pytest.raises(NodeNameError, match=r'names that begin with "__" are reserved.*config.set'):
        create(name)
    assert sorted(group.store.list()) == keys
    for allow, value in ((zarr.config.set, "warn"), (permit_nodes, True)):
        warns = pytest.warns(UserWarning, match=r"'/(g/|a/)?__.*reserves such names")
        with allow(reserved_names=value), warns:
            create(name)
        assert name in zarr.open_group(group.store)
        if "move" in how:
            group.move(name, "ok")
        top = "g/__x" if name.startswith("g/") else name.split("/")[0]
        if top in group:
            del group[top]


def test_the_permission_ends_with_the_block():
    group = zarr.create_group({})
    with zarr.config.set(reserved_names="warn"), pytest.warns(UserWarning, match="__a"):
        group.create_group("__a")
    with pytest.raises(RuntimeError), permit_nodes(reserved_names=True):
        raise RuntimeError
    with pytest.raises(NodeNameError):
        group.create_group("__b")
    with pytest.raises(ValueError, match="reserved_names"):
        zarr.config.set(reserved_names="ignore")


def test_invalid_names_are_none():
    format_ = format_named("v3")
    for name in ("__a\0", "__a\\b", "__\ud800", "...", "zarr.json", ""):
        assert not format_.is_valid_name(name)
    for name in ("__", "__a", "__a b"):
        assert format_.is_valid_name(name)
        assert format_.is_reserved(name)
    assert not format_.is_reserved("_a")
    with pytest.raises(NodeNameError):
        check_reserved_names(format_, ["a/__b"])
    check_reserved_names(format_, ["__a/b", "x/__c"], {"__c"})


def test_ordinary_names_cost_no_request():
    store = CountingStore(zarr.MemoryStore())
    group = zarr.create_group(store)
    store.calls.clear()
    group.create_array("a", shape=1)
    ordinary = len(store.calls)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with permit_nodes(reserved_names=True):
            store.calls.clear()
            group.create_array("b", shape=1)
    assert len(store.calls) == ordinary
