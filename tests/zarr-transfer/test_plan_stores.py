"""Plans and memory limits in real stores."""

from uuid import uuid4

import numpy as np
import pytest
import zarr_core as zarr
from object_stores import s3_options, s3_store, same_place
from zarr_transfer import plan_selection, read_within, write_within

pytest_plugins = ["servers.fixtures"]

VALUES = np.random.default_rng(1).integers(0, 1 << 30, (700, 600), "i4")
SELECTIONS = (np.s_[:], np.s_[3:40, 100:500], np.s_[::9, 17], np.s_[5, 6], np.s_[650:, ::-2])
LAYOUTS = {
    "chunks": {"chunks": (200, 250), "compressors": "zstd"},
    "large chunks": {"chunks": (400, 600), "compressors": None},
    "shards": {"chunks": (20, 50), "shards": (400, 300), "compressors": "zstd"},
}


@pytest.fixture(params=["directory", "zip", "sqlite", "redis_server", "s3_server"])
def place(request, tmp_path):
    if request.param == "directory":
        return f"{tmp_path}/a.zarr", {}
    if request.param == "zip":
        return f"{tmp_path}/a.zip", {}
    if request.param == "sqlite":
        return f"sqlite://{tmp_path}/a.sqlite", {}
    server = request.getfixturevalue(request.param)
    if request.param == "redis_server":
        return f"{server.url}?prefix={uuid4()}", {}
    return f"s3://{server.bucket}/{uuid4()}", s3_options(server)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_plans_and_limits(place, layout):
    url, options = place
    values = VALUES.copy()
    with zarr.create_array(url, data=values, storage_options=options, **LAYOUTS[layout]).store:
        pass
    is_zip = url.endswith("zip")
    array = zarr.open_array(url, mode="r" if is_zip else "r+", storage_options=options)
    with array.store:
        for selection in SELECTIONS:
            assumed, plan = (
                plan_selection(array, selection),
                plan_selection(array, selection, exact=True),
            )
            assert 0 < plan.read_nbytes <= assumed.read_nbytes
            assert plan.chunks == assumed.chunks
            out = np.zeros(plan.shape, "i4")
            read_within(array, selection, out=out, max_memory=plan.smallest_nbytes)
            assert np.array_equal(out, values[selection])
        if is_zip:
            return
        box = np.s_[50:450, 33:]
        new = -values[box]
        limit = plan_selection(array, box, "write").smallest_nbytes
        write_within(array, box, new, max_memory=limit)
        values[box] = new
        assert np.array_equal(array[...], values)


@pytest.fixture(scope="module")
def proxy(s3_server):
    from servers.proxy import Proxy

    with Proxy(s3_server.port) as proxy:
        yield proxy


@pytest.mark.parametrize("layout", LAYOUTS)
def test_requests_to_s3_are_those_of_the_plan(s3_server, proxy, layout):
    direct = s3_store(s3_server)
    array = zarr.create_array(direct, shape=VALUES.shape, dtype="i4", **LAYOUTS[layout])
    array[100:] = VALUES[100:]  # the first inner chunks are missing
    for selection in SELECTIONS:
        plan = plan_selection(array, selection, exact=True)
        # A new store: the other one keeps what it read of values, such as shard indexes.
        opened = zarr.open_array(same_place(direct, s3_server, proxy.url), mode="r")
        with opened.store:
            proxy.forget()
            opened[selection]
            exchanges = proxy.traffic.exchanges
            received = sum(it.received for it in exchanges)
            if layout == "chunks":
                assert (len(exchanges), received) == (plan.requests, plan.read_nbytes), selection
            else:
                assert len(exchanges) / 2 <= plan.requests <= 2 * len(exchanges), selection
                assert received <= plan.read_nbytes, selection
