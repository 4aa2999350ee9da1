"""Groups as mappings and context managers; their methods for creating arrays."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import StoreCapabilityError
from zarr_core.extension import StoreTraits


@pytest.fixture
def root():
    root = zarr.group()
    root.zeros("a/b", shape=3, dtype="i2")
    root.array("a/c", np.arange(4))
    root.create_group("d")
    return root


def test_arrays_are_created_with_a_value(root):
    assert root.ones("y", shape=2)[...].tolist() == [1, 1]
    assert root.full("z", 7, shape=2, dtype="i1")[...].tolist() == [7, 7]
    assert root.empty("e", shape=2).shape == (2,)
    assert root["a"].require_group("/") == root["a"]
    with pytest.raises(ValueError, match="requires a name"):
        root.zeros("", shape=3)


def test_a_group_is_a_dictionary(root):
    assert sorted(root.keys()) == root._ipython_key_completions_() == ["a", "d"]
    assert [path for path, _ in root.items()] == ["a", "d"]
    assert root.get("nothing") is None
    root.update({"n": np.arange(2)}, m=[1.5])
    assert root["n"][1] == 1
    assert root.pop("m").path == "m"
    assert "m" not in root


def test_creating_in_a_store_without_erase():
    class Archive(zarr.MemoryStore):
        traits = StoreTraits(supports_erasing=False)

        def erase(self, key):
            raise AssertionError(key)

    group = zarr.open_group(Archive(), "w")
    group["x"] = np.arange(3)
    assert group["x"][2] == 2
    with pytest.raises(StoreCapabilityError, match="cannot remove"):
        group["x"] = np.arange(3)


def test_a_group_closes_its_store():
    closed = []

    class Store(zarr.MemoryStore):
        def close(self):
            closed.append(self)

    with zarr.group(Store()) as group:
        group["x"] = np.arange(3)
    assert closed == [group.store]


def test_a_group_is_opened_or_recreated(tmp_path):
    zarr.group(tmp_path / "g").attrs["a"] = 1
    assert zarr.group(tmp_path / "g").attrs["a"] == 1
    assert zarr.group(tmp_path / "g", overwrite=True).attrs.asdict() == {}


def test_arrays_are_saved_alone_or_below_a_group(tmp_path):
    zarr.create_array(tmp_path / "a", data=np.arange(3), compressors=None)
    assert zarr.load(tmp_path / "a").tolist() == [0, 1, 2]
    zarr.save(tmp_path / "g", np.arange(2), x=[5])
    assert {name: v.tolist() for name, v in zarr.load(tmp_path / "g").items()} == {
        "arr_0": [0, 1],
        "x": [5],
    }
    assert "arr_0" in str(zarr.open_group(tmp_path / "g").tree())
