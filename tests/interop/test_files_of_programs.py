"""Files that programs write with this library as ``zarr``, read by zarr-python and TensorStore."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from write_with_programs import PROGRAMS

zarr = pytest.importorskip("zarr", reason="zarr-python is not installed")

SCRIPT = Path(__file__).with_name("write_with_programs.py")
EACH_PROGRAM = pytest.mark.parametrize("name", PROGRAMS)
EACH_FORMAT = pytest.mark.parametrize("zarr_format", [2, 3])


def written(directory, *options):
    """Write the files of all programs to a directory, and return it."""
    run = subprocess.run(
        [sys.executable, *options, str(SCRIPT), str(directory)],
        capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    return directory


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    return written(tmp_path_factory.mktemp("ours"), "-m", "zarr_compat")


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    return written(tmp_path_factory.mktemp("theirs"))


def nodes_of(place, zarr_format):
    """Return the nodes of a hierarchy by path, opened by zarr-python."""
    root = zarr.open(str(place), mode="r", zarr_format=zarr_format, use_consolidated=False)
    found = {"": root}
    if isinstance(root, zarr.Group):
        found |= dict(root.members(max_depth=None))
    return found


@EACH_PROGRAM
@EACH_FORMAT
def test_zarr_python_reads_what_it_would_have_written(name, zarr_format, ours, theirs):
    if find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    found, expected = (
        nodes_of(place / f"{name}-{zarr_format}", zarr_format) for place in (ours, theirs)
    )
    assert found.keys() == expected.keys()
    for path, node in expected.items():
        assert type(found[path]) is type(node)
        assert dict(found[path].attrs) == dict(node.attrs), path
        if isinstance(node, zarr.Array):
            assert (found[path].dtype, found[path].shape) == (node.dtype, node.shape)
            assert found[path].chunks == node.chunks, path
            np.testing.assert_array_equal(found[path].fill_value, node.fill_value)
            np.testing.assert_array_equal(found[path][...], node[...], err_msg=path)


@EACH_PROGRAM
@EACH_FORMAT
def test_tensorstore_reads_the_same_elements(name, zarr_format, ours, theirs):
    tensorstore = pytest.importorskip("tensorstore", reason="TensorStore is not installed")
    if find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    driver = {2: "zarr", 3: "zarr3"}[zarr_format]
    compared = 0
    for path, node in nodes_of(theirs / f"{name}-{zarr_format}", zarr_format).items():
        if isinstance(node, zarr.Array) and node.dtype.kind in "biuf":
            place = str(ours / f"{name}-{zarr_format}" / path)
            spec = {"driver": driver, "kvstore": {"driver": "file", "path": place}}
            array = tensorstore.open(spec, read=True).result()
            np.testing.assert_array_equal(array.read().result(), node[...], err_msg=path)
            compared += 1
    assert compared
