"""The conformance tests."""

from zarr_conformance.kit import HooksTests


class TestHooks(HooksTests):
    name = "acme"
    accepted = [{}, {"attributes": {"units": "m"}}]
    refused = [{"attributes": {"units": ""}}]
