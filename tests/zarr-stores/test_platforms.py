"""Stores of files on platforms without some features."""

import subprocess
import sys

PROGRAM = """
import os, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name in ("fcntl", "resource"):
            raise ModuleNotFoundError(name, name=name)
sys.modules.pop("fcntl", None)
sys.meta_path.insert(0, Finder())
for name in ("fork", "register_at_fork", "link", "sched_getaffinity"):
    if hasattr(os, name):
        delattr(os, name)
import numpy as np
import zarr_core as zarr
values = np.arange(600.0).reshape(20, 30)

def use(store):
    zarr.create_array(store, path="x", data=values, chunks=(5, 7))
    array = zarr.open_array(store, path="x")
    array[2, 3] = -1
    assert array[2, 3] == -1 and (array[5:] == values[5:]).all()

from zarr_stores.zip import ZipStore
with ZipStore("a.zip", mode="w") as store:
    use(store)
assert zarr.open_array("a.zip", path="x")[2, 3] == -1
from zarr_stores.databases.sqlite import SQLiteStore
with SQLiteStore("a.sqlite") as store:
    use(store)
"""


def test_stores_of_files(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
