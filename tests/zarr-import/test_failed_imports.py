"""Contents of the store and notes after a failed import."""

import numpy as np
import pytest
import zarr_core
import zarr_import
from failing_store import FailingStore
from zarr_core.errors import StoreError, ZarrError
from zarr_import.errors import UnsupportedSourceError

VALUES = np.arange(1, 37).reshape(6, 6)


@pytest.fixture
def run_import(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        for name in ("one", "deep/two"):
            file.create_dataset(name, data=VALUES, chunks=(3, 3))

    def work(store, **options):
        zarr_import.import_hdf5(tmp_path / "x.h5", store, path="a/b", **options)

    return work


class FirstStore(FailingStore):
    """A store that requires metadata documents before chunks."""

    def __init__(self, inner, *args, **kwargs):
        super().__init__(inner, *args, **kwargs)
        self.traits = self.traits._replace(metadata_first=True)


@pytest.mark.parametrize("kind", [FailingStore, FirstStore])
def test_notes_list_incomplete_nodes(run_import, kind):
    counted = kind(zarr_core.MemoryStore())
    run_import(counted)
    for number in range(1, len(counted.calls) + 1):
        store = zarr_core.MemoryStore()
        try:
            run_import(kind(store, fail_at=number))
        except ZarrError as error:
            notes = "\n".join(getattr(error, "__notes__", ()))
        else:
            continue  # the import succeeds without this call
        if left := list(store.list()):
            assert kind is FailingStore, (number, left)
            assert "'/a/b': is incomplete; import again, without overwrite, to continue" in notes
            assert not store.exists("a/b/zarr.json")
        run_import(store)
        for name, array in zarr_core.open_group(store, path="a/b").arrays():
            assert np.array_equal(array[...], VALUES), name


def test_overwrite_removes_after_planning(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["__reserved"] = VALUES
    store = zarr_core.MemoryStore()
    zarr_core.create_array(store, path="a", data=VALUES)
    with pytest.raises(UnsupportedSourceError, match="__reserved"):
        zarr_import.import_hdf5(tmp_path / "x.h5", store, path="a", overwrite=True)
    assert np.array_equal(zarr_core.open_array(store, path="a")[...], VALUES)


def test_notes_list_overwritten_nodes(run_import):
    class Full(zarr_core.MemoryStore):
        def set(self, key, value):
            if "/c/" in key:
                raise StoreError("no space left on device", self, key)
            super().set(key, value)

    store = Full()
    zarr_core.create_group(store, path="a/b", attributes={"old": 1})
    with pytest.raises(StoreError) as info:
        run_import(store, overwrite=True)
    assert "'/a/b': the previous node has been removed" in "\n".join(info.value.__notes__)
