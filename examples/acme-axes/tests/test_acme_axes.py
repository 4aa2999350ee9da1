"""The conformance tests; coordinates and the JSON pointers of errors."""

import json

import pytest
import zarr_core as zarr
from acme_axes import Axes, axes_of, set_axes
from zarr_conformance.kit import MetadataExtensionTests

AXES = Axes((90.0, 0.0), (-0.5, 0.25), ("degrees north", "degrees east"))


def member(**members):
    return {"start": [90, 0], "step": [-0.5, 0.25], "unit": ["degrees north", "m"]} | members


class TestAxes(MetadataExtensionTests):
    name = "acme.axes"
    configurations = [member(), member(start=[-1e300, 7])]
    bad_configurations = [{}, member(step=[0, 1]), member(start="here"), member(unit=[None, "m"])]
    nodes = ["array"]
    contradictions = [
        (member(unit=["m"]), {"shape": (4, 3)}),
        (member(), {"shape": 4}),
        (member(start=[], step=[], unit=[]), {"shape": (4, 3)}),
    ]


@pytest.fixture
def array():
    return zarr.create_array(shape=(361, 1440), chunks=(90, 360), dtype="int16")


def document(store):
    return json.loads(bytes(store.get("zarr.json")))


def store_with(array, **members):
    whole = document(array.store) | members
    return zarr.MemoryStore({"zarr.json": json.dumps(whole).encode()})


def test_coordinates_are_computed(array):
    set_axes(array, AXES)
    found = axes_of(zarr.open_array(array.store))
    north, east = found.coordinates(array.shape)
    assert (north[0], north[-1], east[-1]) == (90, -90, 359.75)
    assert found.nearest(47.6, 12.1) == (85, 48)
    array[found.nearest(47.6, 12.1)] = 7
    assert array[85, 48] == 7


def test_an_array_without_the_field_has_no_axes(array):
    assert axes_of(array) is None


def test_resize_keeps_the_field(array):
    set_axes(array, AXES)
    before = document(array.store)["acme.axes"]
    array.resize((100, 100))
    assert document(array.store)["acme.axes"] == before
    assert axes_of(zarr.open_array(array.store)) == AXES


def test_the_array_can_be_read_without_the_plugin(array):
    set_axes(array, AXES)
    with zarr.config.set(disabled_plugins=("acme-axes",)):
        other = zarr.open_array(array.store, mode="r+")
        other[0, 0] = 3
        other.attrs["title"] = "rain"
    assert axes_of(zarr.open_array(array.store)) == AXES


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"step": [0, 1]}, "/acme.axes/step/0"),
        ({"start": "here"}, "/acme.axes/start"),
        ({"colour": "red"}, "/acme.axes/colour"),
        ({"unit": ["m"]}, "/acme.axes/unit"),
    ],
)
@pytest.mark.parametrize("must_understand", [True, False])
def test_errors_have_the_pointer(array, change, pointer, must_understand):
    wrong = AXES.to_json() | {"must_understand": must_understand} | change
    with pytest.raises(zarr.errors.ZarrError) as caught:
        zarr.open_array(store_with(array, **{"acme.axes": wrong}))
    assert [problem.pointer for problem in caught.value.problems] == [pointer]
