"""A part of a ``zarr.json``: reading, comparing and completing it, without a store."""

import json
import pickle

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import (
    CodecChainError,
    MetadataMismatchError,
    MetadataValidationError,
    NodeTypeError,
    UnsupportedFieldError,
)
from zarr_core.extension import ArrayMetadata, ExtensionDefinition, ValidationProblem
from zarr_transfer.compare_metadata import metadata_differences
from zarr_transfer.constraints import parse_partial_metadata as read

DOCUMENT = {
    "zarr_format": 3,
    "node_type": "array",
    "shape": [40, 60],
    "data_type": "float32",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10, 20]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "fill_value": "NaN",
    "codecs": [
        {"name": "transpose", "configuration": {"order": [1, 0]}},
        {"name": "bytes", "configuration": {"endian": "little"}},
        {"name": "gzip", "configuration": {"level": 5}},
    ],
    "attributes": {"units": "m", "valid": {"min": 0, "max": 9}},
    "dimension_names": ["y", None],
    "acme.note": {"must_understand": False, "text": "hello"},
}
METADATA = ArrayMetadata.from_json(DOCUMENT)


def problems(expected, metadata=METADATA):
    return [str(problem) for problem in metadata_differences(metadata, read(expected))]


def completed(document, **arguments):
    return zarr.array_from_metadata({}, document, **arguments).metadata


# --- reading and writing ---


def test_all_members_of_metadata():
    assert read(METADATA) == read({**METADATA.to_json(), "storage_transformers": []})
    assert problems(METADATA) == []
    assert completed(read(METADATA)) == METADATA
    unnamed = METADATA.replace(dimension_names=None)
    assert read(unnamed)["dimension_names"] == [None, None]
    assert completed(read(unnamed)) == unnamed
    undefined = METADATA.replace(fill_value_undefined=True)
    assert read(undefined)["fill_value"] is None
    assert problems(undefined, undefined) == []
    assert problems(undefined) == ['/fill_value: is "NaN", not null']
    assert problems({}) == []


@pytest.mark.parametrize(
    ("document", "error", "pointer"),
    [
        ({"zarr_format": 2}, MetadataValidationError, "/zarr_format"),
        ({"node_type": "group"}, MetadataValidationError, "/node_type"),
        ({"shape": [1.5]}, MetadataValidationError, "/shape/0"),
        ({"shape": None}, MetadataValidationError, "/shape"),
        ({"shape": ["4", None]}, MetadataValidationError, "/shape/0"),
        ({"shape": [2], "dimension_names": ["x", "y"]}, MetadataValidationError, "/dimension_names"),
        ({"codecs": "gzip"}, MetadataValidationError, "/codecs"),
        ({"codecs": [{"level": 3}]}, MetadataValidationError, "/codecs/0"),
        ({"chunk_grid": 5}, MetadataValidationError, "/chunk_grid"),
        ({"fill_value": float("nan")}, MetadataValidationError, "/fill_value"),
        ({"fill_value": object()}, MetadataValidationError, "/fill_value"),
        ({"shap": [3]}, UnsupportedFieldError, "/shap"),
        ({"acme": {"must_understand": True}}, UnsupportedFieldError, "/acme"),
    ],
)  # fmt: skip
def test_invalid_parts_are_rejected(document, error, pointer):
    with pytest.raises(error) as caught:
        read(document)
    assert all(problem.pointer.startswith(pointer) for problem in caught.value.problems)


def test_codecs_have_any_form():
    codec = zarr.codec("gzip", level=5)
    for form in (codec, {"name": "gzip", "configuration": {"level": 5}}):
        assert problems({"codecs": [form]}, METADATA.replace(codecs=METADATA.codecs[1:])) == []
    assert read({"codecs": ("bytes", "gzip")}) == {"codecs": ["bytes", "gzip"]}


# --- comparing ---


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ({"shape": [40, None]}, []),
        ({"shape": [None, None]}, []),
        ({"shape": [None]}, ["/shape: is [40, 60], not [null]"]),
        ({"shape": [None, 61]}, ["/shape: is [40, 60], not [null, 61]"]),
        ({"data_type": "float64"}, ['/data_type: is "float32", not "float64"']),
        ({"data_type": {"name": "float32"}}, []),
        ({"chunk_grid": "regular"}, []),
        ({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10, 21]}}},
         ["/chunk_grid/configuration/chunk_shape: is [10, 20], not [10, 21]"]),
        ({"chunk_key_encoding": "default"}, []),
        ({"chunk_key_encoding": "v2"}, ['/chunk_key_encoding: is "default", not "v2"']),
        ({"fill_value": "0x7fc00000"}, []),
        ({"fill_value": "0x7fc00001"}, ['/fill_value: is "NaN", not "0x7fc00001"']),
        ({"fill_value": "hello"}, ['/fill_value: is "NaN", not "hello"']),
        ({"fill_value": 0, "data_type": "int32"},
         ['/data_type: is "float32", not "int32"', '/fill_value: is "NaN", not 0']),
        ({"codecs": ["transpose", "gzip"]}, []),
        ({"codecs": [{"name": "transpose", "configuration": {"order": "F"}}, "gzip"]}, []),
        ({"codecs": ["gzip"]},
         ['/codecs: has the array -> array codec "transpose", not none']),
        ({"codecs": ["transpose", "bytes"]},
         ['/codecs: has the bytes -> bytes codec "gzip", not none']),
        ({"codecs": ["transpose", "crc32c", "gzip"]},
         ['/codecs: has the bytes -> bytes codec "gzip", not "crc32c", "gzip"']),
        ({"codecs": ["transpose", "zstd"]}, ['/codecs/2: is "gzip", not "zstd"']),
        ({"codecs": ["transpose", "acme.unknown"]}, ['/codecs/2: is "gzip", not "acme.unknown"']),
        ({"codecs": [{"name": "transpose", "configuration": {"order": [0, 1]}},
                     {"name": "bytes", "configuration": {"endian": "big"}},
                     {"name": "gzip", "configuration": {"level": 9}}]},
         ["/codecs/0/configuration/order: is [1, 0], not [0, 1]",
          '/codecs/1/configuration/endian: is "little", not "big"',
          "/codecs/2/configuration/level: is 5, not 9"]),
        ({"attributes": {"units": "km", "new": None, "valid": {"min": 0}}},
         ['/attributes/units: is "m", not "km"', "/attributes/new: is missing, not null",
          '/attributes/valid: is {"min": 0, "max": 9}, not {"min": 0}']),
        ({"dimension_names": ["y", "x"]}, ['/dimension_names: is ["y", null], not ["y", "x"]']),
        ({"storage_transformers": []}, []),
        ({"storage_transformers": ["acme"]},
         ['/storage_transformers: has no storage transformer, not "acme"']),
        ({"acme.note": {"must_understand": False, "text": "bye"}},
         ['/acme.note: is {"must_understand": false, "text": "hello"}, '
          'not {"must_understand": false, "text": "bye"}']),
    ],
)  # fmt: skip
def test_every_difference_is_named(expected, found):
    assert problems(expected) == found


