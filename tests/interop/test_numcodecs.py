"""Codecs of numcodecs in version 3 with the configurations of zarr-python, in chains and within shards.

The table of test_extensions.py tests each of them in both directions.
"""

import warnings

import numpy as np
import pytest
import zarr
import zarr_core
from zarr_core.errors import CodecChainError

theirs = pytest.importorskip("zarr.codecs.numcodecs")

NUMBERS = np.cumsum(np.sin(np.arange(210)), dtype="f8").reshape(14, 15) * 100 + 1000
SHAPE, CHUNKS = (14, 15), (7, 5)


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Numcodecs codecs are not in the Zarr version 3")
        warnings.filterwarnings("ignore", message=".* does not have a Zarr V3 specification")
        yield


def chunks_of(path):
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in path.glob("c/**/*")
        if file.is_file()
    }


def test_several_at_once(tmp_path):
    array = zarr.create_array(
        tmp_path,
        shape=SHAPE,
        chunks=CHUNKS,
        dtype="f8",
        filters=[
            theirs.FixedScaleOffset(offset=1000, scale=10, dtype="f8", astype="i4"),
            theirs.Delta(dtype="i4", astype="i2"),
        ],
        compressors=[theirs.Shuffle(elementsize=2), theirs.Zlib(level=3), theirs.CRC32()],
    )
    array[...] = NUMBERS
    chunks = chunks_of(tmp_path)
    ours = zarr_core.open_array(tmp_path, mode="r+")
    assert (ours[...] == array[...]).all()
    ours[...] = NUMBERS
    assert chunks_of(tmp_path) == chunks
    assert (ours[3:9, 1::2] == array[3:9, 1::2]).all()


def test_inside_of_shards(tmp_path):
    array = zarr.create_array(
        tmp_path,
        shape=SHAPE,
        chunks=(7, 5),
        shards=(14, 15),
        dtype="i4",
        filters=[theirs.Delta(dtype="i4")],
        compressors=[theirs.Zlib()],
    )
    array[:10] = NUMBERS[:10]
    ours = zarr_core.open_array(tmp_path, mode="r+")
    assert (ours[...] == array[...]).all()
    ours[8:] = NUMBERS[8:].astype("i4")
    assert (zarr.open_array(tmp_path)[...] == NUMBERS.astype("i4")).all()


def test_delta_of_another_dtype_is_rejected(tmp_path):
    # zarr-python reads other numbers from these bytes.
    zarr.create_array(
        tmp_path, shape=SHAPE, chunks=CHUNKS, dtype="i4", filters=[theirs.Delta(dtype="i2")]
    )
    with pytest.raises(CodecChainError, match="configured for dtype int16"):
        zarr_core.open_array(tmp_path)
