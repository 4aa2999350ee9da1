"""Known defects of other libraries, which this library must not have."""

import contextlib
import os
import pickle
from collections.abc import MutableMapping

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import (
    MetadataValidationError,
    NodeNotFoundError,
    StoreError,
    UnknownExtensionError,
)


def test_a_failed_attribute_does_not_poison_the_object():
    array = zarr.create_array(shape=4, dtype="int8")
    with pytest.raises(MetadataValidationError):
        array.attrs["a"] = object()
    array.attrs["b"] = 1
    array.resize(6)
    assert (array.attrs.asdict(), array.shape) == ({"b": 1}, (6,))


def test_numpy_scalars_are_attributes():
    group = zarr.create_group()
    group.attrs["a"] = np.int64(1)
    assert zarr.open(group.store).attrs["a"] == 1
    assert type(group.attrs["a"]) is int


@pytest.mark.parametrize("opener", [zarr.open, zarr.open_group, zarr.open_consolidated, zarr.load])
def test_a_misspelt_path_creates_no_empty_group(opener, tmp_path):
    with pytest.raises(NodeNotFoundError):
        opener(tmp_path / "typo")
    assert os.listdir(tmp_path) == []


def test_nodes_are_copied_moved_loaded(tmp_path):
    root = zarr.create_group(tmp_path / "a")
    root.create_array("x", data=np.arange(3))
    assert zarr.copy(root["x"], root, "y")[...].tolist() == [0, 1, 2]
    zarr.copy_all(root, tmp_path / "b")
    assert zarr.copy_store(tmp_path / "a", tmp_path / "c")[0] == 5
    root.move("y", "z")
    loaded = zarr.load(root)
    assert {name: values.tolist() for name, values in loaded.items()} == {
        "x": [0, 1, 2],
        "z": [0, 1, 2],
    }
    assert sorted(zarr.load(tmp_path / "b")) == ["x", "y"]


def test_memory_is_not_lost_in_another_process():
    # Another process would write to a copy.
    array = zarr.create_array(shape=4, dtype="int8")
    with pytest.raises(StoreError, match="its work would be lost"):
        pickle.dumps(array)
    with pytest.raises(StoreError, match="its work would be lost"):
        pickle.dumps(zarr.create_group())


def test_a_zip_path_is_not_a_directory(tmp_path):
    with contextlib.suppress(UnknownExtensionError):  # without its distribution
        zarr.save(tmp_path / "x.zip", np.arange(3))
        assert zarr.load(tmp_path / "x.zip").tolist() == [0, 1, 2]
    assert not (tmp_path / "x.zip").is_dir()


class Mapping(MutableMapping):
    """A mapping of files as in fsspec, which is not a dictionary."""

    def __init__(self, root):
        self.root = root

    def __getitem__(self, key):
        try:
            return (self.root / key).read_bytes()
        except FileNotFoundError:
            raise KeyError(key) from None

    def __setitem__(self, key, value):
        (self.root / key).parent.mkdir(parents=True, exist_ok=True)
        (self.root / key).write_bytes(value)

    def __delitem__(self, key):
        try:
            (self.root / key).unlink()
        except FileNotFoundError:
            raise KeyError(key) from None

    def __iter__(self):
        return (str(p.relative_to(self.root)) for p in self.root.rglob("*") if p.is_file())

    def __len__(self):
        return sum(1 for _ in self)


def test_any_mapping_is_a_store(tmp_path):
    root = zarr.open_group(Mapping(tmp_path), "a")
    root.create_array("x", data=np.arange(4), chunks=2)
    assert zarr.open(tmp_path)["x"][...].tolist() == [0, 1, 2, 3]
    assert zarr.open(Mapping(tmp_path), path="x")[3] == 3


def test_a_tree_of_one_level_has_one_level():
    root = zarr.create_group()
    root.create_array("a/b", shape=1)
    assert "b" not in repr(root.tree(level=1))
    assert "b" in repr(root.tree(level=2))


def test_the_storage_ratio_is_that_of_what_is_stored():
    array = zarr.create_array(shape=700, chunks=10, shards=100, dtype="int64", compressors=None)
    array[:100] = np.arange(100) + 1
    assert array.info_complete()["Shards stored"] == "1 of 7"
    ratio = float(array.info_complete()["Storage ratio"])
    assert ratio == pytest.approx(800 / array.nbytes_stored(), abs=0.05)
    assert ratio <= 1


def test_everything_shows_itself():
    root = zarr.create_group(attributes={"a": 1})
    array = root.create_array("x", shape=(4, 4), chunks=2, shards=4, dtype="int8")
    assert repr(root.attrs) == "{'a': 1}"
    for part in ("chunks=(2, 2)", "shards=(4, 4)", "int8", "v3"):
        assert part in repr(array)


@pytest.mark.parametrize(
    "options",
    [
        {"compressors": "zstd"},
        {"chunks": 5},
        {"chunks": -1},
        {"chunks": True},
        {"chunks": False},
        {"chunks": None},
        {"chunks": (5, -1)},
        {"chunks": "auto", "shards": "auto"},
        {"dtype": np.dtype("float32")},
        {"dtype": np.dtypes.Float32DType()},
    ],
)
def test_user_input_is_parsed(options):
    array = zarr.create_array(shape=(10, 20), **{"dtype": "float32", **options})
    array[...] = 1
    assert array[...].sum() == 200


def test_numcodecs_objects_are_understood():
    numcodecs = pytest.importorskip("numcodecs")
    array = zarr.create_array(data=np.arange(50), compressors=numcodecs.Zstd())
    assert array[...].tolist() == list(range(50))


def test_numpy_protocols():
    array = zarr.array(np.arange(6).reshape(2, 3))
    assert len(array) == 2
    assert array[::-1, ::-2].tolist() == [[5, 3], [2, 0]]
    assert array[None].shape == (1, 2, 3)
    assert [row.sum() for row in array] == [3, 12]
    out = np.zeros((2, 3), int)
    array.get_basic_selection(out=out)
    assert out.sum() == 15
    assert array[np.array(1)].tolist() == [3, 4, 5]
    assert float(zarr.array(2.5)) == 2.5
    assert hash(array) is not None
    with pytest.raises(TypeError, match="compares locations"):
        array == array[...]  # noqa: B015 - it raises


def test_groups_keep_what_people_knew_from_before():
    root = zarr.create_group()
    root["x"] = np.arange(3)
    assert [name for name, _ in root.items()] == ["x"]
    assert [array.shape for array in root.values()] == [(3,)]
    assert root.pop("x").path == "x"
    root.update({"y": np.zeros(2)})
    assert list(root) == ["y"]
