"""Arguments of zarr-python 2: the same effect, or an error that says what to do."""

import inspect
import json

import numpy as np
import pytest
import zarr_compat.api as zarr
from zarr_compat.v2_arguments import V2_ARGUMENTS


def document(array, name=".zarray"):
    return json.loads(bytes(array.core.store.get(name)))


def test_a_compressor_is_the_only_one_of_the_compressors():
    gzip = {"name": "gzip", "configuration": {"level": 1}}
    array = zarr.zeros((4, 4), dtype="i4", compressor=gzip)
    assert [codec.name for codec in array.core.codecs] == ["bytes", "gzip"]
    assert zarr.zeros(4, compressor=None).compressors == ()
    assert zarr.zeros(4, compressor="default").core.codecs == zarr.zeros(4).core.codecs


def test_the_separator_goes_into_the_keys_of_the_format():
    for zarr_format, expected in ((2, "0/0"), (3, "c.0.0")):
        separator = "/" if zarr_format == 2 else "."
        array = zarr.ones(
            (2, 2), dtype="i1", dimension_separator=separator, zarr_format=zarr_format,
            write_empty_chunks=True,
        )  # fmt: skip
        array[...] = 1
        assert array.core.store.exists(expected)


@pytest.mark.parametrize("filters", [None, "auto", []])
def test_the_codec_of_objects_takes_the_place_of_the_serializer(filters):
    numcodecs = pytest.importorskip("numcodecs")
    array = zarr.empty(
        3, dtype=object, object_codec=numcodecs.JSON(), zarr_format=2, filters=filters
    )
    array[:2] = np.array(["a", {"b": [1]}], dtype=object)
    assert document(array)["filters"][0]["id"] == "json2"
    assert array[:2].tolist() == ["a", {"b": [1]}]


def test_elements_are_arrays_of_differing_lengths():
    pytest.importorskip("numcodecs")
    array = zarr.empty(3, dtype="array:i2", zarr_format=2)
    array[0] = np.array([1, 3, 5])
    array.oindex[1] = [4]
    assert document(array)["filters"] == [{"id": "vlen-array", "dtype": "<i2"}]
    assert [part.tolist() for part in array[...]] == [[1, 3, 5], [4], []]


def test_one_object_is_stored_as_it_is():
    numcodecs = pytest.importorskip("numcodecs")
    array = zarr.empty(4, dtype=object, object_codec=numcodecs.JSON(), zarr_format=2)
    array[0], array[1], array[2] = ["a", [1]], {"b": None}, 5
    array[3] = array[0]
    assert array[...].tolist() == [["a", [1]], {"b": None}, 5, ["a", [1]]]


def test_no_fill_value_is_none_where_a_format_has_a_word_for_it():
    assert zarr.create(3, fill_value=None, zarr_format=2).fill_value is None
    assert document(zarr.create(3, fill_value=None, zarr_format=2))["fill_value"] is None
    assert zarr.create(3, zarr_format=2).fill_value == 0
    assert zarr.create(3, fill_value=None, zarr_format=3).fill_value == 0


def test_all_codecs_at_once():
    array = zarr.create(4, dtype="i2", codecs=["bytes", "gzip", "crc32c"])
    assert [codec.name for codec in array.codecs] == ["bytes", "gzip", "crc32c"]


def test_arguments_without_effect_are_accepted():
    words = {"cache_attrs": True, "cache_metadata": True, "partial_decompress": False}
    array = zarr.create(4, **words, meta_array=None, chunk_store=None)
    assert zarr.open(array.store, cache_attrs=True, synchronizer=None).shape == (4,)
    assert zarr.open_group(mode="w", cache_attrs=True, chunk_store=None) is not None


@pytest.mark.parametrize(
    ("word", "value", "instead"),
    [
        ("cache_metadata", "no", "True or False"),
        ("chunk_store", {}, "one store"),
        ("meta_array", np.empty(()), "NumPy"),
        ("compression", "gzip", "compressors"),
        ("compression_opts", 4, "level"),
    ],
)
@pytest.mark.parametrize("make", [lambda **word: zarr.create(4, **word), zarr.open_group])
def test_impossible_requests_raise_with_advice(word, value, instead, make):
    with pytest.raises(TypeError, match=instead):
        make(**{word: value})


def test_metadata_that_is_not_cached_is_read_again(tmp_path):
    writer = zarr.create(4, store=tmp_path / "a", cache_metadata=False, cache_attrs=False)
    reader = zarr.open_array(tmp_path / "a", mode="r", cache_metadata=False)
    group = zarr.group(tmp_path, cache_attrs=False)
    other = zarr.open(tmp_path / "a")
    other.resize(9)
    zarr.open_group(tmp_path).attrs["n"] = 1
    assert (writer.shape, reader.shape, dict(group.attrs)) == ((9,), (9,), {"n": 1})
    assert reader[:].shape == (9,)


def test_both_names_of_one_thing_are_rejected():
    with pytest.raises(TypeError, match="pass compressors only"):
        zarr.create(4, compressor=None, compressors="gzip")


def test_no_present_argument_has_an_older_name():
    for function in (zarr.open, zarr.open_array, zarr.open_group, zarr.create_array):
        assert V2_ARGUMENTS.isdisjoint(inspect.signature(function).parameters)


def test_arguments_of_groups_and_trees():
    group = zarr.group({})
    group.create_array("g/x", shape=2)
    assert [path for path, _ in group.arrays(recurse=True)] == ["g/x"]
    assert [*group.array_keys(recurse=False)] == []
    assert str(group.tree(expand=True)) == str(zarr.tree(group, expand=False, level=None))
    assert not group["g/x"].is_view


def test_a_loaded_group_reads_its_arrays_when_they_are_accessed(tmp_path):
    zarr.save_group(tmp_path / "g", a=np.arange(3), b=np.ones(2))
    zarr.create_group(tmp_path / "g", path="below")
    loaded = zarr.load(tmp_path / "g")
    assert (sorted(loaded), len(loaded), "a" in loaded, "c" in loaded) == (
        ["a", "b"],
        2,
        True,
        False,
    )
    assert repr(loaded).endswith("a, b)")
    zarr.open(tmp_path / "g", path="a")[...] = 7
    assert type(loaded["a"]) is np.ndarray
    assert loaded["a"].tolist() == [7, 7, 7]
    with pytest.raises(KeyError):
        loaded["below"]
    assert zarr.load(tmp_path, "g/b").tolist() == [1, 1]


def test_objects_of_h5py_are_copied(tmp_path):
    h5py = pytest.importorskip("h5py")
    group = zarr.group(tmp_path / "a.zarr")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["g/x"] = np.arange(4)
        copied = zarr.copy(file["g"], group)
        assert isinstance(copied, zarr.Group)
        assert copied["x"][:].tolist() == [0, 1, 2, 3]
        assert zarr.copy(group["g/x"], file, "y").name == "/y"
        assert zarr.copy_all(file, group, if_exists="skip") == (1, 1, 32)
        assert zarr.copy_all(group, file["g"], if_exists="replace") == (3, 0, 64)
        assert sorted(file["g"]) == ["g", "x", "y"]
