"""Peak memory of reading and writing, measured in a separate process."""

from __future__ import annotations

from pathlib import Path

import pytest
from reliability_data import run

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="measured as Linux counts"
)

MIB = 1 << 20

PROGRAM = """
import resource, sys
import numpy as np
import zarr_core as zarr
root, layout, threads, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
zarr.config.set(threads=threads)
MIB = 1 << 20
BLOSC = {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 1}}
rows = size * MIB // (2048 * 4)
chunk = (1024, 2048)  # 8 MiB
shard = (8192, 2048)  # 64 MiB
options = {
    "raw": {"chunks": chunk, "compressors": None},
    "blosc": {"chunks": chunk, "compressors": [BLOSC]},
    "zstd": {"chunks": chunk, "compressors": "zstd"},
    "gzip": {"chunks": chunk, "compressors": [{"name": "gzip", "configuration": {"level": 1}}]},
    "transposed": {"chunks": chunk, "compressors": "zstd",
        "filters": [{"name": "transpose", "configuration": {"order": [1, 0]}}]},
    "big endian": {"chunks": chunk, "compressors": None,
        "serializer": {"name": "bytes", "configuration": {"endian": "big"}}},
    "shard": {"chunks": (128, 2048), "shards": shard, "compressors": [BLOSC]},
    "shard raw": {"chunks": (128, 2048), "shards": shard, "compressors": None},
    "shard of small": {"chunks": (32, 64), "shards": shard, "compressors": "zstd"},
    "shard at start": {"chunks": (512, 1024), "shards": {"shape": shard, "index_location": "start"},
        "compressors": "zstd"},
}[layout]
def peak():  # MiB of this process at most, since the last reset
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) // 1024
def reset():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    return peak()
# Everything imported and used once.
warm = zarr.create_array(None, shape=(64, 64), dtype="f4", **{**options,
    "chunks": (16, 16), **({"shards": (32, 32)} if "shards" in options else {})})
warm[...] = 1; warm[...]; warm[3:40, 3:9] = 2
array = zarr.create_array(root, shape=(rows, 2048), dtype="f4", **options)
row = np.arange(2048, dtype="f4")
values = np.empty((rows, 2048), "f4")
for start in range(0, rows, 64):  # compresses somewhat
    values[start : start + 64] = row * start
before = reset()
array[...] = values
wrote = peak() - before
before = reset()
array[100:-100, 5:-5] = values[100:-100, 5:-5]
changed = peak() - before
del values
base = reset()
values = array[...]
read = peak() - base
del values
base = reset()
array[rows // 2, 1000]; array[5:9, ::7]
little = peak() - base
print(wrote, changed, read, little)
"""

CHUNK, SHARD = 8, 64
LAYOUTS = {
    # layout: limit of memory for a writing thread, in MiB.  Includes an encoded chunk and its copy.
    "raw": 2 * CHUNK,
    "blosc": 3 * CHUNK,
    "zstd": 3 * CHUNK,
    "gzip": 3 * CHUNK,
    "transposed": 3 * CHUNK,
    "big endian": 2 * CHUNK,
    "shard": 2 * SHARD,
    "shard raw": 2 * SHARD,
    "shard of small": 2 * SHARD,
    "shard at start": 2 * SHARD,
}


# Compiled code swaps bytes, and transposes, in memory that Python cannot reuse for partial chunks.
NATIVE = {"big endian": CHUNK, "transposed": CHUNK}


# Others differ from one of these in the compressor, or in where the index of a shard is.
FAST = ("raw", "transposed", "shard of small")


def cases():
    """Layout, number of threads, MiB of the array, and whether compiled code is used."""
    slow = [pytest.mark.slow]
    for layout in LAYOUTS:
        marks = [] if layout in FAST else slow
        yield pytest.param(layout, 2, 128, True, marks=marks)
        if layout in NATIVE:
            yield pytest.param(layout, 2, 128, False, marks=marks)
        for threads in (1, 4):
            yield pytest.param(layout, threads, 512, True, marks=slow)


@pytest.mark.parametrize(("layout", "threads", "size", "native"), [*cases()])
def test_reading_and_writing_takes_little_memory(
    tmp_path, monkeypatch, layout, threads, size, native
):
    if not native:
        monkeypatch.setenv("ZARR_CORE_NATIVE", "off")
    output = run(PROGRAM, tmp_path / "a", layout, threads, size).stdout
    wrote, changed, read, little = map(int, output.split())
    slack = 8
    limit = (LAYOUTS[layout] + (NATIVE.get(layout, 0) if native else 0)) * threads + slack
    assert wrote <= limit, "writing whole"
    assert changed <= limit, "writing a part"
    assert read <= size + 64, "reading"
    assert little <= 64, "reading a little"
