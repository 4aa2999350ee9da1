"""New arrays of version 2, with all its features."""

import json

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from zarr_core.errors import (
    CodecChainError,
    MetadataValidationError,
    UnknownExtensionError,
)

numcodecs = pytest.importorskip("numcodecs")


def create(**options):
    """A new array and its stored metadata document."""
    store = zarr.MemoryStore()
    array = zarr.create_array(store, zarr_format=2, **options)
    return array, json.loads(bytes(store.get(".zarray")))


def test_structured_types():
    dtype = np.dtype([("a", "<i4"), ("b", [("c", "<f4"), ("d", "S3")]), ("e", "<u2", (2,))])
    array, document = create(shape=3, chunks=2, dtype=dtype)
    assert document["dtype"] == [
        ["a", "<i4"], ["b", [["c", "<f4"], ["d", "|S3"]]], ["e", "<u2", [2]],
    ]  # fmt: skip
    value = np.array((1, (2.5, b"x"), [3, 4]), dtype)
    array[1] = value
    assert zarr.open(array.store)[1] == value
    array["a"] = 9
    assert array[1]["b"]["d"] == b"x"


def test_defaults():
    array, document = create(shape=(10,), chunks=5, dtype="i2")
    assert document == {
        "chunks": [5],
        "compressor": {"id": "zstd", "level": 0},
        "dimension_separator": ".",
        "dtype": "<i2",
        "fill_value": 0,
        "filters": None,
        "order": "C",
        "shape": [10],
        "zarr_format": 2,
    }
    assert not array.store.exists(".zattrs")
    assert array.zarr_format == 2


@pytest.mark.parametrize(
    ("given_", "stored"),
    [
        (None, None),
        (
            numcodecs.Blosc("zstd", 3, 2),
            {"id": "blosc", "cname": "zstd", "clevel": 3, "shuffle": 2, "blocksize": 0},
        ),
        ({"id": "zlib", "level": 4}, {"id": "zlib", "level": 4}),
        (numcodecs.LZ4(), {"id": "lz4", "acceleration": 1}),
        (numcodecs.Zstd(5), {"id": "zstd", "level": 5}),
        ("gzip", {"id": "gzip", "level": 5}),
    ],
)
def test_compressors(given_, stored):
    array, document = create(shape=(8, 8), chunks=(4, 4), dtype="f4", compressors=given_)
    if stored is None or stored["id"] != "gzip":
        assert document["compressor"] == stored
    else:
        assert document["compressor"]["id"] == "gzip"
    array[...] = np.arange(64).reshape(8, 8)
    assert (zarr.open(array.store)[...] == np.arange(64).reshape(8, 8)).all()


@pytest.mark.parametrize(
    ("dtype", "stored"), [(">i4", "<i8"), ("<i4", ">i8"), (">f4", "<i2"), ("|u1", ">i4")]
)
def test_the_last_filter_gives_the_stored_byte_order(dtype, stored):
    delta = numcodecs.Delta(dtype, stored)
    array, document = create(shape=4, chunks=4, dtype=dtype, filters=[delta], compressors=None)
    assert document["dtype"] == dtype
    assert document["filters"] == [{"id": "delta", "dtype": dtype, "astype": stored}]
    array[...] = [1, 5, 3, 70]
    assert delta.decode(array.store.get("0")).tolist() == [1, 5, 3, 70]
    assert zarr.open(array.store)[...].tolist() == [1, 5, 3, 70]


def test_chunks_of_nothing_but_the_fill_value():
    array, _ = create(data=np.zeros(10), chunks=5)
    assert not array.store.exists("0")
    array, document = create(data=np.zeros(10), chunks=5, config={"write_empty_chunks": True})
    assert array.store.exists("0")
    assert document["fill_value"] == 0.0


def test_an_undefined_fill_value_keeps_every_chunk():
    store = zarr.MemoryStore()
    array = zarr.create_array(store, shape=10, chunks=5, dtype="i4", zarr_format=2)
    document = json.loads(bytes(store.get(".zarray"))) | {"fill_value": None}
    store.set(".zarray", json.dumps(document).encode())
    array = zarr.open(store)
    assert array.fill_value is None
    assert array[...].tolist() == [0] * 10
    array[:5] = 0
    assert store.exists("0")
    assert json.loads(bytes(store.get(".zarray")))["fill_value"] is None


def test_members_of_a_group_have_its_format():
    group = zarr.create_group(zarr_format=2)
    assert group.create_array("a", shape=1, dtype="i1").zarr_format == 2
    assert group.create_group("b").zarr_format == 2
    assert sorted(group) == ["a", "b"]


def test_filters_for_other_elements():
    with pytest.raises((CodecChainError, MetadataValidationError), match="delta|filters/0"):
        create(shape=4, dtype="i4", filters=[numcodecs.Delta("<f4")])


def test_unknown_codecs():
    with pytest.raises(UnknownExtensionError, match="acme"):
        create(shape=4, dtype="i4", compressors={"id": "acme"})


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_array_round_trips(data):
    simple = st.sampled_from(["|b1", ">i2", "<u8", "<f2", ">f8", ">c8", "<M8[ms]", ">m8[D]", "|V3"])
    record = st.lists(simple, min_size=1, max_size=3).map(
        lambda types: [(f"f{number}", *part) for number, part in enumerate(zip(types, strict=True))]
    )
    dtype = np.dtype(data.draw(simple | record))
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=3, max_side=5))
    native = dtype.newbyteorder("=")
    size = int(np.prod(shape, dtype=int)) * native.itemsize
    raw = data.draw(st.binary(min_size=size, max_size=size))
    if native.kind == "b" or native.names:
        raw = bytes(byte & 1 for byte in raw)
    values = np.frombuffer(raw, native).reshape(shape)
    array, _ = create(
        shape=shape,
        chunks=tuple(data.draw(st.integers(1, 4)) for _ in shape) or "auto",
        dtype=dtype,
        order=data.draw(st.sampled_from("CF")),
        compressors=data.draw(st.sampled_from([None, numcodecs.Zlib(1), numcodecs.Blosc()])),
    )
    array[...] = values
    again = np.asarray(zarr.open(array.store)[...])
    assert again.dtype == native
    assert again.tobytes() == values.tobytes()
