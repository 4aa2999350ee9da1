"""The bytes that reads request from the store; filters and masks; chains that are refused."""

import os

import numpy as np
import pytest
import zarr_core as zarr
from plain_codecs import Negate
from zarr_core.config import config
from zarr_core.errors import CodecChainError
from zarr_sharding.codec import ShardingCodec


@pytest.fixture
def sizes(monkeypatch):
    """The number of bytes requested by each read of a file."""
    from zarr_core.stores import local_files

    seen = []
    preadv = local_files.os.preadv

    def recorded(descriptor, buffers, offset):
        seen.extend(len(buffer) for buffer in buffers)
        return preadv(descriptor, buffers, offset)

    monkeypatch.setattr(os, "preadv", recorded)
    return seen


@pytest.mark.parametrize("threads", [1, 2])
def test_a_thin_slab_of_large_raw_chunks_reads_little(tmp_path, sizes, threads):
    data = np.arange(512 * 1024, dtype="f4").reshape(512, 1024)
    zarr.create_array(tmp_path, data=data, chunks=(256, 512), compressors=None)
    with config.set(threads=threads, native="off"):
        array = zarr.open_array(tmp_path)
        sizes.clear()
        assert (array[300] == data[300]).all()
    assert sum(sizes) == data[300].nbytes


@pytest.mark.parametrize("dtype", ["uint8", "bool", ">i4"])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.999])
def test_masks_of_chunks_without_compression(dtype, share):
    array = zarr.create_array(shape=(300, 200), chunks=(128, 90), dtype=dtype, compressors=None)
    random = np.random.default_rng(0)
    expected = random.integers(0, 2, (300, 200)).astype(dtype)
    array[...] = expected
    mask = random.random((300, 200)) < share
    mask[200:] = False
    mask[0, 0] = True
    np.testing.assert_array_equal(array[mask], expected[mask])
    array[mask] = 0
    expected[mask] = 0
    np.testing.assert_array_equal(array[...], expected)


LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
SHARDING = {
    "name": "sharding_indexed",
    "configuration": {"chunk_shape": [2, 3], "codecs": [LITTLE], "index_codecs": [LITTLE]},
}


@pytest.mark.parametrize("serializer", [LITTLE, SHARDING], ids=["chunks", "shards"])
def test_parts_of_chunks_behind_a_filter_that_knows_only_wholes(serializer):
    expected = np.arange(1, 97, dtype="i4").reshape(8, 12)
    with zarr.override_extensions({"codec": {"acme.negate": Negate}}):
        array = zarr.create_array(
            data=expected, chunks=(4, 6), filters=[Negate()], serializer=serializer,
            compressors=None,
        )  # fmt: skip
    array[1:3, 2:11] = expected[1:3, 2:11] = 7
    array.oindex[[0, 7], [1, 5]] = expected[np.ix_([0, 7], [1, 5])] = -3
    assert np.array_equal(array[1:7, ::5], expected[1:7, ::5])
    assert np.array_equal(array.vindex[[0, 7], [1, 5]], [-3, -3])
    assert array[5, 7] == expected[5, 7]
    assert np.array_equal(array[...], expected)


def test_chunks_beyond_all_addresses_are_rejected():
    with pytest.raises(CodecChainError, match="more than can be addressed"):
        zarr.create_array(shape=(4,), chunks=(2**62,), dtype="f8")


def test_inner_codecs_of_another_type():
    class Wrong(ShardingCodec):
        def inner_codecs(self, decoded):
            return "zstd"

    with (
        zarr.override_extensions({"codec": {"acme.wrong": Wrong}}),
        pytest.raises(TypeError, match="inner_codecs returned 'zstd', not a PreparedCodecChain"),
    ):
        zarr.create_array(
            shape=8, dtype="u2", compressors=None,
            serializer={"name": "acme.wrong", "configuration": ShardingCodec((4,)).to_configuration()},
        )[...]  # fmt: skip