def test_shards_are_compared_recursively():
    metadata = zarr.create_array(
        shape=(8, 8), chunks=(2, 2), shards=(4, 4), dtype="int16", compressors="gzip"
    ).metadata
    inner = "/codecs/0/configuration"

    def sharding(**members):
        codecs = [{"name": "sharding_indexed", "configuration": members}]
        return problems({"codecs": codecs}, metadata)

    assert sharding() == sharding(codecs=["gzip"]) == sharding(index_codecs=["crc32c"]) == []
    assert sharding(chunk_shape=[4, 4], index_location="start") == [
        f"{inner}/chunk_shape: is [2, 2], not [4, 4]",
        f'{inner}/index_location: is "end", not "start"',
    ]
    assert sharding(codecs=[{"name": "gzip", "configuration": {"level": 9}}]) == [
        f"{inner}/codecs/1/configuration/level: is 5, not 9"
    ]
    assert problems({"codecs": ["gzip"]}, metadata) == [
        '/codecs: has no bytes -> bytes codec, not "gzip"'
    ]


def test_defaults_of_stored_codecs_are_compared():
    little = DOCUMENT["codecs"][1]
    members = {"chunk_shape": [5, 5], "codecs": [little], "index_codecs": [little]}
    codecs = [{"name": "sharding_indexed", "configuration": members}]
    metadata = ArrayMetadata.from_json({**DOCUMENT, "codecs": codecs})

    def expect(location):
        configuration = {"index_location": location}
        return {"codecs": [{"name": "sharding_indexed", "configuration": configuration}]}

    assert problems(expect("end"), metadata) == []
    assert problems(expect("start"), metadata) == [
        '/codecs/0/configuration/index_location: is "end", not "start"'
    ]


def test_fill_values_are_compared_in_the_form_in_which_they_are_read():
    metadata = METADATA.replace(data_type=ExtensionDefinition("int32"), fill_value=42)
    assert problems({"fill_value": 42.0}, metadata) == []
    assert problems({"fill_value": "42"}, metadata) == ['/fill_value: is 42, not "42"']
    assert problems({"fill_value": 42.5}, metadata) == ["/fill_value: is 42, not 42.5"]
    assert problems({"fill_value": True}, metadata) == ["/fill_value: is 42, not true"]


# --- completing ---


def test_a_fill_value_of_metadata_is_that_of_the_new_array():
    for data_type, value in (
        ("bool", False),
        ("string", ""),
        ("float32", "0x7fc00001"),
        ("r8", [0]),
    ):
        document = {"shape": [2], "data_type": data_type, "fill_value": value}
        assert completed(document).fill_value == value
    assert completed({"shape": [2], "fill_value": None}, zarr_format=2).fill_value_undefined
    with pytest.raises(TypeError, match="metadata contradicts the defaults of new arrays"):
        completed({"shape": [2], "fill_value": None})


def test_completing_needs_a_shape_and_known_arguments():
    with pytest.raises(TypeError, match="requires shape"):
        completed({"shape": [None]})
    assert completed({"shape": [None]}, shape=3).shape == (3,)
    with pytest.raises(CodecChainError):
        completed({"codecs": ["gzip", "bytes"]}, shape=3)
    with pytest.raises(MetadataValidationError, match="/fill_value"):
        completed({"fill_value": "x"}, shape=3)


def test_the_error_of_a_mismatch_can_be_pickled():
    array = zarr.create_array(shape=2)
    with pytest.raises(MetadataMismatchError) as caught:
        zarr.open_array(array.store, metadata={"shape": [3], "data_type": "int8"})
    error = pickle.loads(pickle.dumps(caught.value))
    assert error.problems == (
        ValidationProblem("/shape", "is [2], not [3]"),
        ValidationProblem("/data_type", 'is "float64", not "int8"'),
    )
    assert str(error) == str(caught.value)
    assert str(error).startswith(f"{array.store} '/': the array exists, but 2 members")
    assert isinstance(error, NodeTypeError)
    assert isinstance(error, ValueError)


def test_numpy_integers_become_json():
    document = json.loads(json.dumps(read({"shape": [np.int64(3)]})))
    assert document == {"shape": [3]}
