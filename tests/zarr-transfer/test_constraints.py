"""Metadata and arguments that new arrays are created with, and that existing ones must have."""

import pickle

import numcodecs
import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from zarr_core.errors import (
    MetadataMismatchError,
    MetadataValidationError,
    NodeTypeError,
    StoreReadOnlyError,
)
from zarr_core.extension import update_additional_fields
from zarr_transfer.compare_metadata import metadata_differences
from zarr_transfer.constraints import parse_partial_metadata

SHARDING = {"name": "sharding_indexed"}


def chain(array):
    return [(codec.name, dict(codec.configuration)) for codec in array.codecs]


# --- new arrays ---


@pytest.mark.parametrize("create", ["create_array", "open", "open_array", "require_array"])
def test_every_function_that_creates_arrays_accepts_metadata(create, tmp_path):
    members = {"shape": [4], "data_type": "int16", "attributes": {"a": 1}}
    for metadata in (
        members,
        zarr.create_array(metadata=members).metadata,
    ):
        group = zarr.create_group(tmp_path / type(metadata).__name__)
        if create == "require_array":
            array = group.require_array("a", metadata=metadata)
        else:
            mode = {} if create == "create_array" else {"mode": "a"}
            array = getattr(zarr, create)(group.store, path="a", metadata=metadata, **mode)
        assert (array.shape, array.dtype, array.attrs) == ((4,), np.int16, {"a": 1})
        array[...] = 3
        assert zarr.open(group.store, path="a", metadata=metadata)[...].tolist() == [3] * 4


@pytest.mark.parametrize(
    ("metadata", "arguments", "chunks", "shards", "codecs"),
    [
        ({"codecs": ["gzip"]}, {}, (100, 100), None, ["bytes", "gzip"]),
        ({"codecs": []}, {}, (100, 100), None, ["bytes"]),
        ({"codecs": [{"name": "transpose", "configuration": {"order": "F"}}]}, {},
         (100, 100), None, ["transpose", "bytes"]),
        ({"codecs": ["gzip"]}, {"chunks": 10}, (10, 10), None, ["bytes", "gzip"]),
        ({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10, 5]}}}, {},
         (10, 5), None, ["bytes", "zstd"]),
        ({"chunk_grid": "regular"}, {"chunks": 10}, (10, 10), None, ["bytes", "zstd"]),
        ({"codecs": [SHARDING]}, {}, (100, 100), (100, 100), ["sharding_indexed"]),
        ({"codecs": [SHARDING]}, {"chunks": 10, "shards": 50, "compressors": "gzip"},
         (10, 10), (50, 50), ["sharding_indexed"]),
        ({"codecs": [SHARDING]}, {"chunks": 10, "shards": {"shape": 50, "index_location": "start"}},
         (10, 10), (50, 50), ["sharding_indexed"]),
        ({"codecs": [{**SHARDING, "configuration": {"chunk_shape": [5, 5]}}]}, {"shards": 50},
         (5, 5), (50, 50), ["sharding_indexed"]),
        ({"codecs": [{**SHARDING, "configuration": {"chunk_shape": [5, 5]}}],
          "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10, 20]}}}, {},
         (5, 5), (10, 20), ["sharding_indexed"]),
    ],
)  # fmt: skip
def test_arguments_and_metadata_are_merged(metadata, arguments, chunks, shards, codecs):
    array = zarr.create_array(shape=(100, 100), dtype="int32", metadata=metadata, **arguments)
    assert (array.chunks, array.shards) == (chunks, shards)
    assert [codec.name for codec in array.codecs] == codecs
    assert metadata_differences(array.metadata, parse_partial_metadata(metadata)) == []
    again = zarr.open_array(
        array.store, shape=(100, 100), dtype="int32", metadata=metadata, **arguments
    )
    array[...] = np.arange(10000).reshape(100, 100)
    np.testing.assert_array_equal(again[...], np.arange(10000).reshape(100, 100))


