"""The interfaces of arrays for NumPy, Python and Dask."""

import inspect
import json
import pickle

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from zarr_core.errors import StoreError


@pytest.fixture
def array():
    return zarr.array(np.arange(12, dtype="int16").reshape(4, 3), chunks=2)


def test_repr_and_attributes():
    array = zarr.create_array(
        shape=(5, 6), chunks=(2, 3), shards=(4, 3), dtype=">f4", fill_value=1.5,
        attributes={"a": 1}, dimension_names=["y", "x"], compressors="gzip",
    )  # fmt: skip
    assert (array.shape, array.ndim, array.size) == ((5, 6), 2, 30)
    assert (array.dtype, array.nbytes) == (np.dtype("f4"), 120)
    assert (array.chunks, array.shards, array.cdata_shape) == ((2, 3), (4, 3), (2, 2))
    assert (array.fill_value, array.dimension_names) == (1.5, ("y", "x"))
    assert (array.nchunks, array.blocks.shape) == (6, (2, 2))
    assert array.metadata.dimension_names == ("y", "x")
    assert [definition.name for definition in array.codecs] == ["sharding_indexed"]
    assert (len(array.filters), len(array.compressors)) == (0, 1)
    assert array.ignored_extensions == ()
    assert not array.read_only
    again = zarr.create_array(
        shape=(5, 6), chunks=array.chunks, shards=array.shards, dtype=array.dtype,
        fill_value=array.fill_value, filters=array.filters, serializer=array.serializer,
        compressors=array.compressors, dimension_names=array.metadata.dimension_names,
        attributes=array.attrs,
    )  # fmt: skip
    assert again.metadata.to_json() == array.metadata.to_json()


def test_as_a_numpy_array(array):
    beside = np.arange(12).reshape(4, 3)
    np.testing.assert_array_equal(np.asarray(array), beside)
    np.testing.assert_array_equal(array, beside)
    assert np.asarray(array).dtype == np.int16
    assert np.asarray(array, "float32").dtype == np.float32
    assert np.array(array, dtype="float32", copy=True)[3, 2] == 11
    assert np.sum(array) == 66
    assert np.concatenate([array, array]).shape == (8, 3)
    with pytest.raises(ValueError, match="always copies"):
        np.asarray(array, copy=False)
    first, second = np.asarray(array), np.asarray(array)
    first[0, 0] = 99
    assert second[0, 0] == array[0, 0] == 0


def test_names_that_make_others_treat_it_as_something_else(array):
    for name in ("__array_function__", "__array_ufunc__", "__array_namespace__", "_meta", "copy"):
        assert not hasattr(array, name)
    assert not hasattr(array, "__dataclass_fields__")
    assert not hasattr(array.metadata, "__dask_graph__")


def test_length_and_iteration():
    store = CountingStore(zarr.MemoryStore())
    array = zarr.create_array(store, data=np.arange(20).reshape(10, 2), chunks=(4, 2))
    store.calls.clear()
    assert [row.tolist() for row in array] == np.arange(20).reshape(10, 2).tolist()
    assert store.keys("get_limited") == ["c/0/0", "c/1/0", "c/2/0"]
    store.calls.clear()
    rows = iter(array)
    next(rows)
    assert store.count() == 1, "no more is read than was asked for"
    assert len(array) == 10
    assert list(zarr.array([1, 2, 3], chunks=2)) == [1, 2, 3]
    assert list(zarr.create_array(shape=(0, 3))) == []
    assert 3 in zarr.array([1, 2, 3])
    point = zarr.array(5)
    with pytest.raises(TypeError, match="has no length"):
        len(point)
    with pytest.raises(TypeError, match="cannot be iterated over"):
        iter(point).__next__()


def test_single_elements():
    point = zarr.array(np.int16(3))
    assert point[()] == 3
    assert isinstance(point[()], np.int16)
    assert isinstance(point[...], np.ndarray)
    assert bool(point)
    assert bool(zarr.array([[2.5]]))
    assert not zarr.array([0])
    several = zarr.array([[1, 2], [3, 4]])
    for truth in (several, zarr.create_array(shape=0)):
        with pytest.raises(ValueError, match=r"any\(\) or all\(\)"):
            bool(truth)


def test_zero_dimensional_arrays():
    point = zarr.create_array(shape=(), dtype="int8", fill_value=7)
    assert point[()] == 7
    assert list(point.store.list()) == ["zarr.json"]
    for selection in ((), ..., None):
        point[selection] = 3
        assert np.all(point[selection] == 3)
    assert point[None].shape == (1,)
    point.set_basic_selection((), 4)
    out = np.zeros((), "int8")
    assert point.get_basic_selection((), out=out) is out
    assert out == 4
    assert point.nchunks_initialized == point.nchunks == 1
    assert np.asarray(point) == 4
    point.blocks[()] = 5
    assert point.blocks[()] == 5
    assert point.oindex[()] == point.vindex[()] == 5


