"""Writers of xarray objects: xarray with zarr-python, zarr-xarray, and xarray with zarr-compat as ``zarr``."""

import pickle
import subprocess
import sys
import warnings
from functools import cache

from zarr_xarray import to_zarr

COMPAT = """
import pickle, sys, warnings
warnings.simplefilter("ignore")
from zarr_compat import install_as_zarr
install_as_zarr()
while True:
    data, path, options = pickle.load(sys.stdin.buffer)
    data.to_zarr(path, **options)
    pickle.dump("stored", sys.stdout.buffer)
    sys.stdout.flush()
"""


def by_zarr_python(data, path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data.to_zarr(path, **options)


def by_zarr_xarray(data, path, **options):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*reserves such names")
        to_zarr(data, path, **options)


@cache
def compat_process():
    """An interpreter with zarr-compat as ``zarr``; it ends with this process."""
    return subprocess.Popen(
        [sys.executable, "-c", COMPAT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def by_zarr_compat(data, path, **options):
    process = compat_process()
    pickle.dump((data, str(path), options), process.stdin)
    process.stdin.flush()
    assert pickle.load(process.stdout) == "stored"


WRITERS = [by_zarr_python, by_zarr_xarray, by_zarr_compat]
