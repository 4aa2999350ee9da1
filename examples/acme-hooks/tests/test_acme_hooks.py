"""What the hooks do."""

from acme_hooks import Hooks
from zarr_core.extension import Provider


def test_empty_units_are_refused():
    assert Hooks().zarr_check_metadata({"attributes": {"units": ""}})
    assert not Hooks().zarr_check_metadata({"attributes": {"units": "m"}})
    assert not Hooks().zarr_check_metadata({"attributes": None})


def test_the_provider_of_the_house_is_preferred():
    ours = Provider("codec", "x", "acme_x:X", "acme-x")
    other = Provider("codec", "x", "other:X", "other")
    assert Hooks().zarr_select_provider([other, ours]) is ours
    assert Hooks().zarr_select_provider([other]) is None


def test_what_is_used_is_counted():
    hooks = Hooks()
    hooks.zarr_extension_used("codec", "gzip")
    hooks.zarr_extension_used("codec", "gzip")
    assert hooks.used == {"codec.gzip": 2}
