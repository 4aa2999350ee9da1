"""Peak memory of reads from a bucket with latency, measured in a separate process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zarr_core as zarr
from object_stores import s3_options, s3_store

pytest_plugins = ["servers.fixtures"]
pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="measured as Linux counts"
)

LATENCY = 0.1
NBYTES = 96 << 20
LIMIT = 64  # MiB in addition to the result

PROGRAM = """
import gc, json, re, sys
from pathlib import Path
import zarr_core as zarr
array = zarr.open_array(sys.argv[1], mode="r", storage_options=json.loads(sys.argv[2]))
array[:2]
def measured(name):
    return int(re.search(rf"{name}:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) >> 10
gc.collect()
Path("/proc/self/clear_refs").write_text("5")
before = measured("VmRSS")
values = array[...]
print(measured("VmHWM") - before - (values.nbytes >> 20))
"""


@pytest.fixture
def proxy(s3_server):
    from servers.proxy import Proxy

    with Proxy(s3_server.port) as proxy:
        yield proxy


@pytest.mark.parametrize(
    ("kibibytes", "compressors"),
    [
        (128, None),
        pytest.param(16, None, marks=pytest.mark.slow),
        pytest.param(100, None, marks=pytest.mark.slow),
        pytest.param(256, None, marks=pytest.mark.slow),
        pytest.param(256, "zstd", marks=pytest.mark.slow),
        pytest.param(1024, None, marks=pytest.mark.slow),
        pytest.param(8192, "zstd", marks=pytest.mark.slow),
    ],
)
def test_a_read_needs_less_than_64_mebibytes(s3_server, proxy, kibibytes, compressors):
    count = (kibibytes << 10) // 4
    values = np.random.default_rng(1).normal(size=(NBYTES // 4 // count, count)).astype("f4")
    store = s3_store(s3_server)
    zarr.create_array(store, data=values, chunks=(1, count), compressors=compressors)
    proxy.set_latency(LATENCY)
    options = json.dumps(s3_options(s3_server, proxy.url))
    command = [sys.executable, "-c", PROGRAM, store.url, options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < LIMIT
