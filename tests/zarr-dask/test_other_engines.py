"""The same arrays in Cubed, Ray, Spark, where these are installed.

Nothing is needed for them but that arrays pickle with their stores, and that whole stored
objects are written by one task each: ``array.blocks[at]``, for ``at`` in the grid.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
import zarr_core as zarr

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

VALUES = np.arange(4800.0).reshape(80, 60)


@pytest.fixture
def place(tmp_path):
    zarr.create_array(tmp_path / "in.zarr", data=VALUES, chunks=(10, 10), shards=(40, 30))
    zarr.create_array(
        tmp_path / "out.zarr", shape=(80, 60), dtype="f8", chunks=(5, 6), shards=(20, 60)
    )
    return tmp_path


def run(place, program):
    """Run a program in an interpreter of its own, as engines start threads and processes."""
    workers = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    subprocess.run(
        [sys.executable, "-c", program], cwd=place, check=True, timeout=300,
        env={**os.environ, **workers},
    )  # fmt: skip
    assert np.array_equal(zarr.open(place / "out.zarr"), VALUES + 1)


def test_cubed(place):
    pytest.importorskip("cubed")
    run(
        place,
        """
import cubed
import cubed.array_api as xp
import numpy as np
import zarr_core as zarr

source, dest = zarr.open("in.zarr"), zarr.open("out.zarr")
spec = cubed.Spec(work_dir="work", allowed_mem="200MB")
x = cubed.from_array(source, chunks=source.shards, spec=spec)

def write(block, block_id):
    dest.blocks[block_id] = block
    return np.ones((1, 1), bool)

y = cubed.rechunk(xp.add(x, 1), dest.shards)  # so that a block is a shard
cubed.map_blocks(write, y, dtype=bool, chunks=(1, 1)).compute()
""",
    )


def test_ray(place):
    pytest.importorskip("ray")
    run(
        place,
        """
import numpy as np
import ray
import zarr_core as zarr

source, dest = zarr.open("in.zarr"), zarr.open("out.zarr")
ray.init(num_cpus=2, include_dashboard=False)

@ray.remote
def add(source, dest, at):
    box = tuple(slice(n * k, n * k + k) for n, k in zip(at, dest.shards))
    dest.blocks[at] = source[box] + 1

ray.get([add.remote(source, dest, at) for at in np.ndindex(dest.cdata_shape)])
""",
    )


def test_spark(place):
    pytest.importorskip("pyspark")
    run(
        place,
        """
import numpy as np
import zarr_core as zarr
from pyspark.sql import SparkSession

source, dest = zarr.open("in.zarr"), zarr.open("out.zarr")
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()

def add(at):
    box = tuple(slice(n * k, n * k + k) for n, k in zip(at, dest.shards))
    dest.blocks[at] = source[box] + 1

spark.sparkContext.parallelize([*np.ndindex(dest.cdata_shape)], 4).foreach(add)
spark.stop()
""",
    )
