"""Additional fields of metadata, with and without a plugin for them."""

import json

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import (
    ExtensionConfigurationError,
    MetadataValidationError,
    StoreReadOnlyError,
    UnknownExtensionError,
    UnsupportedFieldError,
)
from zarr_core.extension import MetadataExtension, ValidationProblem, update_additional_fields


class Units(MetadataExtension):
    """The units of the elements; integers have none."""

    def __init__(self, unit):
        if not unit:
            raise ValueError("the unit is empty")

    @classmethod
    def from_definition(cls, definition):
        return cls(definition.configuration["unit"])

    def check(self, document):
        if document.get("data_type") == "int32":
            return [ValidationProblem("/units", "whole numbers have no unit")]
        return []


WITH = {"extension": {"units": Units}}


@pytest.fixture
def store():
    return zarr.MemoryStore()


def put(store, name, **members):
    """An array with additional fields."""
    zarr.create_array(store, path=name, data=np.arange(3.0))
    document = json.loads(store.get(f"{name}/zarr.json")) | members
    store.set(f"{name}/zarr.json", json.dumps(document).encode())


def test_a_member_that_must_be_understood_is_rejected(store):
    put(store, "a", units={"unit": "m"})
    with pytest.raises(UnsupportedFieldError, match="/units"):
        zarr.open(store, path="a")


def test_a_member_that_need_not_be_understood_is_ignored_and_kept(store):
    put(store, "a", units={"unit": "m", "must_understand": False})
    array = zarr.open(store, path="a")
    array.attrs["b"] = 1
    assert json.loads(store.get("a/zarr.json"))["units"]["unit"] == "m"
    array[0] = 7
    assert array[0] == 7


def test_a_plugin_makes_it_understood(store):
    put(store, "a", units={"unit": "m"})
    array = zarr.open(store, path="a", extensions=WITH)
    assert array[1] == 1
    with zarr.override_extensions(WITH):
        array.attrs["b"] = 1
        assert zarr.open(store)["a"].attrs["b"] == 1
    assert json.loads(store.get("a/zarr.json"))["units"] == {"unit": "m"}


def test_extension_is_rejected_after_the_plugin_is_removed(store):
    put(store, "a", units={"unit": "m"})
    zarr.open(store, path="a", extensions=WITH)
    with pytest.raises((UnsupportedFieldError, UnknownExtensionError), match="units"):
        zarr.open(store, path="a")


def test_consolidated_metadata_is_no_way_around(store):
    put(store, "a", units={"unit": "m"})
    with zarr.override_extensions(WITH):
        zarr.consolidate_metadata(store)
        assert zarr.open_group(store, "r")["a"][2] == 2
    with pytest.raises((UnsupportedFieldError, UnknownExtensionError), match="units"):
        zarr.open_group(store, "r")["a"]


def test_members_are_set_and_removed_on_nodes(store):
    array = zarr.create_array(store, path="a", data=np.arange(3.0))
    other = zarr.open_array(store, path="a", mode="r+")
    with zarr.override_extensions(WITH):
        update_additional_fields(array, {"units": {"unit": "m"}})
        update_additional_fields(other, {"note": {"must_understand": False, "by": ["me"]}})
        assert zarr.open_array(store, path="a").metadata.additional_fields == {
            "units": {"unit": "m"},
            "note": {"must_understand": False, "by": ["me"]},
        }
        before = store.get("a/zarr.json")
        with pytest.raises(ExtensionConfigurationError, match="unit is empty"):
            update_additional_fields(array, {"units": {"unit": ""}})
        with pytest.raises(UnknownExtensionError, match="other"):
            update_additional_fields(array, {"other": {}})
        with pytest.raises(MetadataValidationError, match="/note/by"):
            update_additional_fields(array, {"note": {"by": object()}})
        with pytest.raises(ValueError, match="shape: not an additional field"):
            update_additional_fields(array, {"shape": [7]})
        assert store.get("a/zarr.json") == before
        update_additional_fields(array, {"units": None, "never": None})
    assert list(zarr.open_array(store, path="a").metadata.additional_fields) == ["note"]
    group = zarr.open_group(store, mode="a")
    update_additional_fields(group, {"note": {"must_understand": False}})
    with pytest.raises(StoreReadOnlyError):
        update_additional_fields(zarr.open_group(store, mode="r"), {"note": None})
    assert "note" in json.loads(store.get("zarr.json"))


def test_a_format_without_further_members_rejects_them(store):
    array = zarr.create_array(store, shape=3, zarr_format=2)
    with pytest.raises(MetadataValidationError, match="does not support additional fields"):
        update_additional_fields(array, {"note": {"must_understand": False}})


@pytest.mark.parametrize("must_understand", [True, False])
def test_a_plugin_may_object(store, must_understand):
    put(store, "a", units={"unit": "", "must_understand": must_understand})
    put(store, "b", units={"unit": "m", "must_understand": must_understand}, data_type="int32")
    with zarr.override_extensions(WITH):
        with pytest.raises(ExtensionConfigurationError, match="unit is empty"):
            zarr.open(store, path="a")
        with pytest.raises(MetadataValidationError, match="whole numbers have no unit"):
            zarr.open(store, path="b")


@pytest.mark.parametrize("member", [{"unit": ""}, {"length": 1}, "m", None])
def test_error_has_location(store, member):
    put(store, "a", units=member)
    with pytest.raises(ExtensionConfigurationError) as caught:
        zarr.open(store, path="a", extensions=WITH)
    assert [problem.pointer for problem in caught.value.problems] == ["/units"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda: {}["oops"], "KeyError: 'oops'"),
        (lambda: None, "'NoneType' object is not iterable"),
        (lambda: "abc", "check returned 'a', which is not a ValidationProblem"),
    ],
)
def test_an_extension_that_fails_is_reported_with_its_member(store, answer, said):
    put(store, "a", units={"unit": "m"})

    class Failing(Units):
        def check(self, document):
            return answer()

    with pytest.raises(MetadataValidationError, match=f"/units: the extension .*failed: .*{said}"):
        zarr.open(store, path="a", extensions={"extension": {"units": Failing}})
