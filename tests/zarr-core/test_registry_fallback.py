import warnings

import pytest
from zarr_core import messages
from zarr_core.config import config
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionError, ExtensionLoadError, UnknownExtensionError
from zarr_core.extension import Location, hookimpl
from zarr_core.registry.hooks import register_hooks, unregister_hooks
from zarr_core.registry.resolve import create_data_type

DATETIME = ExtensionDefinition("acme.datetime", {"unit": "s"})
INT64, RAW = ExtensionDefinition("int64"), ExtensionDefinition("r64")
UNHEARD = ExtensionDefinition("acme.unheard")


@pytest.fixture(autouse=True)
def _forget():
    messages._issued.clear()


def test_a_known_type_needs_no_fallback():
    data_type, used = create_data_type(INT64, [RAW])
    assert (data_type.numpy_dtype, used) == ("int64", None)


def test_first_known_fallback_is_used_with_one_warning():
    with pytest.warns(UserWarning, match="'acme.datetime' is not installed.*read as 'int64'"):
        data_type, used = create_data_type(DATETIME, [UNHEARD, INT64, RAW], Location("s /a"))
    assert (data_type.numpy_dtype, used) == ("int64", INT64)
    with warnings.catch_warnings(action="error"):
        assert create_data_type(DATETIME, [INT64], Location("s /a"))[1] is INT64
    with pytest.warns(UserWarning, match="s /b"):
        create_data_type(DATETIME, [INT64], Location("s /b"))


def test_fallback_warning_can_be_disabled():
    with config.set(fallback="use"), warnings.catch_warnings(action="error"):
        assert create_data_type(DATETIME, [RAW])[1] is RAW


@pytest.mark.parametrize("fallbacks", [[], [UNHEARD]])
def test_without_a_known_fallback_the_type_is_unknown(fallbacks):
    with pytest.raises(UnknownExtensionError, match=r"s at /data_type: .*'acme.datetime'"):
        create_data_type(DATETIME, fallbacks, Location("s", pointer="/data_type"))


def test_fallback_can_be_disabled():
    with config.set(fallback="error"), pytest.raises(UnknownExtensionError):
        create_data_type(DATETIME, [INT64])


def test_broken_is_not_unknown(install):
    install("acme", {"data_type": {"acme.datetime": "acme:Datetime"}}, {"acme.py": "1 / 0"})
    with pytest.raises(ExtensionLoadError):
        create_data_type(DATETIME, [INT64])


class Chooser:
    def __init__(self, answer):
        self.answer = answer

    @hookimpl
    def zarr_choose_fallback(self, definition, fallbacks, location):
        assert UNHEARD not in fallbacks
        return self.answer


@pytest.mark.parametrize(("answer", "expected"), [(RAW, RAW), (None, INT64)])
def test_a_hook_may_choose(answer, expected):
    chooser = Chooser(answer)
    register_hooks(chooser)
    try:
        with config.set(fallback="use"):
            assert create_data_type(DATETIME, [UNHEARD, INT64, RAW])[1] is expected
    finally:
        unregister_hooks(chooser)


def test_a_hook_may_choose_only_among_the_known_fallbacks():
    chooser = Chooser(UNHEARD)
    register_hooks(chooser)
    try:
        with pytest.raises(ExtensionError, match="must be one of int64"):
            create_data_type(DATETIME, [INT64])
    finally:
        unregister_hooks(chooser)