def test_an_array_may_index_another(array):
    index = zarr.array([2, 0])
    np.testing.assert_array_equal(array[index], array[[2, 0]])
    np.testing.assert_array_equal(array.oindex[index, 1], array[[2, 0]][:, 1])
    array[...] = zarr.array(np.ones((4, 3)))
    assert np.all(array[...] == 1)


# --- Dask ---


def test_the_token_says_what_is_read(array):
    token = array.__dask_tokenize__()
    assert token == zarr.open(array.store).__dask_tokenize__()
    assert token == zarr.open(array.store, "r").__dask_tokenize__()
    other = zarr.array(np.arange(12).reshape(4, 3))
    assert other.__dask_tokenize__() != token
    array.attrs["a"] = 1
    assert array.__dask_tokenize__() != token
    assert hash(array.__dask_tokenize__())


# --- pickling ---


def test_pickles_carry_what_is_known_and_read_nothing(tmp_path):
    group = zarr.create_group(tmp_path / "g", attributes={"a": 1})
    group.create_array("x", data=np.arange(5), chunks=2)
    array = zarr.open_array(
        tmp_path / "g", "r", path="x",
        config={"missing_chunks": "error", "write_empty_chunks": True},
    )  # fmt: skip
    data = pickle.dumps(array), pickle.dumps(group)
    document = (tmp_path / "g" / "x" / "zarr.json").read_text()
    (tmp_path / "g" / "x" / "zarr.json").write_text("{")
    copy, group_copy = map(pickle.loads, data)
    assert copy == array
    assert copy[...].tolist() == [0, 1, 2, 3, 4]
    assert copy.read_only
    assert copy.__reduce__()[1][:6] == array.__reduce__()[1][:6]
    assert (group_copy == group, group_copy.attrs) == (True, {"a": 1})
    (tmp_path / "g" / "x" / "zarr.json").write_text(document)
    assert group_copy["x"][...].tolist() == [0, 1, 2, 3, 4]
    zarr.consolidate_metadata(tmp_path / "g")
    for use, calls in ((True, True), (False, False)):
        opened = zarr.open_group(tmp_path / "g", "r", use_consolidated=use)
        copied = pickle.loads(pickle.dumps(opened))
        assert (
            copied.stored.consolidated is not None and copied.stored.consolidated.lookup
        ) == calls
    inner = pickle.loads(pickle.dumps(zarr.open_consolidated(tmp_path / "g")["x"]))
    assert inner[0] == 0


def test_memory_that_can_be_written_to_does_not_pickle(array):
    for node in (array, zarr.create_group()):
        with pytest.raises(StoreError, match=r"cannot be pickled.*its work would be lost"):
            pickle.dumps(node)
    frozen = zarr.open(zarr.MemoryStore(array.store._mapping, read_only=True))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(frozen))[...], array[...])


def test_deep_copies_are_the_same_place(array):
    import copy

    assert copy.copy(array) == copy.deepcopy(array) == array


ARRAY = """
    append attrs basename blocks cdata_shape chunks compressors dtype fill_value filters
    get_basic_selection get_block_selection get_coordinate_selection get_mask_selection
    get_orthogonal_selection info info_complete metadata name nbytes nbytes_stored nchunks
    nchunks_initialized ndim oindex path read_only resize serializer set_basic_selection
    set_block_selection set_coordinate_selection set_mask_selection
    set_orthogonal_selection shape shards size store update_attributes vindex
"""
GROUP = """
    array_keys array_values arrays attrs basename create_array create_group group_keys
    group_values groups info info_complete members metadata move name nmembers path read_only
    require_array require_group require_groups store tree update_attributes
"""
CREATE = """
    store shape dtype data chunks shards filters compressors serializer fill_value
    zarr_format attributes chunk_key_encoding dimension_names storage_options overwrite
    config
"""


def test_names_follow_zarr_python(array):
    assert not set(ARRAY.split()) - set(dir(array))
    assert not set(GROUP.split()) - set(dir(zarr.create_group()))
    given = list(inspect.signature(zarr.create_array).parameters)
    assert given[0] == "store"
    assert not set(CREATE.split()) - set(given)
    assert "path" in given  # name= as in the other functions of zarr-python
    for opener in (zarr.open, zarr.open_array, zarr.open_group):
        assert list(inspect.signature(opener).parameters)[:2] == ["store", "mode"]


def test_a_document_of_a_node_is_not_changed_through_it(array):
    before = bytes(array.store.get("zarr.json"))
    array.metadata.to_json()["shape"] = [1]
    array.attrs.asdict()["x"] = 1
    array.info.to_dict().clear()
    assert zarr.open(array.store).shape == (4, 3)
    assert json.loads(before) == array.metadata.to_json()
