"""Memory of reads from remote stores: little more than the result."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zarr_core as zarr
from object_stores import s3_options, s3_store

pytest_plugins = ["servers.fixtures"]
STATUS = Path("/proc/self/status")
MOST_MIB = 64
CHUNKS, SIZE = 64, 1 << 19  # 2 MiB each

PROGRAM = """
import json, sys
from pathlib import Path
import zarr_core as zarr
from zarr_stores.object import ObjectStore

def status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024

url, options = json.loads(sys.argv[1])
array = zarr.open_array(ObjectStore.from_url(url, **options), mode="r")
array[0, :8]  # imports modules
before = status("VmRSS:")
Path("/proc/self/clear_refs").write_text("5")  # resets the peak
result = array[...]
print(status("VmHWM:") - before - result.nbytes / 2**20)
"""


@pytest.mark.skipif(not STATUS.exists(), reason="requires the peak memory of Linux")
@pytest.mark.parametrize(
    "layout",
    [
        {"chunks": (1, SIZE), "compressors": None},
        {"chunks": (1, SIZE), "compressors": "zstd"},
        {"chunks": (CHUNKS, SIZE // CHUNKS), "compressors": None},
        {"chunks": (1, SIZE // 32), "shards": (8, SIZE), "compressors": "zstd"},
    ],
    ids=["raw", "zstd", "columns", "shards"],
)
def test_a_read_needs_little_more_memory_than_the_result(s3_server, layout):
    store = s3_store(s3_server)
    row = np.random.default_rng(1).integers(0, 255, SIZE).astype("int32")
    zarr.create_array(store, data=np.broadcast_to(row, (CHUNKS, SIZE)), **layout)
    arguments = json.dumps([store.url, s3_options(s3_server)])
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, arguments], capture_output=True, text=True, check=True
    )
    store.erase_prefix("")
    assert float(run.stdout) < MOST_MIB