def test_configurations_of_one_codec_are_merged():
    array = zarr.create_array(
        shape=4,
        dtype="int32",
        compressors={"name": "blosc", "configuration": {"cname": "lz4"}},
        metadata={"codecs": [{"name": "blosc", "configuration": {"clevel": 3}}]},
    )
    configuration = array.codecs[1].configuration
    assert (configuration["cname"], configuration["clevel"]) == ("lz4", 3)


def test_every_member_of_metadata_is_used():
    metadata = {
        "fill_value": "NaN",
        "dimension_names": ["x"],
        "attributes": {"a": 1},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
        "acme.note": {"must_understand": False},
    }
    array = zarr.create_array(shape=4, dtype="float32", attributes={"b": 2}, metadata=metadata)
    assert np.isnan(array[0])
    assert array.dimension_names == ("x",)
    assert array.attrs == {"a": 1, "b": 2}
    assert array.metadata.chunk_key_encoding.configuration == {"separator": "."}
    assert array.metadata.additional_fields == {"acme.note": {"must_understand": False}}
    assert zarr.create_array(metadata={"data_type": "int8"}, data=[1, 2]).dtype == np.int8


@pytest.mark.parametrize(
    ("metadata", "arguments", "named"),
    [
        ({"fill_value": 7}, {"fill_value": 0},
         ["/fill_value: is 0.0, not 7 as in metadata", "fill_value=0"]),
        ({"fill_value": None}, {}, ["/fill_value: is 0.0, not null as in metadata"]),
        ({"chunk_grid": "rectilinear"}, {}, ['/chunk_grid: is "regular", not "rectilinear"']),
        ({"shape": [None, 5]}, {"shape": (4, 6)}, ["/shape: is [4, 6], not [null, 5]", "shape=(4, 6)"]),
        ({"data_type": "int8"}, {"dtype": "int16"}, ["/data_type", "dtype='int16'"]),
        ({"attributes": {"a": 1}}, {"attributes": {"a": 2}}, ["/attributes/a: is 2, not 1"]),
        ({"dimension_names": ["x"]}, {"dimension_names": "y"}, ["/dimension_names"]),
        ({"chunk_key_encoding": "v2"}, {"chunk_key_encoding": "."}, ["/chunk_key_encoding"]),
        ({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}}}, {"chunks": 3},
         ["/chunk_grid/configuration/chunk_shape: is [3], not [2] as in metadata", "chunks=3"]),
        ({"codecs": ["gzip"]}, {"compressors": "zstd"}, ['/codecs/1: is "zstd", not "gzip"']),
        ({"codecs": ["gzip"]}, {"compressors": None}, ["compressors=None"]),
        ({"codecs": ["gzip"]}, {"shards": 4}, ["/codecs: has no bytes -> bytes codec", "shards=4"]),
        ({"codecs": ["gzip"]}, {"shape": (4, 4), "order": "F"}, ["order='F'"]),
        ({"codecs": [{**SHARDING, "configuration": {"chunk_shape": [2]}}]}, {"chunks": 4},
         ["/codecs/0/configuration/chunk_shape: is [4], not [2]"]),
        ({"fill_value": 7, "data_type": "int8"}, {"fill_value": 0, "dtype": "int16"},
         ["/fill_value", "/data_type"]),
    ],
)  # fmt: skip
def test_contradictions_name_both_and_store_nothing(metadata, arguments, named):
    store = CountingStore(zarr.MemoryStore())
    with pytest.raises(TypeError) as caught:
        zarr.create_array(store, metadata=metadata, **{"shape": 4, **arguments})
    for text in named:
        assert text in str(caught.value)
    assert not store.count("set", "update")


def test_other_metadata_is_a_type_error():
    for metadata in (5, "zarr.json", [1]):
        with pytest.raises(TypeError, match=r"metadata must be a part of a zarr\.json"):
            zarr.create_array(shape=3, metadata=metadata)
    with pytest.raises(TypeError, match="requires shape or data"):
        zarr.create_array(metadata={"data_type": "int8"})


