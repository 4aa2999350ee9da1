"""Which arrays have a plan: every change of the metadata keeps both paths equal, or has none."""

import copy
import json
import sys

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.engine.native import native_reason_against
from zarr_core.errors import ExtensionError
from zarr_native.executor import Executor

SHARDING = {
    "name": "sharding_indexed",
    "configuration": {
        "chunk_shape": [2, 3],
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
        "index_codecs": [
            {"name": "bytes", "configuration": {"endian": "little"}},
            {"name": "crc32c"},
        ],
        "index_location": "end",
    },
}
PLAIN = {
    "zarr_format": 3,
    "node_type": "array",
    "shape": [9, 7],
    "data_type": "int16",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 3]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
    "fill_value": 3,
    "storage_transformers": [],
    "dimension_names": ["y", "x"],
    "attributes": {"units": "m"},
}
SHARDED = {
    **PLAIN,
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 6]}},
    "codecs": [SHARDING],
}
DELTA = {"name": "numcodecs.delta", "configuration": {"dtype": "<i8"}}
INDEX = ("codecs", 0, "configuration", "index_codecs")
# The path of a member, its new value, and whether there is a plan.
CHANGES = {
    "shape": (PLAIN, ("shape",), [3, 20], True),
    "no elements": (PLAIN, ("shape",), [0, 7], False),
    "data type": (PLAIN, ("data_type",), "float64", True),
    "raw bits": (PLAIN, ("data_type",), "uint8", True),
    "chunk shape": (PLAIN, ("chunk_grid", "configuration", "chunk_shape"), [2, 7], True),
    "chunk grid": (PLAIN, ("chunk_grid",), {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[4, 4, 1], [3, 4]]}}, False),
    "separator": (PLAIN, ("chunk_key_encoding", "configuration", "separator"), ".", True),
    "key encoding": (PLAIN, ("chunk_key_encoding",), {"name": "v2"}, True),
    "suffix": (PLAIN, ("chunk_key_encoding",), {"name": "suffix", "configuration": {"suffix": ".x", "base_encoding": {"name": "default"}}}, False),
    "byte order": (PLAIN, ("codecs", 0, "configuration", "endian"), "big", True),
    "transpose": (PLAIN, ("codecs",), [{"name": "transpose", "configuration": {"order": [1, 0]}}, *PLAIN["codecs"]], True),
    "transpose twice": (PLAIN, ("codecs",), [{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "transpose", "configuration": {"order": [0, 1]}}, *PLAIN["codecs"]], True),
    "transposed inner chunks": (SHARDED, ("codecs", 0, "configuration", "codecs"), [{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes", "configuration": {"endian": "big"}}], True),
    "other array codec": (PLAIN, ("codecs",), [{"name": "numcodecs.delta", "configuration": {"dtype": "<i2"}}, *PLAIN["codecs"]], False),
    "other codec": (PLAIN, ("codecs", 1), {"name": "numcodecs.bz2", "configuration": {"level": 1}}, False),
    "zstd": (PLAIN, ("codecs", 1), {"name": "zstd", "configuration": {"level": 1, "checksum": True}}, True),
    "fill value": (PLAIN, ("fill_value",), -7, True),
    "dimension names": (PLAIN, ("dimension_names",), [None, "x"], True),
    "attributes": (PLAIN, ("attributes",), {"a": [1]}, True),
    "additional field": (PLAIN, ("acme",), {"must_understand": False}, False),
    "ignored codec": (PLAIN, ("codecs", 1), {"name": "acme.unknown", "must_understand": False}, False),
    "inner shape": (SHARDED, ("codecs", 0, "configuration", "chunk_shape"), [4, 2], True),
    "inner codecs": (SHARDED, ("codecs", 0, "configuration", "codecs"), [{"name": "bytes", "configuration": {"endian": "big"}}], True),
    "index at start": (SHARDED, ("codecs", 0, "configuration", "index_location"), "start", True),
    "index without checksum": (SHARDED, INDEX, SHARDING["configuration"]["index_codecs"][:1], True),
    "index in big endian": (SHARDED, (*INDEX, 0, "configuration", "endian"), "big", False),
    "index with two checksums": (SHARDED, INDEX, [*SHARDING["configuration"]["index_codecs"], {"name": "crc32c"}], False),
    "index transposed": (SHARDED, INDEX, [{"name": "transpose", "configuration": {"order": [1, 0, 2]}}, *SHARDING["configuration"]["index_codecs"]], False),
    "codec after shards": (SHARDED, ("codecs",), [SHARDING, {"name": "crc32c"}], False),
    "codec before shards": (SHARDED, ("codecs",), [{"name": "transpose", "configuration": {"order": [0, 1]}}, SHARDING], False),
    "shards in shards": (SHARDED, ("codecs", 0, "configuration"), {**SHARDING["configuration"], "chunk_shape": [4, 6], "codecs": [SHARDING]}, False),
}  # fmt: skip


def changed(document, path, value):
    document = copy.deepcopy(document)
    inside = document
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = value
    return document


@pytest.mark.filterwarnings("ignore:.*ignored.*")
@pytest.mark.parametrize("name", CHANGES)
def test_one_changed_member(tmp_path, counted, name):
    document, path, value, planned = CHANGES[name]
    document = changed(document, path, value)
    (tmp_path / "zarr.json").write_text(json.dumps(document))
    with zarr.config.set(native="off"):
        array = zarr.open_array(tmp_path, mode="r+")
        data = np.arange(array.size).reshape(array.shape).astype(array.dtype)
        if not array.read_only:
            array[...] = data
    keys = {it: it.read_bytes() for it in tmp_path.rglob("*") if it.is_file()}
    native = zarr.open_array(tmp_path, mode="r+")
    reason = native_reason_against(native.stored)
    assert bool(reason) is not planned, reason
    if native.read_only:
        return
    assert np.array_equal(native[...], data)
    counted()
    native[...] = data
    assert bool(counted()[1]) is planned
    after = {it: it.read_bytes() for it in tmp_path.rglob("*") if it.is_file()}
    if name != "zstd":  # another version of the library may compress differently
        assert after == keys
    assert np.array_equal(native[1:, 1:], data[1:, 1:])


def test_a_store_of_another_class_has_no_plan(tmp_path):
    class Counting(zarr.LocalStore):
        pass

    array = zarr.create_array(Counting(tmp_path), shape=4, chunks=2)
    assert "Counting" in native_reason_against(array.stored)
    assert array.info["Native"] == f"no: {native_reason_against(array.stored)}"


def test_a_codec_of_another_class_has_no_plan(tmp_path):
    from zarr_codecs.crc32c import Crc32cCodec

    class Other(Crc32cCodec):
        pass

    with zarr.override_extensions({"codec": {"crc32c": Other}}):
        array = zarr.create_array(tmp_path, shape=4, chunks=2, compressors=["crc32c"])
    assert "has no native form" in native_reason_against(array.stored)


def test_settings(tmp_path):
    zarr.create_array(tmp_path, data=np.arange(4), chunks=2, filters=[DELTA])
    with zarr.config.set(native="require"):
        array = zarr.open_array(tmp_path, mode="r+")
        with pytest.raises(ExtensionError, match=r'"require".*array -> array codec .*"auto"'):
            array[...]
        with pytest.raises(ExtensionError, match="require"):
            array[...] = np.arange(4)
    with zarr.config.set(native="off"):
        off = zarr.open_array(tmp_path)
        assert off.info["Native"] == 'no: the setting native is "off"'
        assert off.stored.native is None
    assert zarr.open_array(tmp_path)[...].tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="native must be"):
        zarr.config.set(native="yes")


def test_without_an_executor_nothing_is_decided(tmp_path, monkeypatch):

    with zarr.config.set(disabled_plugins={"zarr-native"}):
        array = zarr.create_array(tmp_path, shape=4, chunks=2)
        assert array[...].tolist() == [0] * 4


def test_missing_compiled_module_is_a_reason(monkeypatch):
    import sys

    from zarr_native import executor

    array = zarr.create_array(shape=4, chunks=2)
    monkeypatch.setitem(sys.modules, "zarr_native._native", None)
    monkeypatch.delitem(sys.modules, "zarr_native.plan", raising=False)
    executor._problem.cache_clear()
    try:
        assert "without its compiled module" in Executor().plan(array.stored)
        assert "missing" in Executor().describe()["compiled module"]
    finally:
        executor._problem.cache_clear()
    # An import that fails in one thread shows an incomplete module to the others.
    assert "zarr_native.plan" not in sys.modules


def test_reads_that_python_continues_keep_the_references_to_none():
    """None is not immortal before Python 3.12; without references, the interpreter aborts."""
    array = zarr.create_array({}, data=np.arange(100), chunks=10, compressors=None)
    assert array[5:15].tolist() == [*range(5, 15)]
    before = sys.getrefcount(None)
    for _ in range(1000):
        array[5:15]  # in two chunks
    assert abs(sys.getrefcount(None) - before) < 500
