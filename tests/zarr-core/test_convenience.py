"""Filled arrays, arrays like others, and saving and loading."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import NodeExistsError


def test_full_of_something():
    assert zarr.zeros((2, 3), dtype="int8")[...].tolist() == [[0] * 3] * 2
    assert zarr.ones(2, dtype="bool")[...].tolist() == [True, True]
    assert zarr.full((2,), 7, chunks=1)[...].tolist() == [7, 7]
    assert zarr.full(2, np.nan).fill_value != zarr.full(2, np.nan).fill_value
    assert zarr.empty(3)[...].tolist() == [0, 0, 0]
    array = zarr.ones((4,), chunks=2)
    assert list(array.store.list()) == ["zarr.json"], "no chunk is stored for it"


def test_options_reach_the_maker(tmp_path):
    for maker in (zarr.zeros, zarr.ones, zarr.empty):
        made = maker(4, store=tmp_path / maker.__name__, chunks=2, attributes={"a": 1}, path="n")
        assert (made.chunks, made.attrs["a"], made.path) == ((2,), 1, "n")
    assert zarr.full(4, 1, store=tmp_path / "full", dtype="int8").dtype == np.int8
    assert zarr.array([1, 2], store=tmp_path / "array")[1] == 2
    with pytest.raises(NodeExistsError):
        zarr.array([1], store=tmp_path / "array")
    with pytest.raises(TypeError, match="colour"):
        zarr.zeros(4, colour=1)


@pytest.fixture
def like():
    return zarr.create_array(
        shape=(6, 8), chunks=(3, 2), shards=(6, 4), dtype=">i2", fill_value=4,
        compressors={"name": "gzip", "configuration": {"level": 9}},
        filters={"name": "transpose", "configuration": {"order": [1, 0]}},
        dimension_names=["a", "b"], chunk_key_encoding="v2", attributes={"not": "taken"},
    )  # fmt: skip


def test_like_another_array(like):
    same = zarr.empty_like(like)
    expected = like.metadata.to_json()
    expected["attributes"] = {}
    assert same.metadata.to_json() == expected
    assert same[0, 0] == 4
    for maker, value in ((zarr.zeros_like, 0), (zarr.ones_like, 1)):
        assert maker(like)[...].tolist() == [[value] * 8] * 6
        assert maker(like).chunks == (3, 2)
    assert zarr.full_like(like, 9, dimension_names=None).dimension_names is None
    assert zarr.full_like(like, 9)[5, 7] == 9


def test_like_another_with_differences(like):
    other = zarr.zeros_like(like, dtype="float64")
    assert (other.dtype, other.fill_value, other.shards) == (np.float64, 0, (6, 4))
    assert zarr.empty_like(like, dtype="uint8").fill_value == 0
    assert (zarr.empty_like(like, chunks=2).chunks, zarr.empty_like(like, chunks=2).shards) == (
        (2, 2),
        None,
    )
    assert zarr.empty_like(like, shards=None).shards is None
    assert zarr.empty_like(like, chunks=2, shards=4).shards == (4, 4)
    assert zarr.empty_like(like, shape=(12, 2)).chunks == (3, 2)
    line = zarr.empty_like(like, shape=100)
    assert (line.shape, line.dimension_names, line.filters) == ((100,), None, ())
    assert zarr.empty_like(like, compressors=None).compressors == ()


def test_like_anything():
    assert zarr.zeros_like(np.ones((2, 3), "int8")).dtype == np.int8
    assert zarr.ones_like([[1, 2], [3, 4]])[...].tolist() == [[1, 1], [1, 1]]
    plain = zarr.create_array(shape=7, chunks=3, dtype="int8")
    assert zarr.empty_like(plain).metadata == plain.metadata
    assert zarr.empty_like(plain, chunks=2).chunks == (2,)
    assert zarr.empty_like(plain, shape=(4, 4)).shape == (4, 4)


def test_one_array_is_saved_as_the_node_itself(tmp_path):
    zarr.save(tmp_path / "a", [[1, 2], [3, 4]])
    assert zarr.load(tmp_path / "a").tolist() == [[1, 2], [3, 4]]
    assert isinstance(zarr.load(tmp_path / "a"), np.ndarray)
    zarr.save(tmp_path / "b", np.arange(3), path="in/side")
    assert zarr.load(tmp_path / "b", path="in/side").tolist() == [0, 1, 2]
    with pytest.raises(NodeExistsError):
        zarr.save(tmp_path / "a", [5])
    zarr.save(tmp_path / "c", zarr.open(tmp_path / "a"))
    assert zarr.load(tmp_path / "c").tolist() == [[1, 2], [3, 4]]
    assert zarr.load(zarr.array(5)) == 5


def test_several_are_saved_in_a_group(tmp_path):
    zarr.save(tmp_path / "a", [1], [2, 3], x=np.zeros(2))
    zarr.open(tmp_path / "a").create_group("inner")
    loaded = zarr.load(tmp_path / "a")
    assert {name: values.tolist() for name, values in loaded.items()} == {
        "arr_0": [1],
        "arr_1": [2, 3],
        "x": [0, 0],
    }
    zarr.save(tmp_path / "b", x=[1], path="deep")
    assert list(zarr.load(tmp_path / "b", path="deep")) == ["x"]
    assert zarr.load(tmp_path / "b") == {}
    with pytest.raises(ValueError, match="nothing to save"):
        zarr.save(tmp_path / "c")
    with pytest.raises(NodeExistsError):
        zarr.save(tmp_path / "a", [1], [2])
    assert not (tmp_path / "c").exists()


def test_saving_overwrites_on_request():
    store = zarr.MemoryStore()
    zarr.save(store, [1, 2])
    zarr.save(store, [3], overwrite=True)
    assert zarr.load(store).tolist() == [3]
    zarr.save(store, x=[4], overwrite=True)
    zarr.save(store, [5], [6], overwrite=True)
    loaded = {name: values.tolist() for name, values in zarr.load(store).items()}
    assert loaded == {"arr_0": [5], "arr_1": [6]}
    with pytest.raises(NodeExistsError, match="overwrite=True"):
        zarr.save(store, [6])


def test_two_arrays_of_one_name_are_not_saved():
    store = zarr.MemoryStore()
    with pytest.raises(ValueError, match="two arrays as 'arr_0'"):
        zarr.save(store, [1, 2], arr_0=[9, 9, 9])
    assert not [*store.list()]
