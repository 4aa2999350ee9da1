"""The conformance tests; a display that the settings choose."""

import zarr_core as zarr
from zarr_conformance.kit import DisplayTests


class TestBrief(DisplayTests):
    distribution = "acme-brief"


def test_the_settings_choose_the_display():
    array = zarr.create_array(shape=8, chunks=2)
    with zarr.config.set(providers={"display.default": "acme-brief"}):
        assert array._repr_html_().startswith("<code>&lt;StoredArray ")
