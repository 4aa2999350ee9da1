"""Metadata of version 3 that are not valid and have one meaning: the warning, and what is written."""

import json
import warnings

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import (
    CodecChainError,
    ExtensionConfigurationError,
    MetadataError,
    MetadataValidationError,
)
from zarr_core.known_extensions import FUNCTIONS


def stored(changes, **options):
    """A store with an array whose document is changed."""
    store = zarr.MemoryStore()
    zarr.create_array(store, **{"shape": 4, "chunks": 2, "dtype": "u2"} | options)
    document = json.loads(bytes(store.get("zarr.json"))) | changes
    store.set("zarr.json", json.dumps(document).encode())
    return store


GZIP = {"name": "gzip", "configuration": {"level": 5.0}}
GRID = {"name": "regular", "configuration": {"chunk_shape": [2]}}
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
FORMS = [
    ({"dimension_names": None}, {}, "dimension_names", ...),
    ({"attributes": None}, {}, "attributes", ...),
    ({"storage_transformers": None}, {}, "storage_transformers", ...),
    ({"fill_value": 1}, {"dtype": "bool"}, "fill_value", True),
    ({"fill_value": 0.0}, {"dtype": "bool"}, "fill_value", False),
    ({"fill_value": 42.0}, {}, "fill_value", 42),
    ({"fill_value": "-12"}, {"dtype": "int8"}, "fill_value", -12),
    ({"fill_value": "0.5"}, {"dtype": "float32"}, "fill_value", 0.5),
    ({"fill_value": "inf"}, {"dtype": "float16"}, "fill_value", "Infinity"),
    ({"shape": [4.0]}, {}, "shape", [4]),
    ({"chunk_grid": {**GRID, "configuration": {"chunk_shape": [2.0]}}}, {}, "chunk_grid", GRID),
    ({"codecs": [{**BYTES, "id": "bytes", "config": {}}]}, {}, "codecs", [BYTES]),
]


@pytest.mark.parametrize(("changes", "options", "member", "valid"), FORMS)
def test_it_is_read_with_a_warning_and_written_in_its_valid_form(changes, options, member, valid):
    store = stored(changes, **options)
    for _ in range(2):
        with pytest.warns(UserWarning, match=f"nonstandard metadata: .*/{member}"):
            array = zarr.open_array(store, mode="r+")
    assert array[...].tolist() == [array.fill_value] * 4
    array.attrs["changed"] = True
    document = json.loads(bytes(store.get("zarr.json")))
    if member != "attributes":
        assert repr(document.get(member, ...)) == repr(valid)
    array.resize(6)
    array[:2] = 1
    assert zarr.open_array(store)[:2].tolist() == [1, 1]  # no warning


def test_errors_name_the_distribution_that_reads_other_forms(monkeypatch):
    for name in ("nonstandard metadata", "nonstandard configurations"):
        monkeypatch.setitem(FUNCTIONS, name, ("zarr-absent", "zarr_absent:read"))
    with pytest.raises(MetadataValidationError, match="/shape/0: must be an integer") as caught:
        zarr.open_array(stored({"shape": [40.0]}))
    (note,) = caught.value.__notes__
    assert "nonstandard metadata needs zarr-absent" in note
    codec = {"name": "bytes", "configuration": {"endian": None}}
    store = stored({"codecs": [codec]}, dtype="int8")
    with pytest.raises(ExtensionConfigurationError, match="endian"):
        zarr.open_array(store)


def test_integers_and_members_within_codecs():
    inner = [BYTES, {**GZIP, "id": "gzip"}]
    shards = {
        "name": "sharding_indexed",
        "configuration": {"chunk_shape": [1.0], "codecs": inner, "index_codecs": [BYTES]},
    }
    blosc = {"cname": "lz4", "clevel": 1, "shuffle": "shuffle", "blocksize": 0}  # no typesize
    for codecs in ([BYTES, GZIP], [shards], [BYTES, {"name": "blosc", "configuration": blosc}]):
        store = stored({"codecs": codecs})
        with pytest.warns(UserWarning, match="nonstandard metadata: "):
            array = zarr.open_array(store, mode="r+")
        array[...] = [1, 2, 3, 4]
        assert array[1:3].tolist() == [2, 3]


def test_a_group_without_node_type_and_with_members():
    store = stored({"dimension_names": None})
    store.set("a/zarr.json", store.get("zarr.json"))
    store.set("zarr.json", b'{"zarr_format": 3, "attributes": {"x": 1}}')
    with pytest.warns(UserWarning, match="/node_type is missing"):
        group = zarr.open_group(store, mode="r+")
    with pytest.warns(UserWarning, match="/dimension_names is null"):
        assert [name for name, _ in group.members()] == ["a"]
    group.attrs["y"] = 2
    assert json.loads(bytes(store.get("zarr.json"))) == {
        "zarr_format": 3,
        "node_type": "group",
        "attributes": {"x": 1, "y": 2},
    }


