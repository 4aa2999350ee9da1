"""The conformance tests; the chunk map."""

import zarr_core as zarr
from zarr_conformance.kit import DisplayTests


class TestBrief(DisplayTests):
    distribution = "acme-brief"


def test_chunk_map_shows_the_share_of_stored_chunks():
    array = zarr.create_array(shape=8, chunks=2)
    array[:3] = 1
    with zarr.config.set(providers={"display.default": "acme-brief"}):
        assert repr(array.chunk_map()) == "2 of 4 stored"
        assert array.info._repr_html_().startswith("<code>Name : / Type : Array")
