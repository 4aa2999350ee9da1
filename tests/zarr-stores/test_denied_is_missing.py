"""Keys that may not be read, as S3 answers for missing keys without permission to list."""

import pickle

import numpy as np
import pytest
import zarr_core as zarr
from loopback import responding
from zarr_core.errors import StoreReadError


@pytest.fixture(params=["http", "fsspec+http"])
def served(request):
    """The URL of an array of which some chunks are not stored; the server denies what is missing."""
    store = zarr.MemoryStore()
    zarr.create_array(store, path="s", shape=(6, 4), chunks=(2, 4), shards=(6, 4), dtype="f4")
    array = zarr.create_array(store, path="b", shape=8, chunks=2, dtype="i2", fill_value=7)
    array[:2] = 1

    def respond(request):
        value = store.get(request.path.lstrip("/"))
        return (403, {}, b"denied") if value is None else (200, {}, bytes(value))

    with responding(respond) as server:
        yield f"{request.param}{server.url.removeprefix('http')}"


def test_it_is_an_error_by_default(served):
    array = zarr.open_array(served, path="b", mode="r")
    assert array[:2].tolist() == [1, 1]
    with pytest.raises(StoreReadError, match="403.*storage_options={'denied_is_missing': True}"):
        array[...]


def test_the_advice_is_only_for_keys_that_are_denied():
    for status in (401, 400):
        with responding(lambda request, status=status: (status, {}, b"")) as server:
            for scheme in ("http", "fsspec+http"):
                url = scheme + server.url.removeprefix("http")
                with pytest.raises(StoreReadError) as caught:
                    zarr.open_array(url, mode="r", storage_options={"retry_timeout": 0})
                assert "denied_is_missing" not in str(caught.value)


def test_it_is_missing_on_request(served):
    options = {"denied_is_missing": True}
    array = zarr.open_array(served, path="b", mode="r", storage_options=options)
    for one in (array, pickle.loads(pickle.dumps(array))):
        assert one[...].tolist() == [1, 1, 7, 7, 7, 7, 7, 7]
    sharded = zarr.open_array(served, path="s", mode="r", storage_options=options)
    assert np.array_equal(sharded[...], np.zeros((6, 4), "f4"))
    assert not array.store.exists("b/c/3")
