"""PartialArrayMetadata: reading, merging, comparing and completing, without a store."""

import copy
import json
import pickle

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given
from hypothesis import strategies as st
from zarr_core import PartialArrayMetadata
from zarr_core.errors import (
    CodecChainError,
    MetadataMismatchError,
    MetadataValidationError,
    NodeTypeError,
    UnsupportedFieldError,
)
from zarr_core.extension import ArrayMetadata, ValidationProblem

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
read = PartialArrayMetadata.from_json


def problems(expected, metadata=METADATA):
    return [str(problem) for problem in read(expected).problems(metadata)]


# --- reading and writing ---


@given(st.sets(st.sampled_from(sorted(DOCUMENT))))
def test_every_part_of_a_document_is_read_written_and_satisfied(names):
    part = {name: value for name, value in DOCUMENT.items() if name in names}
    partial = read(part)
    written = partial.to_json()
    assert written == {
        name: value for name, value in part.items() if name not in ("zarr_format", "node_type")
    }
    assert read(written) == partial
    assert partial.problems(METADATA) == []
    assert pickle.loads(pickle.dumps(partial)) == partial == copy.copy(partial)


def test_all_members_of_metadata():
    partial = PartialArrayMetadata.from_metadata(METADATA)
    assert partial == read({**METADATA.to_json(), "storage_transformers": []})
    assert partial.problems(METADATA) == []
    assert partial.complete() == METADATA
    unnamed = METADATA.replace(dimension_names=None)
    assert PartialArrayMetadata.from_metadata(unnamed).to_json()["dimension_names"] == [None, None]
    assert PartialArrayMetadata.from_metadata(unnamed).complete() == unnamed
    undefined = METADATA.replace(fill_value_undefined=True)
    assert PartialArrayMetadata.from_metadata(undefined).to_json()["fill_value"] is None
    assert PartialArrayMetadata.from_metadata(undefined).problems(undefined) == []
    assert [
        p.pointer for p in PartialArrayMetadata.from_metadata(undefined).problems(METADATA)
    ] == ["/fill_value"]


def test_it_is_immutable_and_empty_by_default():
    empty = PartialArrayMetadata()
    assert empty.to_json() == {}
    assert empty == read({})
    assert empty.problems(METADATA) == []
    with pytest.raises(AttributeError):
        empty.document = {"shape": [1]}


@pytest.mark.parametrize(
    ("document", "error", "pointer"),
    [
        ({"zarr_format": 2}, MetadataValidationError, "/zarr_format"),
        ({"node_type": "group"}, MetadataValidationError, "/node_type"),
        ({"shape": [1.5]}, MetadataValidationError, "/shape/0"),
        ({"shape": None}, MetadataValidationError, "/shape"),
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
        assert read({"codecs": [form]}).problems(METADATA.replace(codecs=METADATA.codecs[1:])) == []
    assert read({"codecs": ("bytes", "gzip")}).to_json() == {"codecs": ["bytes", "gzip"]}


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
    assert problems(expected) == found, "also from the cache"


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


def test_unknown_codecs_are_compared_by_their_names():
    assert problems({"codecs": ["transpose", "acme.unknown"]}) == [
        '/codecs/2: is "gzip", not "acme.unknown"'
    ]


# --- merging ---


def test_merging_adds_members():
    blosc = {"name": "blosc", "configuration": {"cname": "lz4"}}
    one = read({"shape": [4, None], "codecs": [blosc], "attributes": {"a": 1}})
    other = read(
        {
            "shape": [None, 5],
            "codecs": ["bytes", {"name": "blosc", "configuration": {"clevel": 5}}],
            "attributes": {"b": 2},
            "fill_value": 0,
        }
    )
    both = one | other
    assert both.to_json() == {
        "shape": [4, 5],
        "fill_value": 0,
        "codecs": [
            "bytes", {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5}}
        ],
        "attributes": {"a": 1, "b": 2},
    }  # fmt: skip
    assert (other | one).problems(both.complete(dtype="int8")) == []
    assert both | PartialArrayMetadata() == both == both | both


def test_merging_shards_merges_their_codecs():
    def sharding(**members):
        return read({"codecs": [{"name": "sharding_indexed", "configuration": members}]})

    merged = sharding(chunk_shape=[2], codecs=["gzip"]) | sharding(codecs=["bytes", "gzip"])
    assert merged.to_json()["codecs"][0]["configuration"] == {
        "chunk_shape": [2],
        "codecs": ["bytes", "gzip"],
    }


def test_contradictions_are_all_named():
    one = read({"shape": [4], "data_type": "int8", "fill_value": 1, "attributes": {"a": 1},
                "codecs": ["gzip"], "dimension_names": ["x"], "chunk_grid": "regular"})  # fmt: skip
    other = read({"shape": [5], "data_type": "int16", "fill_value": 2, "attributes": {"a": True},
                  "codecs": ["gzip", "crc32c"], "dimension_names": ["y"],
                  "chunk_grid": "rectilinear"})  # fmt: skip
    with pytest.raises(MetadataValidationError) as caught:
        one | other
    assert {problem.pointer for problem in caught.value.problems} == {
        "/shape", "/data_type", "/fill_value", "/attributes/a", "/codecs", "/dimension_names",
        "/chunk_grid",
    }  # fmt: skip
    assert '/data_type: is "int8", not "int16"' in str(caught.value)
    with pytest.raises(TypeError):
        one | {"shape": [4]}


# --- completing ---


def test_completing_gives_what_create_array_stores():
    members = {"shape": [6], "data_type": "int32", "codecs": ["gzip"]}
    array = zarr.create_array(metadata=members)
    assert read(members).complete() == array.metadata
    assert [(codec.name, dict(codec.configuration)) for codec in array.codecs] == [
        ("bytes", {"endian": "little"}), ("gzip", {"level": 5})
    ]  # fmt: skip
    old = read(members).complete(zarr_format=2, chunks=3)
    assert old == zarr.create_array(metadata=members, zarr_format=2, chunks=3).metadata
    assert old.chunk_key_encoding.name == "v2"


def test_completing_needs_a_shape_and_known_arguments():
    with pytest.raises(TypeError, match="requires shape"):
        PartialArrayMetadata().complete()
    with pytest.raises(TypeError, match="requires shape"):
        read({"shape": [None]}).complete()
    assert read({"shape": [None]}).complete(shape=3).shape == (3,)
    with pytest.raises(TypeError, match="unexpected keyword argument: shards_"):
        PartialArrayMetadata().complete(shape=3, shards_=3)
    with pytest.raises(CodecChainError):
        read({"codecs": ["gzip", "bytes"]}).complete(shape=3)
    with pytest.raises(MetadataValidationError, match="/fill_value"):
        read({"fill_value": "x"}).complete(shape=3)


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
    document = json.loads(json.dumps(read({"shape": [np.int64(3)]}).to_json()))
    assert document == {"shape": [3]}
