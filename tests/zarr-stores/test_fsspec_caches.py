"""Which responses of a server mean that a value is missing, through the caches of fsspec."""

import functools
import http.server

import numpy as np
import pytest
import zarr_core as zarr
from loopback import serving

pytest.importorskip("aiohttp")


@pytest.fixture
def server(tmp_path):
    values = np.arange(1, 13, dtype="f4").reshape(6, 2)
    group = zarr.create_group(tmp_path / "field.zarr")
    group.create_array("a", data=values, chunks=(3, 2), fill_value=9)
    group.create_array("s", data=values, chunks=(1, 2), shards=(3, 2), fill_value=9)

    class Handler(http.server.SimpleHTTPRequestHandler):
        status = 0
        lists = True

        def refused(self):
            if self.status and self.path.endswith("/c/1/0"):
                self.send_error(self.status)
            elif not self.lists and (tmp_path / self.path.strip("/")).is_dir():
                self.send_error(404)
            else:
                return False
            return True

        def do_GET(self):
            if not self.refused():
                super().do_GET()

        def do_HEAD(self):
            if not self.refused():
                super().do_HEAD()

    handler = functools.partial(Handler, directory=str(tmp_path))
    with serving(handler) as running:
        yield f"{running.url}/field.zarr", Handler, values


# The block cache of fsspec does not close its files.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("kind", ["simplecache", "filecache", "blockcache", "cached"])
@pytest.mark.parametrize("lists", [True, False])
def test_only_the_target_says_that_a_value_is_missing(server, tmp_path, kind, lists):
    url, handler, values = server
    handler.lists = lists
    for status in (0, 500, 403, 404):
        handler.status = status
        options = {kind: {"cache_storage": str(tmp_path / f"cache{status}")}}
        group = zarr.open(f"{kind}::{url}", mode="r", storage_options=options)
        for name in ("a", "s"):
            array = group[name]
            assert np.array_equal(array[:3], values[:3])
            if status in (500, 403):
                with pytest.raises(zarr.errors.StoreReadError, match=str(status)):
                    array[3:]
            else:
                expected = values[3:] if not status else np.full((3, 2), 9)
                assert np.array_equal(array[3:], expected)
        with pytest.raises(zarr.errors.StoreCapabilityError, match="cannot list"):
            list(group)
