"""Contents of the store after a failed write."""

import numpy as np
import pytest
import xarray as xr
import zarr_core
import zarr_xarray
from failing_store import FailingStore
from zarr_core.errors import StoreError, ZarrError

VALUES = np.arange(1.0, 37).reshape(6, 6)


def dataset():
    coords = {"x": np.arange(6) * 2.5}
    return xr.Dataset({"one": (("x", "y"), VALUES), "two": (("x", "y"), -VALUES)}, coords)


def write(store, data=None, **options):
    return zarr_xarray.to_zarr(dataset() if data is None else data, store, **options)


def contents_of(store):
    return {key: bytes(store.get(key)) for key in store.list()}


def notes_of(error):
    errors = [error] if error.__cause__ is None else [error, error.__cause__]
    return "\n".join(note for one in errors for note in getattr(one, "__notes__", ()))


class FullStore(FailingStore):
    """A store without space for the chunks of one variable."""

    full = "two/"

    def set(self, key, value):
        name = key.rpartition("/")[2]
        if self.full in key and name[0] != "." and name != "zarr.json":
            raise StoreError("no space left on device", self, key)
        super().set(key, value)


TREE = xr.DataTree.from_dict({"/": xr.Dataset({"zero": ("z", [1, 2])}), "/deep/er": dataset()})
WRITES = {
    "new": ({}, dataset()),
    "group": ({"group": "a/b"}, dataset()),
    "not consolidated": ({"group": "a/b", "consolidated": False}, dataset()),
    "dask": ({"group": "a"}, dataset().chunk({"x": 3})),
    "tree": ({}, TREE),
}


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("how", WRITES)
def test_failed_write_leaves_nothing(how, zarr_format):
    options, data = WRITES[how]
    store = zarr_core.MemoryStore()
    with pytest.raises(StoreError, match="no space left") as info:
        write(FullStore(store), data, zarr_format=zarr_format, **options)
    assert contents_of(store) == {}, notes_of(info.value)
    write(store, data, zarr_format=zarr_format, **options)


@pytest.mark.parametrize("chunks", [None, {"x": 3}], ids=["memory", "dask"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_failed_write_keeps_existing_contents(zarr_format, chunks):
    store = zarr_core.MemoryStore()
    write(store, xr.Dataset({"old": ("z", [1, 2])}, attrs={"a": 1}), zarr_format=zarr_format)
    data = dataset() if chunks is None else dataset().chunk(chunks)
    for options in ({"mode": "a"}, {"group": "new/er"}):
        with pytest.raises(StoreError, match="no space left"):
            write(FullStore(store), data, **options)
        assert not zarr_core.check_consolidated(zarr_core.open_group(store))
        assert [path for path, _ in zarr_core.open_group(store).members(max_depth=None)] == ["old"]
    write(store, data, mode="a")
    assert np.array_equal(zarr_core.open_array(store, path="two")[...], -VALUES)


def test_notes_list_overwritten_and_resized_nodes():
    store = zarr_core.MemoryStore()
    write(store, group="a")
    with pytest.raises(StoreError) as info:
        write(FullStore(store), group="a", append_dim="x")
    assert "'/a/two': was resized from (6, 6) to (12, 6)" in notes_of(info.value)
    with pytest.raises(StoreError) as info:
        write(FullStore(store), group="a", mode="w")
    assert "'/a': the previous node has been removed" in notes_of(info.value)
    assert not store.exists("a/zarr.json")


@pytest.mark.parametrize("options", [{}, {"group": "a/b"}])
def test_notes_list_everything_that_remains(options):
    counted = FailingStore(zarr_core.MemoryStore())
    write(counted, **options)
    for number in range(1, len(counted.calls) + 1):
        for when in ("before", "after"):
            store = zarr_core.MemoryStore()
            try:
                write(FailingStore(store, fail_at=number, when=when), **options)
            except (ZarrError, FileExistsError) as error:
                notes = notes_of(error)
                for key in store.list():
                    node = "/" + key.rpartition("/")[0]
                    assert repr(key) in notes or repr(node) in notes, (number, when, key, notes)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_mode_a_continues_a_tree_whose_writer_was_killed(zarr_format):
    counted = FailingStore(zarr_core.MemoryStore())
    write(counted, TREE, zarr_format=zarr_format)
    for number in range(1, len(counted.calls) + 1):
        store = zarr_core.MemoryStore()
        with pytest.raises(StoreError):
            write(FailingStore(store, number, forever=True), TREE, zarr_format=zarr_format)
        write(store, TREE, mode="a", zarr_format=zarr_format)
        with xr.open_datatree(store, engine="zarr_core") as tree:
            xr.testing.assert_equal(tree.load(), TREE)
        assert not zarr_core.check_consolidated(zarr_core.open_group(store))
