"""Plans of reads from a bucket."""

import numpy as np
import pytest
import zarr_core as zarr
from object_stores import s3_store, same_place
from zarr_transfer import plan_selection

pytest_plugins = ["servers.fixtures"]

VALUES = np.random.default_rng(1).integers(1, 1 << 30, (700, 600), "i4")
SELECTIONS = (np.s_[:], np.s_[3:40, 100:500], np.s_[::9, 17], np.s_[5, 6], np.s_[650:, ::-2])
LAYOUTS = {
    "chunks": {"chunks": (200, 250), "compressors": "zstd"},
    "large chunks": {"chunks": (400, 600), "compressors": None},
    "shards": {"chunks": (20, 50), "shards": (400, 300), "compressors": "zstd"},
}


@pytest.fixture(scope="module")
def proxy(s3_server):
    from servers.proxy import Proxy

    with Proxy(s3_server.port) as proxy:
        yield proxy


@pytest.mark.parametrize("layout", LAYOUTS)
def test_requests_to_s3_are_those_of_the_plan(s3_server, proxy, layout):
    direct = s3_store(s3_server)
    array = zarr.create_array(direct, shape=VALUES.shape, dtype="i4", **LAYOUTS[layout])
    array[...] = VALUES
    for selection in SELECTIONS:
        plan = plan_selection(array, selection)
        # A new store: the other one keeps what it read of values, such as shard indexes.
        opened = zarr.open_array(same_place(direct, s3_server, proxy.url), mode="r")
        with opened.store:
            proxy.forget()
            opened[selection]
            exchanges = proxy.traffic.exchanges
            received = sum(it.received for it in exchanges)
            if layout == "chunks":
                assert len(exchanges) == plan.requests, selection
            else:
                assert len(exchanges) / 2 <= plan.requests <= 2 * len(exchanges), selection
            assert received <= plan.read_nbytes, selection
