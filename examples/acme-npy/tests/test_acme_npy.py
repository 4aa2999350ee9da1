"""The conformance tests; files that NumPy reads and writes."""

import io
import json

import numpy as np
import pytest
import zarr_core as zarr
from zarr_conformance.kit import ArrayToBytesCodecTests, FormatTests
from zarr_core.extension import strictjson


class TestFormat(FormatTests):
    name = "acme-npy"


class TestCodec(ArrayToBytesCodecTests):
    name = "acme.npy"
    data_types = ["bool", "int8", "uint16", "int64", "float16", "float64", "complex64"]


def saved(array, version=None):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version, allow_pickle=True)
    return file.getvalue()


def folder(files, **members):
    """A store with files that NumPy wrote."""
    store = zarr.MemoryStore()
    store.set("blocks.json", json.dumps(members).encode())
    for name, block in files.items():
        store.set(f"{name}.npy", block)
    return store


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (1, 200), (2,) * 10])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float64", "complex128"])
def test_files_equal_those_of_numpy(shape, dtype, tmp_path):
    values = np.ones(shape, dtype)
    zarr.create_array(tmp_path / "a", data=values, chunks=shape, zarr_format="acme-npy")
    name = ".".join("0" for _ in shape) or "0"
    assert (tmp_path / "a" / f"{name}.npy").read_bytes() == saved(values, (1, 0))


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("dtype", ["<i2", ">i2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_files_of_numpy_are_read(version, dtype, order):
    values = np.arange(12, dtype=dtype).reshape(3, 4)
    block = saved(np.array(values, order=order), version)
    store = folder({"0.0": block}, shape=[3, 4], blocks=[3, 4], dtype="int16")
    assert np.array_equal(zarr.open_array(store)[...], values)


def test_blocks_of_a_simulation_form_one_array():
    field = np.random.default_rng(0).random((10, 7))
    blocks = {
        f"{row}.{column}": saved(field[4 * row : 4 * row + 4, 5 * column : 5 * column + 5])
        for row in range(3)
        for column in range(2)
    }  # the last blocks are shorter, as such programs write them
    del blocks["1.0"]
    members = {"shape": [10, 7], "blocks": [4, 5], "dtype": "float64", "fill_value": "NaN"}
    array = zarr.open_array(folder(blocks, **members), mode="r+")
    field[4:8, :5] = np.nan
    assert np.array_equal(array[...], field, equal_nan=True)
    array[8:, 6:] = field[8:, 6:] = 5
    assert np.array_equal(array[7:, 1:], field[7:, 1:], equal_nan=True)


@pytest.mark.parametrize(
    "block",
    [
        b"",
        saved(np.zeros((2, 2), "int32")),
        saved(np.zeros((3, 2), "int16")),
        saved(np.zeros(2, "int16")),
        saved(np.zeros((2, 2), "int16"))[:-1],
        saved(np.array([[object()]])),
        saved(np.zeros((2, 2), [("a", "i2")])),
        saved(np.zeros((2, 2), "int16")).replace(b"(2, 2), }", b"print(1)}"),
    ],
    ids=["empty", "type", "larger", "dimensions", "cut", "pickled", "fields", "code"],
)
def test_other_files_are_rejected(block):
    store = folder({"0.0": block}, shape=[2, 2], blocks=[2, 2], dtype="int16")
    with pytest.raises(zarr.errors.ChunkDecodeError, match=r"0\.0\.npy"):
        zarr.open_array(store)[...]


def test_unknown_members_are_kept():
    members = {"by": "rank 0 of 6", "shape": [4], "dtype": "int16", "blocks": [2]}
    store = folder({}, **members)
    array = zarr.open_array(store, mode="r+")
    array.attrs["units"] = "K"
    array.resize(5)
    expected = {**members, "shape": [5], "attributes": {"units": "K"}}
    assert bytes(store.get("blocks.json")) == strictjson.encode(expected)


@pytest.mark.parametrize(
    ("options", "pointer"),
    [
        ({"compressors": "gzip"}, "/codecs"),
        ({"order": "F"}, "/codecs"),
        ({"dtype": "r24"}, "/data_type"),
        ({"dimension_names": ["y", "x"]}, "/dimension_names"),
        ({"chunk_key_encoding": "default"}, "/chunk_key_encoding"),
        ({"chunks": [[1, 3], 2]}, "/chunk_grid"),
    ],
)
def test_unsupported_metadata_is_rejected(options, pointer):
    options = {"shape": (4, 4), "dtype": "int16", **options}
    with pytest.raises(zarr.errors.MetadataValidationError) as caught:
        zarr.create_array(zarr_format="acme-npy", **options)
    assert [problem.pointer for problem in caught.value.problems] == [pointer]


def test_a_fill_value_of_another_type_is_rejected():
    members = {"shape": [4], "dtype": "int16", "blocks": [2], "fill_value": 1.5}
    with pytest.raises(zarr.errors.MetadataValidationError) as caught:
        zarr.open_array(folder({}, **members))
    assert [problem.pointer for problem in caught.value.problems] == ["/fill_value"]
