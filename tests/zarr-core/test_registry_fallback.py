"""Warnings about fallbacks of data types; registry_rules/fallbacks.txt has which one is used."""

import warnings

import pytest
from zarr_core import messages
from zarr_core.config import config
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import UnknownExtensionError
from zarr_core.extension import Location, hookimpl
from zarr_core.registry.hooks import register_hooks, unregister_hooks
from zarr_core.registry.resolve import create_data_type

DATETIME = ExtensionDefinition("acme.datetime", {"unit": "s"})
INT64, RAW = ExtensionDefinition("int64"), ExtensionDefinition("r64")
UNKNOWN = ExtensionDefinition("acme.unknown")


def test_a_fallback_is_warned_of_once_for_each_location():
    messages._issued.clear()
    with pytest.warns(UserWarning, match="'acme.datetime' is not installed.*read as 'int64'"):
        data_type, used = create_data_type(DATETIME, [UNKNOWN, INT64, RAW], Location("s /a"))
    assert (data_type.numpy_dtype, used) == ("int64", INT64)
    with warnings.catch_warnings(action="error"):
        assert create_data_type(DATETIME, [INT64], Location("s /a"))[1] is INT64
    with pytest.warns(UserWarning, match="s /b"):
        create_data_type(DATETIME, [INT64], Location("s /b"))
    with pytest.raises(UnknownExtensionError, match=r"s at /data_type: .*'acme.datetime'"):
        create_data_type(DATETIME, [UNKNOWN], Location("s", pointer="/data_type"))


def test_a_hook_without_an_answer_leaves_the_first_known_fallback():
    class Undecided:
        @hookimpl
        def zarr_choose_fallback(self, definition, fallbacks, location):
            assert (definition, fallbacks) == (DATETIME, [INT64, RAW])

    hook = Undecided()
    register_hooks(hook)
    try:
        with config.set(fallback="use"):
            assert create_data_type(DATETIME, [UNKNOWN, INT64, RAW])[1] is INT64
    finally:
        unregister_hooks(hook)
