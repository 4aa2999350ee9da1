"""Copying and moving nodes to and from Icechunk sessions, including failures."""

import warnings

import numpy as np
import pytest
import zarr
import zarr_core
from zarr_bridge.icechunk import IcechunkStore
from zarr_core.errors import StoreError, ZarrError

icechunk = pytest.importorskip("icechunk")

VALUES = np.arange(600, dtype="float64").reshape(30, 20)


@pytest.fixture
def repository(tmp_path):
    storage = icechunk.local_filesystem_storage(str(tmp_path / "repository"))
    with warnings.catch_warnings(action="ignore"):  # that directories are for trying only
        return icechunk.Repository.create(storage)


@pytest.fixture
def session(repository):
    return repository.writable_session("main")


@pytest.fixture
def source():
    root = zarr_core.create_group(attributes={"title": "source"})
    root.create_array("a/field", data=VALUES, chunks=(7, 6), attributes={"units": "K"})
    root.create_array("sharded", data=VALUES, chunks=(5, 5), shards=(10, 20))
    root.create_array("scalar", data=np.float32(3))
    root.create_array("empty", shape=(10, 10), chunks=(5, 5), dtype="int16", fill_value=7)
    return root


def read_back(repository, session, path=""):
    """The arrays of a commit, as zarr-python reads them through Icechunk."""
    store = repository.readonly_session(snapshot_id=session.commit("copied")).store
    found = zarr.open(store, mode="r", path=path)
    if isinstance(found, zarr.Array):
        return {"": found[...]}
    return {
        name: member[...]
        for name, member in found.members(max_depth=None)
        if isinstance(member, zarr.Array)
    }


def check(found, *, names=("a/field", "sharded", "scalar", "empty")):
    assert sorted(found) == sorted(names)
    for name in {"a/field", "sharded"} & set(names):
        assert np.array_equal(found[name], VALUES)
    if "empty" in names:
        assert (found["empty"] == 7).all()


COPIES = {
    "copy": lambda source, dest: zarr_core.copy(source, dest),
    "copy_all": lambda source, dest: zarr_core.copy_all(source, dest),
    "copy_store": lambda source, dest: zarr_core.copy_store(source.store, dest),
    "other codecs": lambda source, dest: zarr_core.copy(source, dest, compressors=None),
    "move": lambda source, dest: zarr_core.move(source, dest),
}


@pytest.mark.parametrize("how", COPIES)
def test_a_hierarchy_goes_in(source, repository, session, how):
    COPIES[how](source, session.store)
    check(read_back(repository, session))


@pytest.mark.parametrize("how", COPIES)
def test_a_hierarchy_goes_out(source, repository, session, how):
    zarr_core.copy(source, session.store)
    dest = zarr_core.MemoryStore()
    COPIES[how](zarr_core.open_group(session.store), dest)
    there = zarr_core.open_group(dest)
    check(
        {
            name: array[...]
            for name, array in there.members(max_depth=None)
            if hasattr(array, "shape")
        }
    )


def test_members_move_within_a_session(source, repository, session):
    zarr_core.copy(source, session.store)
    root = zarr_core.open_group(session.store)
    root.move("a", "b/c")
    root.move("sharded", "b/sharded")
    check(
        {name.removeprefix("b/c/").removeprefix("b/"): values
         for name, values in read_back(repository, session).items()
         if name.startswith("b/")},
        names=("field", "sharded"),
    )  # fmt: skip


def test_copies_into_an_existing_group(source, repository, session):
    root = zarr_core.create_group(session.store, attributes={"old": True})
    root.create_array("mine", data=[1, 2])
    zarr_core.copy_all(source, root)
    zarr_core.copy(source["a"], root, if_exists="replace")
    found = read_back(repository, session)
    assert found.pop("mine").tolist() == [1, 2]
    found["a/field"]
    check(found)


@pytest.mark.parametrize("layout", [{}, {"chunks": (4, 9)}, {"compressors": "gzip"}])
def test_a_hierarchy_is_converted_into_a_session(repository, session, layout, tmp_path):
    conversion = pytest.importorskip("zarr_transfer")
    root = zarr_core.create_group(tmp_path / "v2.zarr", zarr_format=2, attributes={"title": "v2"})
    root.create_array("a/field", data=VALUES, chunks=(7, 6), compressors="zstd")
    conversion.convert(tmp_path / "v2.zarr", session.store, chunk_key_encoding="default", **layout)
    store = session.store
    assert np.array_equal(read_back(repository, session)["a/field"], VALUES)
    back = zarr_core.MemoryStore()
    conversion.convert(store, back, zarr_format=2)
    assert np.array_equal(zarr_core.open_array(back, path="a/field")[...], VALUES)


class Refusing(IcechunkStore):
    """Fails at the n-th value that is stored."""

    left = 0

    def set(self, key, value):
        self.left -= 1
        if not self.left:
            raise StoreError("refused for this test", self, key)
        super().set(key, value)


@pytest.mark.parametrize("how", sorted(COPIES.keys() - {"copy_store"}))
def test_a_copy_that_fails_is_removed(source, session, how):
    kept = zarr_core.create_array(session.store, path="kept/x", data=[1, 2])
    below = Refusing(session.store, "copies")
    for number in range(1, 60):
        below.left = number
        try:
            COPIES[how](zarr_core.open_group(source.store), below)
        except ZarrError as error:
            notes = "\n".join(getattr(error, "__notes__", ()))
            # The last thing that copy_all stores are the attributes of the group.
            complete = how == "copy_all" and "'/': this new group is kept" in notes
            assert complete or list(below.list()) == [], (number, notes)
        if below.left > 0:
            break
        below.erase_prefix("")
    assert number > 10
    assert kept[...].tolist() == [1, 2]


def test_failed_copy_of_keys_reports_existing_keys(source, session):
    store = Refusing(session.store)
    store.left = 10
    with pytest.raises(StoreError, match=r"refused.*") as info:
        zarr_core.copy_store(source.store, store)
    (note,) = info.value.__notes__
    assert "keys are copied, and arrays may lack chunks" in note
    zarr_core.copy_store(source.store, store, if_exists="update")
    assert np.array_equal(zarr_core.open_array(store, path="a/field")[...], VALUES)


def test_sessions_receive_no_consolidated_metadata(session, source):
    zarr_core.consolidate_metadata(source)
    copied = zarr_core.copy(zarr_core.open_group(source.store), session.store)
    assert copied.metadata.consolidated is None
    copied.create_array("later", data=VALUES)
    assert "later" in zarr_core.open_group(session.store)


@pytest.mark.parametrize("mode", ["w", "a"])
def test_datasets_in_sessions_are_not_consolidated(session, mode):
    xarray, zarr_xarray = pytest.importorskip("xarray"), pytest.importorskip("zarr_xarray")
    dataset = xarray.Dataset({"t": ("x", VALUES[0].astype("f4"))})
    with pytest.raises(zarr_core.errors.StoreCapabilityError, match="pass consolidated=False"):
        zarr_xarray.to_zarr(dataset, session.store, mode=mode, consolidated=True)
    assert list(IcechunkStore(session.store).list()) == []
    zarr_xarray.to_zarr(dataset, session.store, mode=mode)
    assert zarr_core.open_group(session.store).metadata.consolidated is None
    tree = xarray.DataTree.from_dict({"/below": dataset})
    zarr_xarray.to_zarr(tree, session.store, group="tree", mode=mode)
    assert zarr_core.open_group(session.store, path="tree").metadata.consolidated is None
