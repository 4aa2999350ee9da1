"""Peak memory of reads from a bucket: little more than the result, measured in another process."""

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
    not Path("/proc/self/clear_refs").exists(), reason="requires the peak memory of Linux"
)

LATENCY = 0.1
NBYTES = 96 << 20
MOST_MIB = 64

PROGRAM = """
import gc, json, sys
from pathlib import Path
import zarr_core as zarr

def status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024

array = zarr.open_array(sys.argv[1], mode="r", storage_options=json.loads(sys.argv[2]))
array[:1, :8]  # imports modules
gc.collect()
before = status("VmRSS:")
Path("/proc/self/clear_refs").write_text("5")  # resets the peak
result = array[...]
print(status("VmHWM:") - before - result.nbytes / 2**20)
"""

ROWS = [
    (2048, 0, {"compressors": None}),
    (2048, 0, {"compressors": "zstd"}),
    (2048, 0, {"chunks": (48, 1 << 13), "compressors": None}),
    (2048, 0, {"chunks": (1, 1 << 14), "shards": (8, 1 << 19), "compressors": "zstd"}),
    (128, LATENCY, {"compressors": None}),
    *(
        pytest.param(kibibytes, LATENCY, {"compressors": compressors}, marks=pytest.mark.slow)
        for kibibytes, compressors in [
            (16, None), (100, None), (256, None), (256, "zstd"), (1024, None), (8192, "zstd"),
        ]
    ),
]  # fmt: skip


@pytest.mark.parametrize(("kibibytes", "latency", "layout"), ROWS)
def test_a_read_needs_little_more_memory_than_the_result(
    s3_server, proxy_before, kibibytes, latency, layout
):
    count = (kibibytes << 10) // 4
    values = np.random.default_rng(1).normal(size=(NBYTES // 4 // count, count)).astype("f4")
    store = s3_store(s3_server)
    zarr.create_array(store, data=values, **{"chunks": (1, count), **layout})
    proxy = proxy_before(s3_server)
    proxy.set_latency(latency)
    command = [
        sys.executable,
        "-c",
        PROGRAM,
        store.url,
        json.dumps(s3_options(s3_server, proxy.url)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    store.erase_prefix("")
    assert float(done.stdout) < MOST_MIB
