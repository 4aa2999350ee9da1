"""The order of dimensions within chunks."""

from itertools import permutations
from math import prod

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core import extension
from zarr_core.errors import CodecChainError, MetadataValidationError


def inner_order(array):
    return extension.inner_order(array.stored.codecs)


@settings(max_examples=60, deadline=None)
@given(
    order=st.integers(1, 4).flatmap(lambda ndim: st.permutations(range(ndim))),
    sharded=st.booleans(),
    step=st.integers(1, 3),
)
def test_any_order_of_dimensions_is_a_round_trip(order, sharded, step):
    shape = (4, 6, 5, 3)[: len(order)]
    data = np.arange(prod(shape), dtype="int32").reshape(shape)
    shards = tuple(2 * -(-length // 2) for length in shape) if sharded else None
    array = zarr.create_array(data=data, chunks=2, shards=shards, order=order)
    assert inner_order(array) == tuple(order)
    assert np.array_equal(array[::step], data[::step])
    assert inner_order(zarr.empty_like(array)) == tuple(order)


@pytest.mark.parametrize("order", [*permutations(range(3))])
@pytest.mark.parametrize("write", [None, [4, 6, 6]])
def test_the_order_of_dimensions_that_tensorstore_writes_is_read(tmp_path, order, write):
    ts = pytest.importorskip("tensorstore")
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(tmp_path / "a")}}
    layout = ts.ChunkLayout(
        inner_order=order, read_chunk_shape=[2, 2, 2], write_chunk_shape=write or [2, 2, 2]
    )
    data = np.arange(4 * 6 * 5, dtype="int16").reshape(4, 6, 5)
    theirs = ts.open(
        spec, create=True, dtype=ts.int16, shape=data.shape, chunk_layout=layout
    ).result()
    theirs.write(data).result()
    array = zarr.open_array(tmp_path / "a")
    assert (inner_order(array), array.chunks) == (order, (2, 2, 2))
    assert np.array_equal(array[...], data)


def transpose(*order):
    return zarr.codec("transpose", order=list(order))


def test_several_permutations_are_combined():
    array = zarr.create_array(
        shape=(4, 6, 8), chunks=(4, 6, 8), filters=[transpose(1, 2, 0), transpose(1, 0, 2)]
    )
    assert inner_order(array) == (2, 1, 0)
    inner = {"chunk_shape": [6, 4, 4], "codecs": [transpose(1, 0, 2).to_json(), "bytes"]}
    array = zarr.create_array(
        shape=(4, 6, 8), chunks=(4, 6, 8), filters=transpose(1, 2, 0), compressors=None,
        serializer={"name": "sharding_indexed", "configuration": inner},
    )  # fmt: skip
    assert inner_order(array) == (2, 1, 0)
    delta = zarr.codec("numcodecs.delta", dtype="<i4")
    assert inner_order(zarr.create_array(shape=(4, 6), dtype="i4", filters=delta)) == (0, 1)


def test_the_order_behind_a_filter_that_changes_the_shape_is_unknown():
    reshape = zarr.codec("reshape", shape=[24])
    assert inner_order(zarr.create_array(shape=(4, 6), chunks=(4, 6), filters=reshape)) is None


@pytest.mark.parametrize("order", ["F", (1, 0, 2), (0, 1, 2)])
@pytest.mark.parametrize("filters", [transpose(1, 2, 0), transpose(2, 1, 0)])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_an_order_beside_a_transpose_is_rejected(order, filters, zarr_format):
    store = {}
    options = {"shape": (4, 6, 8), "filters": filters, "zarr_format": zarr_format}
    with pytest.raises(
        CodecChainError, match="adds a transpose codec.*already contains one.*remove"
    ):
        zarr.create_array(store, order=order, **options)
    assert store == {}


def test_an_order_beside_a_transpose_within_shards_is_rejected():
    inner = {"chunk_shape": [4, 4], "codecs": [transpose(1, 0).to_json(), "bytes"]}
    sharding = {"name": "sharding_indexed", "configuration": inner}
    options = {"shape": (12, 8), "chunks": (12, 8), "serializer": sharding, "compressors": None}
    with pytest.raises(
        CodecChainError, match=r"in the order \(0, 1\), which contradicts order='F'"
    ):
        zarr.create_array(order="F", **options)
    assert inner_order(zarr.create_array(**options)) == (1, 0)


def test_orders_of_few_dimensions():
    for order in ("C", "F", ()):
        assert inner_order(zarr.create_array(shape=(), order=order)) == ()
    for order in ("C", "F", (0,)):
        assert inner_order(zarr.create_array(shape=4, order=order)) == (0,)


@pytest.mark.parametrize(
    "order", ["K", "A", (1, 0), (0, 1, 1), (1, 2, 3), 2, (0.0, 1.0, 2.0), "FCA"]
)
def test_an_order_that_is_not_a_permutation_is_rejected(order):
    with pytest.raises(ValueError, match="order must be"):
        zarr.create_array(shape=(4, 6, 8), order=order)


def test_version_2_has_two_orders():
    assert zarr.create_array(shape=(4, 6, 8), order=(2, 1, 0), zarr_format=2).order == "F"
    assert zarr.create_array(shape=(4, 6, 8), order=(0, 1, 2), zarr_format=2).order == "C"
    with pytest.raises(MetadataValidationError, match="order of the dimensions or its reverse"):
        zarr.create_array(shape=(4, 6, 8), order=(1, 0, 2), zarr_format=2)
