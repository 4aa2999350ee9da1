"""Fields of structured elements, with a custom data type."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zarr_core as zarr
from plain_data_type import Plain
from zarr_core.errors import ChunkDecodeError, SelectionError, UnknownExtensionError

PLACE = np.dtype([("name", "S4"), ("x", "<f4"), ("y", "<f4"), ("box", "<i2", (2,))])


class Place(Plain):
    """The only structured data type in this test."""

    def __init__(self):
        super().__init__(PLACE, "acme.place")

    @classmethod
    def from_definition(cls, definition):
        return cls()

    @classmethod
    def from_numpy(cls, dtype):
        return cls() if dtype == PLACE else None


GIVEN = {"data_type": {"acme.place": Place}}


def elements(count):
    values = np.zeros(count, PLACE)
    values["name"] = [f"n{i}" for i in range(count)]
    values["x"] = np.arange(count)
    values["y"] = -np.arange(count)
    values["box"] = np.arange(2 * count).reshape(count, 2)
    return values


@pytest.fixture(params=[None, 4], ids=["chunks", "shards"])
def places(request):
    return zarr.open_array(
        data=elements(7), dtype=PLACE, chunks=2, shards=request.param, mode="w", extensions=GIVEN
    )


def test_elements_are_stored_whole(places):
    np.testing.assert_array_equal(places[...], elements(7))
    assert places[3] == elements(7)[3]
    assert places.dtype == PLACE
    assert places[3].item()[:3] == (b"n3", 3.0, -3.0)


def test_fields_are_read(places):
    beside = elements(7)
    np.testing.assert_array_equal(places["x"], beside["x"])
    np.testing.assert_array_equal(places["x", 2:5], beside["x"][2:5])
    np.testing.assert_array_equal(places["x", "name"], beside[["x", "name"]])
    np.testing.assert_array_equal(places[["y", "x"]], beside[["y", "x"]])
    np.testing.assert_array_equal(places[["x"]], beside[["x"]])
    np.testing.assert_array_equal(places["box", 1], beside["box"][1])
    assert places["name", 6] == b"n6"
    np.testing.assert_array_equal(places.oindex["x", [4, 1]], beside["x"][[4, 1]])
    np.testing.assert_array_equal(places.vindex["x", [4, 1]], beside["x"][[4, 1]])
    np.testing.assert_array_equal(
        places.get_mask_selection(beside["x"] > 3, fields="y"), beside["y"][4:]
    )
    np.testing.assert_array_equal(
        places.blocks["x", 0], beside["x"][: places.stored.axes[0].start(1)]
    )


def test_fields_are_read_into_memory_of_the_user(places):
    out = np.zeros(7, "float64")
    assert places.get_basic_selection(fields="x", out=out) is out
    np.testing.assert_array_equal(out, np.arange(7))
    boxes = np.zeros((7, 2), "int16")
    places.get_basic_selection(fields="box", out=boxes)
    np.testing.assert_array_equal(boxes, elements(7)["box"])
    with pytest.raises(SelectionError, match=r"out has shape \(7,\), the selection \(7, 2\)"):
        places.get_basic_selection(fields="box", out=np.zeros(7))


def test_fields_are_written_and_the_others_stay(places):
    beside = elements(7)
    places["x"] = beside["x"] = 9
    places["y", 1:4] = beside["y"][1:4] = [1, 2, 3]
    places[["x", "y"]] = (5.0, 6.0)
    beside["x"], beside["y"] = 5, 6
    places.oindex["y", [0, 6]] = [7, 8]
    beside["y"][[0, 6]] = [7, 8]
    places.vindex["x", [5, 0]] = [1, 2]
    beside["x"][[5, 0]] = [1, 2]
    places.blocks["x", 0] = 3
    beside["x"][: places.stored.axes[0].start(1)] = 3
    places.set_mask_selection(beside["y"] == 8, 0, fields="y")
    beside["y"][6] = 0
    places.set_basic_selection(slice(0, 0), 1, fields="x")
    np.testing.assert_array_equal(places[...], beside)


def test_fields_that_are_not_there_are_rejected(places):
    for use in (
        lambda: places["z"],
        lambda: places["x", "z"],
        lambda: places.get_basic_selection(fields=["z"]),
        lambda: places.__setitem__("z", 1),
    ):
        with pytest.raises(SelectionError, match=r"no fields \['z'\]"):
            use()
    with pytest.raises(SelectionError, match="write whole elements"):
        places["box"] = 1
    plain = zarr.create_array(shape=3, dtype="int8")
    with pytest.raises(SelectionError, match="int8 has no fields"):
        plain.get_basic_selection(fields="x")
    with pytest.raises(SelectionError, match="int8 has no fields"):
        plain.set_basic_selection(..., 1, fields="x")


def test_writers_of_different_fields_lose_nothing(places):
    def write(name, sign):
        for number in range(30):
            places[name, number % 7] = sign * number

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, "xy", (1, -1)))
    last = np.array([28, 29, 23, 24, 25, 26, 27])
    np.testing.assert_array_equal(places["x"], last)
    np.testing.assert_array_equal(places["y"], -last)


def test_damage_is_located_when_a_field_is_written(tmp_path):
    array = zarr.open_array(
        tmp_path / "a", data=elements(4), dtype="acme.place", chunks=2, compressors="gzip",
        mode="w", extensions=GIVEN,
    )  # fmt: skip
    (tmp_path / "a" / "c" / "1").write_bytes(b"no gzip")
    with pytest.raises(ChunkDecodeError, match="c/1"):
        array["x"] = 1


def test_a_fill_value_that_was_handed_out_is_a_copy(places):
    places.fill_value["x"] = 7
    assert places.fill_value["x"] == 0


def test_the_node_keeps_the_data_type_it_was_opened_with(tmp_path):
    group = zarr.open_group(tmp_path / "g", "w", extensions=GIVEN)
    group.create_array("a", data=elements(3), dtype=PLACE)
    with pytest.raises(UnknownExtensionError, match=r"acme\.place"):
        zarr.open(tmp_path / "g")["a"]
    again = zarr.open(tmp_path / "g", extensions=GIVEN)
    array = again["a"]
    array.attrs["unit"] = "m"
    array.resize(2)
    array.append(elements(3)[2:])
    array.refresh()
    np.testing.assert_array_equal(array[...], elements(3))
    np.testing.assert_array_equal(dict(again.arrays())["a"][...], elements(3))
    for node in (array, again):
        copy = pickle.loads(pickle.dumps(node))
        found = copy if isinstance(copy, zarr.Array) else copy["a"]
        np.testing.assert_array_equal(found[...], elements(3))
    assert again.require_array("a", shape=3, dtype=PLACE).attrs["unit"] == "m"
    like = zarr.empty_like(array)
    assert (like.dtype, like.shape) == (PLACE, (3,))
    np.testing.assert_array_equal(zarr.copy(array, None)[...], elements(3))