# --- existing arrays ---


@pytest.fixture
def place(tmp_path):
    zarr.create_array(tmp_path / "a", shape=4, dtype="int32", attributes={"units": "m"})
    return tmp_path / "a"


def test_an_array_of_another_kind_is_not_returned(place):
    for function in (zarr.open, zarr.open_array):
        for mode in ("r", "r+", "a", None):
            with pytest.raises(MetadataMismatchError) as caught:
                function(place, mode, shape=9, dtype="f8")
            assert [str(problem) for problem in caught.value.problems] == [
                "/shape: is [4], not [9]",
                '/data_type: is "int32", not "float64"',
            ]
            assert function(place, mode, shape=9, dtype="f8", match=False).shape == (4,)


def test_metadata_is_compared_also_without_match(place):
    with pytest.raises(MetadataMismatchError, match="/fill_value: is 0, not 7"):
        zarr.open(place, metadata={"fill_value": 7}, match=False)
    with pytest.raises(MetadataMismatchError) as caught:
        zarr.open(place, metadata={"fill_value": 7}, fill_value=7, shape=5)
    assert [problem.pointer for problem in caught.value.problems] == ["/fill_value", "/shape"]


@pytest.mark.parametrize(
    ("arguments", "pointers"),
    [
        ({"shape": 4, "chunks": "auto", "shards": None, "compressors": "auto"}, []),
        ({"dtype": None, "attributes": None, "dimension_names": None, "chunks": True}, []),
        ({"chunks": 4}, []),
        ({"chunks": -1}, []),
        ({"chunks": 2}, ["/chunk_grid/configuration/chunk_shape"]),
        ({"shards": 4}, ["/codecs/0", "/codecs"]),
        ({"compressors": "zstd", "filters": None, "serializer": "bytes", "order": "F"}, []),
        ({"compressors": "gzip"}, ["/codecs/1"]),
        ({"compressors": None}, ["/codecs"]),
        ({"filters": "transpose"}, ["/codecs"]),
        ({"serializer": {"name": "bytes", "configuration": {"endian": "big"}}},
         ["/codecs/0/configuration/endian"]),
        ({"dtype": ">i4"}, ["/codecs/0/configuration/endian"]),
        ({"fill_value": 0}, []),
        ({"fill_value": 1}, ["/fill_value"]),
        ({"chunks": zarr.ChunkLayout(shape=2)}, ["/chunk_grid/configuration/chunk_shape"]),
        ({"chunks": zarr.ChunkLayout(shape=2, soft=True)}, []),
        ({"chunks": zarr.ChunkLayout(elements=2)}, []),
        ({"attributes": {"units": "m"}}, []),
        ({"attributes": {"units": "km", "b": 1}}, ["/attributes/units", "/attributes/b"]),
        ({"dimension_names": ["x"]}, ["/dimension_names"]),
        ({"dimension_names": [None]}, []),
        ({"chunk_key_encoding": "/"}, []),
        ({"chunk_key_encoding": "."}, ["/chunk_key_encoding/configuration/separator"]),
        ({"metadata": {"storage_transformers": ["acme"]}}, ["/storage_transformers"]),
        ({"data": [1, 2, 3, 4]}, []),
        ({"data": [1, 2, 3]}, ["/shape"]),
        ({"data": [1, 2, 3], "dtype": "i4", "chunks": 4}, ["/shape"]),
        ({"data": np.zeros(4)}, ["/data_type"]),
        ({"overwrite": False}, []),
    ],
)  # fmt: skip
def test_given_arguments_are_compared(place, arguments, pointers):
    if not pointers:
        assert zarr.open_array(place, "a", **arguments).shape == (4,)
        return
    with pytest.raises(MetadataMismatchError) as caught:
        zarr.open_array(place, "a", **arguments)
    assert [problem.pointer for problem in caught.value.problems] == pointers


