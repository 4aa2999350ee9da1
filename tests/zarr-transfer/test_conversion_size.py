"""Large arrays: the regions that are read, and the memory."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from zarr_transfer import convert

MIB = 1 << 20

on_linux = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="measured as Linux counts"
)

PROGRAM = """
import sys
import numpy as np
import zarr_core as zarr
from zarr_transfer import convert
source, dest, layout = sys.argv[1:]
def peak():  # MiB of this process at most
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) // 1024
zarr.config.set(threads=2)
small = zarr.create_array(None, data=np.arange(64.0), chunks=8)  # everything used once
convert(small, {}, chunks=4, shards=16)
before = peak()
told = []
done = convert(source, dest, progress=told.append, **eval(layout))
print(before, peak(), done.cost, len(told))
"""

RESHARDING = "dict(chunks=(128, 128), shards=(1024, 1024))"


def make(path, mib, **options):
    """An array of float64 that compresses to a third, written row of chunks by row."""
    rows = mib * MIB // 8 // 2048
    array = zarr.create_array(path, shape=(rows, 2048), dtype="f8", chunks=(256, 256), **options)
    block = np.round(np.random.default_rng(0).normal(size=(256, 2048)), 1)
    for start in range(0, rows, 256):
        array[start : start + 256] = block + start
    return array


def run(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    before, peak, cost, told = done.stdout.split()
    assert int(told) > 3
    return int(before), int(peak), cost


def same(one, other):
    rows = one.shape[0] // 8
    return all(
        np.array_equal(one[start : start + rows], other[start : start + rows])
        for start in range(0, one.shape[0], rows)
    )


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return make(tmp_path_factory.mktemp("source") / "old.zarr", 128)


@on_linux
@pytest.mark.parametrize(
    "layout",
    [
        RESHARDING,
        pytest.param("dict(chunks=(1, -1))", marks=pytest.mark.slow),
        "dict(chunks=(-1, 16))",
    ],
)
def test_decoding_takes_little_memory(layout, source, tmp_path):
    before, peak, cost = run(source.store.url, tmp_path / "new.zarr", layout)
    assert cost == "recode"
    assert peak - before < 96
    assert same(source, zarr.open(tmp_path / "new.zarr"))


def chunk_keys(store):
    return [key for key in store.keys() if key.rsplit("/", 1)[-1][:1].isdigit()]  # noqa: SIM118 - of calls, it is no mapping


def test_documents_are_written_without_looking_at_chunks():
    """An exabyte with one stored chunk, so visiting all chunks would not end."""
    store = CountingStore(zarr.MemoryStore())
    array = zarr.create_array(
        store, zarr_format=2, shape=(10**9, 10**9), chunks=(1000, 1000), dtype="f8"
    )
    array[5, 5] = 1
    store.calls.clear()
    assert convert(store).cost == "document"
    assert not chunk_keys(store)
    assert store.count("list_prefix") == 0
    assert store.count() < 20
    assert zarr.open(store, zarr_format=3)[5, 5] == 1
