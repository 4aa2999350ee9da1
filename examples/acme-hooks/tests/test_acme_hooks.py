"""The conformance tests; the selection and the counts."""

from acme_hooks import Hooks
from zarr_conformance.kit import HooksTests
from zarr_core.extension import Provider


class TestHooks(HooksTests):
    name = "acme"
    accepted = [{}, {"attributes": {"units": "m"}}]
    refused = [{"attributes": {"units": ""}}]


def test_acme_distributions_are_preferred():
    ours = Provider("codec", "x", "acme_x:X", "acme-x")
    other = Provider("codec", "x", "other:X", "other")
    assert Hooks().zarr_select_provider([other, ours]) is ours
    assert Hooks().zarr_select_provider([other]) is None


def test_used_extensions_are_counted():
    hooks = Hooks()
    hooks.zarr_extension_used("codec", "gzip")
    hooks.zarr_extension_used("codec", "gzip")
    assert hooks.used == {"codec.gzip": 2}
