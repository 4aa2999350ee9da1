"""Saving, modes, orders and pickles as programs for zarr-python use them."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from zarr_compat import api as zarr
from zarr_compat import errors, storage

ELEMENTS = np.arange(12, dtype="i4").reshape(3, 4)

READ_IN_ANOTHER_PROCESS = """
import pickle, sys
array = pickle.load(sys.stdin.buffer)
print(array[...].tolist())
try:
    array[0] = 9
except ValueError as error:
    print("read_only" in str(error))
"""


def test_save_group_replaces_the_group(tmp_path):
    zarr.save(tmp_path / "a", a=np.arange(3), b=np.arange(2))
    zarr.save(tmp_path / "a", np.zeros(1), a=np.arange(4))
    loaded = zarr.load(tmp_path / "a")
    assert {name: values.tolist() for name, values in loaded.items()} == {
        "a": [0, 1, 2, 3],
        "arr_0": [0],
    }


@pytest.mark.parametrize("word", ["zarr_format", "zarr_version"])
def test_save_in_version_2(tmp_path, word):
    zarr.save_group(tmp_path / "g", a=np.arange(3), **{word: 2})
    zarr.save(tmp_path / "g", np.arange(2), path="b", **{word: 2})
    assert sorted(path.name for path in tmp_path.rglob(".z*")) == [".zarray", ".zarray", ".zgroup"]


def test_save_raises_before_anything_is_removed(tmp_path):
    zarr.save(tmp_path / "a", a=np.arange(3))
    with pytest.raises(ValueError, match="at least one array"):
        zarr.save(tmp_path / "a")
    with pytest.raises(TypeError, match="'b' is not a NumPy array"):
        zarr.save(tmp_path / "a", b=[1])
    with pytest.raises(ValueError, match="two arrays have one name"):
        zarr.save(tmp_path / "a", np.arange(3), arr_0=np.arange(3))
    with pytest.raises(TypeError, match="NDArrayLike"):
        zarr.save(tmp_path / "a", [1])
    with pytest.raises(FileExistsError):
        zarr.save(tmp_path / "a", np.arange(3))
    assert list(zarr.load(tmp_path / "a")) == ["a"]


@pytest.mark.parametrize(
    "create",
    [
        lambda place: zarr.open_group(place, mode="w"),
        lambda place: zarr.open(place, mode="w"),
        lambda place: zarr.open_array(place, mode="w", shape=3),
        lambda place: zarr.create_array(place, shape=3, dtype="i4", overwrite=True),
        lambda place: zarr.group(place, overwrite=True),
    ],
)
@pytest.mark.parametrize("first", ["array", "group", None])
def test_overwriting_refuses_to_remove_other_files(tmp_path, create, first):
    if first == "array":
        zarr.create_array(tmp_path / "a", data=np.arange(4.0), chunks=2, zarr_format=2)
    elif first == "group":
        zarr.open_group(tmp_path / "a").create_array("t", data=np.array(["x", "yz"]))
    (tmp_path / "a" / "raw").mkdir(parents=True)
    (tmp_path / "a" / "raw" / "notes.txt").write_text("mine")
    files = sorted((tmp_path / "a").rglob("*"))
    with pytest.raises(errors.ContainsNodeError, match=r"raw/notes\.txt.*move it, or choose"):
        create(tmp_path / "a")
    assert sorted((tmp_path / "a").rglob("*")) == files


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_removing_refuses_to_remove_other_files(tmp_path, zarr_format):
    root = zarr.open_group(tmp_path, zarr_format=zarr_format)
    root.create_array("g/t", data=np.ones((3, 3), "i2"), chunks=(2, 2))
    (tmp_path / "g" / "t" / "notes.txt").write_text("mine")
    files = sorted(tmp_path.rglob("*"))
    for remove in (
        lambda: root.__delitem__("g/t"),
        lambda: root.__delitem__("g"),
        lambda: root["g"].clear(),
    ):
        with pytest.raises(ValueError, match="notes.txt"):
            remove()
    assert sorted(tmp_path.rglob("*")) == files


def test_overwriting_removes_nothing_if_the_arguments_are_invalid(tmp_path):
    zarr.save(tmp_path / "x", np.arange(3))
    (tmp_path / "x" / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="is an array"):
        zarr.create_group(tmp_path, path="x/c", overwrite=True)
    with pytest.raises(errors.UnknownCodecError):
        zarr.create_array(tmp_path / "x", shape=3, dtype="i4", compressors="no", overwrite=True)
    assert zarr.load(tmp_path / "x").tolist() == [0, 1, 2]
    assert (tmp_path / "x" / "notes.txt").exists()


@pytest.mark.parametrize(
    ("options", "setting", "order"),
    [
        ({"order": "F"}, "C", "F"),
        ({"order": None}, "C", "C"),
        ({"order": None}, "F", "F"),
        ({"order": "C"}, "F", "C"),
        ({"config": {"order": "F"}}, "C", "F"),
        ({"config": {"order": "F"}, "order": "C"}, "F", "C"),
    ],
)
def test_order_of_version_2(options, setting, order):
    with zarr.config.set({"array.order": setting}):
        array = zarr.create((3, 4), chunks=(2, 2), dtype="i4", zarr_format=2, **options)
    array[:] = ELEMENTS
    assert (array.order, array.metadata.order) == (order, order)
    for found, expected in ((array[:], ELEMENTS), (array[1:, :2], ELEMENTS[1:, :2])):
        assert found.flags.f_contiguous == (order == "F")
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("order", ["C", "F", None])
@pytest.mark.parametrize("config", ["C", "F"])
def test_order_of_results_of_version_3(order, config):
    array = zarr.create(
        (3, 4), chunks=(2, 2), dtype="i4", zarr_format=3, order=order, config={"order": config}
    )
    array[:] = ELEMENTS
    assert array.order == config
    assert array[:].flags.f_contiguous == (config == "F")
    assert [codec.name for codec in array.core.filters] == []


def test_two_versions_raise():
    with pytest.raises(ValueError, match="does not match zarr_version"):
        zarr.zeros(3, zarr_version=2, zarr_format=3)
    assert zarr.open_group({}, mode="w", zarr_version=2).metadata.zarr_format == 2


def spelled(shuffle):
    """Return the name of a shuffle: an enumeration, in zarr-python 3.4 a string."""
    return getattr(shuffle, "value", shuffle)


def test_blosc_of_zarr_python_takes_the_size_of_elements(alias):
    from zarr.codecs import BloscCodec

    assert spelled(BloscCodec().shuffle) == "bitshuffle"
    for dtype, shuffle in (("i4", "shuffle"), ("i1", "bitshuffle")):
        array = alias.create_array({}, shape=3, dtype=dtype, compressors=BloscCodec())
        assert spelled(array.compressors[0].shuffle) == shuffle
        assert array.compressors[0].typesize == np.dtype(dtype).itemsize


def test_blosc_takes_the_size_of_elements_that_zarr_python_does_not_know(alias, monkeypatch):
    """A registered third-party data type may raise an error when any data type is looked up."""
    from zarr.codecs import BloscCodec
    from zarr_compat import arguments

    def fail(*_, **__):
        raise LookupError("zarr-python does not have the data type")

    monkeypatch.setattr(arguments, "parse_dtype", fail)
    array = alias.create_array({}, shape=3, dtype="i4", compressors=BloscCodec())
    assert spelled(array.compressors[0].shuffle) == "shuffle"
    assert array.compressors[0].typesize == 4


def test_memory_pickles_within_the_process():
    group = zarr.open_group(storage.MemoryStore(), mode="w")
    group["a"] = np.arange(3)
    again = pickle.loads(pickle.dumps(group))
    assert again == group
    assert again.store == group.store
    again["a"][0] = 9
    assert group["a"][...].tolist() == [9, 1, 2]
    values = pickle.dumps(zarr.array(np.arange(3)))  # of a store that exists no longer
    remade = pickle.loads(values)
    remade[0] = 5
    assert remade[...].tolist() == [5, 1, 2]


def test_memory_is_read_only_in_another_process():
    array = zarr.open_array({}, mode="w", shape=2, dtype="i4")
    run = subprocess.run(
        [sys.executable, "-c", READ_IN_ANOTHER_PROCESS],
        input=pickle.dumps(array), capture_output=True, check=True,
    )  # fmt: skip
    assert run.stdout.split(b"\n")[:2] == [b"[0, 0]", b"True"]
