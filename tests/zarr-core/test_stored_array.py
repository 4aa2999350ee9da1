"""StoredArray: arrays below the public interface."""

import pickle

import pytest
import zarr_core as zarr
from zarr_core.codecs.bytes import BytesCodec


def array_of(**options):
    given = {"shape": (5, 6), "chunks": (2, 3), "dtype": "int16", "compressors": None, **options}
    return zarr.create_array(zarr.MemoryStore(), path="a/b", **given)


def test_keys_sizes_and_extents_of_chunks():
    array = array_of()
    array[2:4, :3] = 7
    array[4, 5] = 7
    stored = array.stored
    assert stored.chunk_key((1, 0)) == "a/b/c/1/0"
    assert dict(stored.stored_chunks()) == {(1, 0): "a/b/c/1/0", (2, 1): "a/b/c/2/1"}
    assert dict(stored.stored_sizes()) == {(1, 0): 12, (2, 1): 12}
    assert stored.chunk_extent((1, 0)) == (2, 3)
    assert stored.chunk_extent((2, 1)) == (1, 3)


def test_settings_stay_when_the_metadata_change():
    store = array_of().store
    config = {"missing_chunks": "error", "write_empty_chunks": True}
    array = zarr.open_array(store, path="a/b", config=config)
    array.resize(9, 6)
    assert array.stored.missing_is_error
    assert array.stored.resolved.write_empty_chunks


@pytest.mark.parametrize(("setting", "stored"), [(False, 1), (True, 1), ("never", 0)])
def test_zeros_are_stored_if_the_fill_value_is_undefined(setting, stored, tmp_path):
    options = {"shape": 2, "dtype": "i4", "chunks": 2, "fill_value": None, "zarr_format": 2}
    array = zarr.create_array(tmp_path, config={"write_empty_chunks": setting}, **options)
    copies = (array, pickle.loads(pickle.dumps(array)))
    array.resize(4)
    for each in copies:
        each[:2] = 0
        assert each.nchunks_initialized == stored
        each[:2] = 1
        assert each.nchunks_initialized == 1
        each[:2] = 0
        assert each.nchunks_initialized == stored
        assert each[:2].tolist() == [0, 0]


@pytest.mark.parametrize(("setting", "stored"), [(False, 0), (True, 1), ("never", 0)])
def test_elements_of_the_fill_value_are_stored_on_request(setting, stored):
    options = {"shape": 2, "dtype": "i4", "chunks": 2, "fill_value": 7}
    array = zarr.create_array({}, config={"write_empty_chunks": setting}, **options)
    array[...] = 7
    assert array.nchunks_initialized == stored


def test_extensions_of_the_block_are_kept():
    store = array_of().store
    with zarr.override_extensions({"codec": {"acme.plain": BytesCodec}}):
        array = zarr.open_array(store, path="a/b")
    assert array.stored.extensions == {"codec": {"acme.plain": BytesCodec}}
    array.resize(9, 6)
    assert array.stored.extensions == {"codec": {"acme.plain": BytesCodec}}
    assert zarr.open_array(store, path="a/b").stored.extensions == {}


def test_public_attributes_are_read_only():
    array = array_of()
    for name in ("store", "path", "metadata"):
        with pytest.raises(AttributeError):
            setattr(array, name, None)


def test_arrays_with_equal_metadata_share_the_resolved_metadata():
    group = zarr.create_group({})
    first = group.create_array("a", shape=(6,), chunks=(2,), dtype="f4", attributes={"n": 1})
    other = group.create_array("b", shape=(6,), chunks=(2,), dtype="f4")
    longer = group.create_array("c", shape=(9,), chunks=(2,), dtype="f4")
    assert group["a"].stored.resolved is group["b"].stored.resolved
    assert first.stored.resolved is other.stored.resolved
    assert longer.stored.resolved is not first.stored.resolved
    assert [array.stored.axes[0].count for array in (first, longer)] == [3, 5]
    assert group["a"].attrs == {"n": 1}


@pytest.mark.parametrize(
    "change",
    [{"dtype": "f8"}, {"fill_value": -0.0}, {"chunks": (3,)}, {"serializer": BytesCodec("big")}],
)
def test_arrays_with_different_extensions_share_no_codecs(change):
    options = {"shape": (6,), "chunks": (2,), "dtype": "f4", "fill_value": 0.0}
    first, other = zarr.create_array({}, **options), zarr.create_array({}, **options | change)
    assert first.stored.resolved is not other.stored.resolved
    assert first.stored.codecs is not other.stored.codecs


def test_an_override_does_not_affect_equal_metadata_outside():
    store = array_of().store

    class Other(BytesCodec):
        pass

    before = zarr.open_array(store, path="a/b")
    inside = zarr.open_array(store, path="a/b", extensions={"codec": {"bytes": Other}})
    after = zarr.open_array(store, path="a/b")
    assert type(inside.stored.codecs.array_to_bytes) is Other
    assert after.stored.resolved is before.stored.resolved
    assert inside.stored.resolved is not before.stored.resolved