@pytest.mark.parametrize(
    ("changes", "options"),
    [
        ({"fill_value": "false"}, {"dtype": "bool"}),
        ({"fill_value": 2}, {"dtype": "bool"}),
        ({"fill_value": 0.5}, {}),
        ({"fill_value": True}, {}),
        *[({"fill_value": value}, {}) for value in ("", [], {}, "null", [None])],
        ({"fill_value": "1e3"}, {}),
        ({"fill_value": "1_0"}, {"dtype": "float64"}),
        ({"shape": [4.5]}, {}),
        ({"codecs": [{"name": "bytes", "configuration": None}]}, {"dtype": "int8"}),
        ({"data_type": {"name": "uint16", "id": 1}}, {}),
        ({"codecs": None}, {}),
    ],
)
def test_other_forms_are_rejected(changes, options):
    with pytest.raises(MetadataError, match=f"/{next(iter(changes))}"):
        zarr.open_array(stored(changes, **options))


@pytest.mark.parametrize(
    ("dtype", "number"),
    [
        ("int64", "9007199254740993.0"),
        ("int8", "1.00000000000000000001"),
        ("bool", f"1{'0' * 400}"),
    ],
)
def test_numbers_are_compared_exactly(dtype, number):
    document = json.loads(bytes(stored({"fill_value": "X"}, dtype=dtype).get("zarr.json")))
    text = json.dumps(document).replace('"X"', number)
    with pytest.raises(MetadataValidationError, match="/fill_value"):
        zarr.open_array({"zarr.json": text.encode()})


def test_metadata_that_are_given_must_be_valid():
    for member in ({"dimension_names": None}, {"attributes": None}):
        with pytest.raises(MetadataValidationError):
            zarr.create_array(metadata={"shape": [4], "data_type": "int8", **member})


def test_partial_metadata_accept_names():
    given = {
        "shape": (3,), "data_type": "int8", "codecs": ("bytes",), "chunk_key_encoding": "default"
    }  # fmt: skip
    array = zarr.create_array(metadata=given)
    assert array.dtype == np.int8
    assert zarr.open_array(array.store, metadata=given) == array


@pytest.mark.filterwarnings("ignore:.*nonstandard metadata")
def test_copies_are_valid():
    source = stored({"fill_value": 1, "dimension_names": None}, dtype="bool")
    target = zarr.MemoryStore()
    with warnings.catch_warnings():
        array = zarr.open_array(source)
        warnings.simplefilter("error")
        assert zarr.copy(array, target)[...].tolist() == [True] * 4
        assert zarr.open_array(target)[...].tolist() == [True] * 4
    document = json.loads(bytes(target.get("zarr.json")))
    assert document["fill_value"] is True
    assert "dimension_names" not in document


@pytest.mark.parametrize("data_type", ["uint8", "bool"])
def test_null_members_of_configurations_are_read_as_absent(tmp_path, data_type):
    array = zarr.create_array(
        tmp_path / "a.zarr", shape=4, dtype=data_type, compressors=None, fill_value=1
    )
    file = tmp_path / "a.zarr" / "zarr.json"
    document = json.loads(file.read_text())
    document["codecs"] = [{"name": "bytes", "configuration": {"endian": None}}]
    file.write_text(json.dumps(document))
    with pytest.warns(UserWarning, match="nonstandard metadata: .*/endian is null"):
        array = zarr.open(tmp_path / "a.zarr")
    assert array[:].tolist() == [1] * 4


def test_null_members_that_a_codec_requires_are_errors(tmp_path):
    zarr.create_array(tmp_path / "a.zarr", shape=4, dtype="int32", compressors=None)
    file = tmp_path / "a.zarr" / "zarr.json"
    file.write_text(file.read_text().replace('"little"', "null"))
    with (
        pytest.warns(UserWarning, match="endian is null"),
        pytest.raises(CodecChainError, match='"endian" is missing'),
    ):
        zarr.open(tmp_path / "a.zarr")


def test_null_items_of_configurations_are_errors(tmp_path):
    zarr.create_array(tmp_path, shape=(4, 6), dtype="uint8", chunks=(2, 3))
    file = tmp_path / "zarr.json"
    document = json.loads(file.read_text())
    document["chunk_grid"]["configuration"]["chunk_shape"][1] = None
    file.write_text(json.dumps(document))
    with pytest.raises(ExtensionConfigurationError, match="chunk_shape/1: must be an integer"):
        zarr.open_array(tmp_path)


# --- a fill value of null, which zarrita.js stores if no fill value is given ---


@pytest.mark.parametrize(
    "data_type", ["bool", "int8", "uint64", "float16", "float64", "complex64", "r16"]
)
def test_missing_chunks_are_zero_if_the_fill_value_is_null(data_type):
    store = stored({"fill_value": None}, dtype=data_type)
    with pytest.warns(UserWarning, match=f"fill value is null.*'{data_type}'") as caught:
        array = zarr.open_array(store)
    assert str(store) in str(caught[0].message)
    assert array[...].tobytes() == bytes(4 * array.dtype.itemsize)


@pytest.mark.filterwarnings("ignore:.*fill value is null")
def test_every_chunk_is_stored_and_the_fill_value_stays_if_it_is_null():
    # Other readers may use any value for a missing chunk.
    store = stored({"fill_value": None})
    assert zarr.copy(zarr.open_array(store), {})[...].tolist() == [0] * 4
    array = zarr.open_array(store, mode="r+")
    array[:2] = 0
    assert (store.exists("c/0"), store.exists("c/1")) == (True, False)
    array[3] = 7
    array.attrs["changed"] = True
    assert json.loads(bytes(store.get("zarr.json")))["fill_value"] is None
    assert zarr.open_array(store)[...].tolist() == [0, 0, 0, 7]
