"""Other chunks, shards and codecs: the elements are unchanged."""

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_transfer import ConversionError, convert, copy_elements, plan_conversion

LONG = 23


@st.composite
def layouts(draw, ndim):
    chunks = tuple(draw(st.integers(1, 9)) for _ in range(ndim))
    shards = None
    if draw(st.booleans()):
        shards = tuple(draw(st.integers(1, 3)) * chunk for chunk in chunks)
    compressors = draw(st.sampled_from([None, "gzip", "zstd", ["zstd", "crc32c"]]))
    filters = draw(st.sampled_from([None, {"name": "transpose", "order": None}])) and [
        {"name": "transpose", "configuration": {"order": [*draw(st.permutations(range(ndim)))]}}
    ]
    return {"chunks": chunks, "shards": shards, "compressors": compressors, "filters": filters}


@st.composite
def conversions(draw):
    ndim = draw(st.integers(0, 3))
    shape = tuple(draw(st.integers(0, LONG)) for _ in range(ndim))
    old, new = draw(layouts(ndim)), draw(layouts(ndim))
    asked = draw(st.sets(st.sampled_from(sorted(new))))
    new = {name: value for name, value in new.items() if name in asked}
    if "shards" in new and "chunks" not in new:
        del new["shards"]  # it may not contain whole chunks of the old shape
    if "chunks" in new and "shards" not in new:
        new["shards"] = None
    return shape, old, new, draw(st.integers(1, 2000)), draw(st.integers(0, 2**32))


@given(conversions())
@settings(max_examples=60)
def test_elements_stay_what_they_are(conversion):
    shape, old, new, budget, seed = conversion
    random = np.random.default_rng(seed)
    values = random.integers(0, 3, shape).astype("int16")
    source, dest = zarr.MemoryStore(), zarr.MemoryStore()
    # Chunks with only the fill value are not stored, but must read the same.
    zarr.create_array(source, data=values, fill_value=random.integers(0, 3), **old)
    before = {key: bytes(source.get(key)) for key in source.list()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(copy_elements, "BUFFER", budget)
        done = convert(source, dest, **new)
    array = zarr.open_array(dest, mode="r")
    assert np.array_equal(array[...], values)
    assert array.dtype == values.dtype
    if "chunks" in new:
        assert (array.chunks, array.shards) == (new["chunks"], new["shards"])
    if not new:
        assert done.cost == "copy"
    assert {key: bytes(source.get(key)) for key in source.list()} == before


def test_existing_values_do_not_cause_decoding():
    source = zarr.MemoryStore()
    zarr.create_array(source, data=np.arange(100), chunks=10, shards=20, compressors="gzip")
    gzip = {"name": "gzip", "configuration": {"level": 5}}
    same = {"chunks": 10, "shards": 20, "compressors": [gzip]}
    assert plan_conversion(source, zarr.MemoryStore(), **same).cost == "copy"
    assert plan_conversion(source, zarr.MemoryStore(), chunks=5).cost == "recode"
    assert plan_conversion(source, zarr.MemoryStore(), compressors=None).cost == "recode"
    assert plan_conversion(source, zarr.MemoryStore(), filters=None).cost == "copy"


def test_the_rest_of_the_layout_stays():
    source, dest = zarr.MemoryStore(), zarr.MemoryStore()
    zarr.create_array(
        source, data=np.arange(64).reshape(8, 8), chunks=(2, 2), compressors="gzip", fill_value=3,
        shards={"shape": (4, 8), "index_location": "start"}, attributes={"a": [1]},
        dimension_names=("y", "x"), chunk_key_encoding={"name": "v2", "separator": "/"},
    )  # fmt: skip
    convert(source, dest, chunks=(4, 1))
    old, new = zarr.open(source), zarr.open(dest)
    assert (new.chunks, new.shards) == ((4, 1), (4, 8))
    assert new.codecs[0].configuration["index_location"] == "start"
    assert new.compressors == old.compressors
    assert new.fill_value == 3
    assert dict(new.attrs) == {"a": [1]}
    assert new.dimension_names == ("y", "x")
    assert new.metadata.chunk_key_encoding == old.metadata.chunk_key_encoding
    assert np.array_equal(new[...], old[...])


def test_another_fill_value_does_not_change_elements(monkeypatch):
    monkeypatch.setattr(copy_elements, "BUFFER", 5)  # so most regions contain no stored chunks
    source, dest = zarr.MemoryStore(), zarr.MemoryStore()
    zarr.create_array(source, shape=500, chunks=5, dtype="int8", fill_value=1)[0:3] = 9
    convert(source, dest, fill_value=2)
    new = zarr.open(dest)
    assert new.fill_value == 2
    assert new[...].tolist() == [9] * 3 + [1] * 497


def test_a_vast_empty_array_is_omitted():
    """Of a petabyte, only regions with stored chunks are read."""
    source, dest = CountingStore(zarr.MemoryStore()), CountingStore(zarr.MemoryStore())
    array = zarr.create_array(source, shape=(10**8, 10**7), chunks=(100, 100), dtype="i1")
    array[5, 5] = array[10**8 - 1, 77] = 7
    source.calls.clear()
    convert(source, dest, chunks=(70, 30))
    new = zarr.open(dest)
    assert new[5, 5] == new[10**8 - 1, 77] == 7
    assert new[5, 6] == 0
    assert new.nchunks_initialized == 2
    assert source.count("get_limited", "get") < 2 * (2 * 60) ** 2


def test_chunks_of_a_conversion_with_another_layout_do_not_shine_through():
    source, dest = zarr.MemoryStore(), zarr.MemoryStore()
    zarr.create_array(source, shape=20, chunks=5, dtype="int8")[0:5] = 9
    left = zarr.create_array(zarr.MemoryStore(), shape=20, chunks=4, dtype="int8")
    zarr.array_from_metadata(dest, left.metadata)[...] = 1  # no metadata: it was interrupted
    convert(source, dest, chunks=4)
    assert zarr.open(dest)[...].tolist() == [9] * 5 + [0] * 15
    for cost in ("copy", "recode"):
        dest = zarr.MemoryStore()
        zarr.array_from_metadata(dest, zarr.open(source).metadata)[...] = 1
        done = convert(source, dest, **({} if cost == "copy" else {"compressors": None}))
        assert done.cost == cost
        assert zarr.open(dest)[...].tolist() == [9] * 5 + [0] * 15


def test_arrays_of_groups_that_do_not_fit_are_named():
    source = zarr.create_group(zarr.MemoryStore())
    source.create_array("a", data=np.zeros((4, 4)))
    source.create_array("b/c", data=np.zeros(4))
    with pytest.raises(ConversionError, match="2 lengths for 1 dimensions") as error:
        convert(source, zarr.MemoryStore(), chunks=(2, 2))
    assert [problem.pointer for problem in error.value.problems] == ["/b/c"]
    dest = zarr.MemoryStore()
    convert(source, dest, chunks=(2, 2), on_error="skip")
    assert sorted(path for path, _ in zarr.open(dest).members(max_depth=None)) == ["a", "b"]
