"""Unknown data types with known fallbacks: values, warnings and errors."""

import warnings

import numpy as np
import pytest
from draft_stores import EXTENSION, SPEC, array_store, document_of, open_a, ramp
from zarr_core import messages
from zarr_core.config import config
from zarr_core.errors import StoreReadOnlyError, UnknownExtensionError
from zarr_core.extension import hookimpl
from zarr_core.registry.hooks import register_hooks, unregister_hooks

DATETIME = f"{SPEC}extensions/data-types/datetime/1.0"


@pytest.fixture(autouse=True)
def _forget():
    messages._issued.clear()


def unknown(*fallbacks, **changes):
    given = fallbacks[0] if len(fallbacks) == 1 else list(fallbacks)
    described = {"extension": EXTENSION, "type": "quaternion", "fallback": given}
    store = array_store(data_type=described, **changes)
    for i in range(2):
        for j in range(2):
            chunk = ramp((4, 6))[2 * i : 2 * i + 2, 3 * j : 3 * j + 3]
            store.set(f"data/a/c{i}/{j}", chunk.astype("<i4").tobytes())
    return store


def test_one_fallback():
    with pytest.warns(UserWarning, match=f"'{EXTENSION}' is not installed.*read as 'int32'"):
        array = open_a(unknown("int32"))
    assert array.dtype == "int32"
    assert array[...].tolist() == ramp((4, 6)).tolist()


def test_fallbacks_may_be_extensions():
    store = unknown({"extension": DATETIME, "type": "<M8[s]"}, "r64", shape=[4, 3])
    for i in range(2):
        store.set(f"data/a/c{i}/0", ramp((2, 3), "<i8").tobytes())
    with config.set(fallback="use"):
        array = open_a(store)
    assert array[1, 2] == np.datetime64(5, "s")


def test_the_fill_value_of_an_unknown_type_is_that_of_the_fallback():
    with config.set(fallback="use"):
        for fill_value, expected in ((7, 7), ({"w": 1}, 0), (None, 0)):
            store = unknown("int32", fill_value=fill_value)
            store.erase("data/a/c0/0")
            assert open_a(store)[0, 0] == expected


def test_the_warning_comes_once_for_each_array():
    for store in (unknown("int32"), unknown("int32")):
        with pytest.warns(UserWarning, match="read as 'int32'") as said:
            open_a(store)
        assert len(said) == 1
        with warnings.catch_warnings(action="error"):
            open_a(store)


def test_the_policy_error_rejects():
    with config.set(fallback="error"), pytest.raises(UnknownExtensionError, match=EXTENSION):
        open_a(unknown("int32"))


def test_the_policy_use_is_silent():
    with config.set(fallback="use"), warnings.catch_warnings(action="error"):
        assert open_a(unknown("int32")).dtype == "int32"


def test_without_a_known_fallback_the_array_is_rejected():
    for fallbacks in (("int33",), ("int33", {"extension": EXTENSION, "type": 1}), ([],)):
        with pytest.raises(UnknownExtensionError, match=EXTENSION):
            open_a(unknown(*fallbacks))


def test_fallback_array_is_not_written():
    store = unknown("int32")
    with config.set(fallback="use"):
        array = open_a(store, mode="r+")
    before = bytes(store.get("data/a/c0/0"))
    with pytest.raises(StoreReadOnlyError):
        array[0, 0] = 5
    assert bytes(store.get("data/a/c0/0")) == before


def test_documents_keep_type_and_fallbacks():
    described = {"extension": DATETIME, "type": "<M8[ns]", "fallback": ["int64", "r64"]}
    array = open_a(array_store(data_type=described))
    assert array.dtype == "M8[ns]", "the type itself is known"
    array.attrs["x"] = 1
    assert document_of(array.store, "meta/a.array.json")["data_type"] == described
    format_ = array.stored.format
    written = format_.to_json(array.metadata.replace(document=None))["array"]
    assert written["data_type"] == described


class Chooser:
    @hookimpl
    def zarr_choose_fallback(self, definition, fallbacks, location):
        assert definition.name == EXTENSION
        assert definition.configuration == {"type": "quaternion"}
        return fallbacks[-1]


def test_a_hook_may_choose():
    chooser = Chooser()
    register_hooks(chooser)
    try:
        with config.set(fallback="use"):
            assert open_a(unknown("int32", "uint32", "r32")).dtype == "V4"
    finally:
        unregister_hooks(chooser)


def test_the_byte_order_is_that_of_the_fallback():
    store = unknown(">i4")
    store.set("data/a/c0/0", ramp((2, 3), ">i4").tobytes())
    with config.set(fallback="use"):
        assert open_a(store)[1, 2] == 5
