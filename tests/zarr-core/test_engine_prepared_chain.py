"""Chains whose filters do not support partial decoding, and stores that cannot erase keys."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import CodecChainError
from zarr_core.extension import ArrayToArrayCodec, StoreTraits
from zarr_sharding.codec import ShardingCodec

VALUES = np.arange(1, 97, dtype="i4").reshape(8, 12)


class Negative(ArrayToArrayCodec):
    """Supports whole chunks only."""

    def encoded_representation(self, decoded):
        return decoded

    def encode(self, array, decoded):
        return -array

    def decode(self, array, decoded):
        return -array


def test_parts_of_chunks_behind_a_filter_that_knows_only_wholes():
    array = zarr.open_array(
        mode="w",
        data=VALUES,
        chunks=(4, 3),
        filters=[Negative()],
        compressors=None,
        extensions={"codec": {"acme.negative": Negative}},
    )
    expected = VALUES.copy()
    array[1:3, 2:11] = expected[1:3, 2:11] = 7
    array.oindex[[0, 7], [1, 5]] = expected[np.ix_([0, 7], [1, 5])] = -3
    assert np.array_equal(array[1:7, ::5], expected[1:7, ::5])
    assert np.array_equal(array.vindex[[0, 7], [1, 5]], [-3, -3])
    assert np.array_equal(array[...], expected)


def test_parts_of_shards_behind_a_filter_that_knows_only_wholes():
    sharding = {
        "name": "sharding_indexed",
        "configuration": {
            "chunk_shape": [2, 3],
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        },
    }
    array = zarr.open_array(
        mode="w",
        data=VALUES,
        chunks=(4, 6),
        filters=[Negative()],
        serializer=sharding,
        compressors=None,
        extensions={"codec": {"acme.negative": Negative}},
    )
    expected = VALUES.copy()
    array[1:3, 2:11] = expected[1:3, 2:11] = 7
    assert np.array_equal(array[1:7, ::5], expected[1:7, ::5])
    assert array[5, 7] == expected[5, 7]
    assert np.array_equal(array[...], expected)


class Kept(zarr.MemoryStore):
    """A store that cannot erase keys."""

    traits = StoreTraits(supports_erasing=False)


@pytest.mark.parametrize("part", [np.s_[:2, :3], np.s_[0, 0]])
def test_emptied_chunks_are_stored_if_keys_cannot_be_erased(part):
    array = zarr.create_array(
        Kept(), shape=(4, 6), chunks=(2, 3), dtype="i4", fill_value=5, compressors=None
    )
    array[part] = 5
    assert list(array.store.list()) == ["zarr.json"], "nothing was there"
    array[part] = 6
    assert (array[part] == 6).all()
    array[part] = 5
    assert (array[...] == 5).all()
    assert sorted(array.store.list()) == ["c/0/0", "zarr.json"]


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