FORMATS = (1, 2, 3, "n5", "draft", "draft-2021")
LAYOUTS = [
    {},
    {"compressors": None},
    {"compressors": "gzip"},
    {"compressors": numcodecs.Zlib(3)},
    {"compressors": numcodecs.Blosc()},
    {"compressors": numcodecs.GZip(1)},
    {"filters": numcodecs.Delta("<i4"), "compressors": None},
    {"filters": [numcodecs.Delta("<i4")], "order": "F", "compressors": "gzip"},
    {"order": "F"},
    {"order": "C"},
    {"chunks": (2, 2), "shards": (4, 4), "compressors": "gzip"},
    {"chunks": (2, 2), "shards": (4, 4), "order": "F"},
    {"chunks": (2, 2), "shards": "auto"},
    {"chunks": (2, 2), "shards": {"shape": (4, 4), "index_location": "start"}},
    {"shards": (4, 4), "dtype": ">i4"},
    {"dtype": ">i4"},
    {"dtype": "<i4"},
    {"chunks": (5, -1)},
    {"chunks": [[4, 6], 20]},
    {"chunks": (2, "auto")},
    {"chunks": (2, 2), "shards": [[4, 6], 20]},
    {"chunks": zarr.ChunkLayout(elements=10)},
    {"chunks": zarr.ChunkLayout(shape=(2, "auto")), "shards": zarr.ChunkLayout(shape=(4, 20))},
    {"chunks": (4, 4), "shards": zarr.ChunkLayout(shape=(4, 4))},
    {"chunks": zarr.ChunkLayout(shape=(3, 4), soft=True), "shards": (4, 4)},
    {"order": (1, 0)},
    {"order": (0, 1)},
    {"chunk_key_encoding": "."},
    {"chunk_key_encoding": "/"},
    {"dimension_names": ("x", "y"), "attributes": {"a": [1, 2], "b": np.float32(3)}},
    {"fill_value": 7},
    {"fill_value": None},
    {"dtype": "f4", "fill_value": np.nan},
    {"dtype": "c8", "fill_value": 1 + 2j},
    {"dtype": "U5", "fill_value": "ab"},
    {"dtype": "S3", "fill_value": b"x"},
    {"dtype": "M8[s]"},
    {"dtype": [("a", "i4"), ("b", "f8")]},
    {"dtype": str, "fill_value": "q"},
    {"dtype": "bfloat16"},
    {"dtype": object, "filters": numcodecs.VLenUTF8(), "fill_value": ""},
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_the_arguments_that_created_an_array_match_it_in_every_format(layout):
    arguments = {"shape": (10, 20), "dtype": "i4", **layout}
    opened = 0
    for zarr_format in FORMATS:
        try:
            array = zarr.create_array(zarr_format=zarr_format, **arguments)
        except (ValueError, TypeError, LookupError):
            continue  # the format does not support it
        assert zarr.open_array(array.store, "a", **arguments) == array
        with pytest.raises(MetadataMismatchError):
            zarr.open_array(array.store, "a", **{**arguments, "shape": (10, 21)})
        opened += 1
    assert opened


def test_metadata_matches_arrays_of_other_formats():
    metadata = {"shape": [4], "data_type": "int32", "codecs": ["gzip"]}
    for zarr_format in (2, "n5", "draft"):
        array = zarr.create_array(metadata=metadata, zarr_format=zarr_format)
        assert zarr.open_array(array.store, metadata=metadata) == array
        codecs = [{"name": "gzip", "configuration": {"level": 9}}]
        with pytest.raises(MetadataMismatchError, match="/level: is 5, not 9"):
            zarr.open_array(array.store, metadata={"codecs": codecs})


def test_a_group_is_not_an_array(tmp_path):
    zarr.create_group(tmp_path / "g")
    for arguments in ({"shape": 4}, {"metadata": {"shape": [4]}}):
        with pytest.raises(
            NodeTypeError, match="is a group, not an array; open it with open_group"
        ):
            zarr.open(tmp_path / "g", "a", **arguments)
    assert isinstance(zarr.open(tmp_path / "g", "a", shape=4, match=False), zarr.Group)


def test_invalid_expectations_are_not_mismatches(place):
    for arguments, error in (
        ({"dtype": "nope"}, LookupError),
        ({"shape": "x"}, TypeError),
        ({"fill_value": "x"}, MetadataValidationError),
        ({"fill_value": np.nan}, MetadataValidationError),
        ({"fill_value": 1 << 40, "shape": 5}, MetadataValidationError),
        ({"compressors": 5}, ValueError),
        ({"metadata": {"shap": 4}}, ValueError),
    ):
        with pytest.raises(error) as caught:
            zarr.open_array(place, **arguments)
        assert not isinstance(caught.value, MetadataMismatchError)


def test_the_verdict_is_not_that_of_an_earlier_array():
    first = zarr.create_array(shape=4, dtype="int32", attributes={"a": 1})
    second = zarr.create_array(shape=5, dtype="int32", attributes={"a": 2})
    arguments = {"shape": 4, "attributes": {"a": 1}, "metadata": {"attributes": {"a": 1}}}
    for _ in range(2):
        assert zarr.open_array(first.store, **arguments) == first
        with pytest.raises(MetadataMismatchError) as caught:
            zarr.open_array(second.store, **arguments)
        assert [p.pointer for p in caught.value.problems] == ["/attributes/a", "/shape"]


# --- assumed metadata ---


def test_partial_metadata_is_completed_without_access_to_the_store():
    store = CountingStore(zarr.MemoryStore())
    metadata = {"shape": [8], "data_type": "int16"}
    array = zarr.array_from_metadata(store, metadata, chunks=4, compressors=None)
    assert not store.calls
    assert (
        array.metadata == zarr.create_array(metadata=metadata, chunks=4, compressors=None).metadata
    )
    array[:4] = 7
    assert [*store.list()] == ["c/0"]
    with pytest.raises(TypeError, match="requires shape"):
        zarr.array_from_metadata(store)
    with pytest.raises(TypeError, match="unexpected keyword argument: data"):
        zarr.array_from_metadata(store, data=[1])
    with pytest.raises(TypeError, match="/shape: is"):
        zarr.array_from_metadata(store, metadata, shape=9)
    old = zarr.array_from_metadata(store, metadata, zarr_format=2, chunks=4)
    old[4:] = 3
    assert sorted(store.list()) == ["1", "c/0"]


def test_metadata_that_are_not_fixed_are_read_and_changed_when_needed():
    stored = zarr.create_array(shape=4, dtype="int16", chunks=2, attributes={"a": 1})
    array = zarr.array_from_metadata(stored.store, shape=2, dtype="int16", chunks=2)
    array.resize(6)
    assert zarr.open_array(stored.store).shape == array.shape == (6,)
    assert array.attrs == {"a": 1}


CHANGES = {
    "resize": lambda array: array.resize(3),
    "append": lambda array: array.append([1]),
    "attributes": lambda array: array.attrs.update(a=1),
    "additional fields": lambda array: update_additional_fields(array, {"x": None}),
    "refresh": lambda array: array.refresh(),
}


def test_fixed_metadata_are_neither_read_nor_written(tmp_path):
    stored = zarr.create_array(tmp_path, shape=4, dtype="int16", chunks=2, compressors=None)
    assumed = stored.metadata.replace(shape=(6,))
    store = CountingStore(stored.store)
    array = zarr.array_from_metadata(store, assumed, fixed=True)
    assert not store.calls
    array[...] = range(6)
    assert array[...].tolist() == [*range(6)]
    unpickled = pickle.loads(pickle.dumps(zarr.array_from_metadata(tmp_path, assumed, fixed=True)))
    for change in CHANGES.values():
        for node in (array, unpickled):
            with pytest.raises(StoreReadOnlyError, match="are assumed"):
                change(node)
    assert not [call for call in store.calls if call.key.endswith("zarr.json")]
    assert zarr.open_array(tmp_path).shape == (4,)
    array.store.close()
