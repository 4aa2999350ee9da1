"""Known defects of other libraries, which this library must not have."""

import contextlib
import pickle

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import (
    StoreError,
    UnknownExtensionError,
)


def test_memory_is_not_lost_in_another_process():
    # Another process would write to a copy.
    array = zarr.create_array(shape=4, dtype="int8")
    with pytest.raises(StoreError, match="its work would be lost"):
        pickle.dumps(array)
    with pytest.raises(StoreError, match="its work would be lost"):
        pickle.dumps(zarr.create_group())


def test_a_zip_path_is_not_a_directory(tmp_path):
    with contextlib.suppress(UnknownExtensionError):  # without its distribution
        zarr.save(tmp_path / "x.zip", np.arange(3))
        assert zarr.load(tmp_path / "x.zip").tolist() == [0, 1, 2]
    assert not (tmp_path / "x.zip").is_dir()


def test_the_storage_ratio_is_that_of_what_is_stored():
    array = zarr.create_array(shape=700, chunks=10, shards=100, dtype="int64", compressors=None)
    array[:100] = np.arange(100) + 1
    assert array.info_complete()["Shards stored"] == "1 of 7"
    ratio = float(array.info_complete()["Storage ratio"])
    assert ratio == pytest.approx(800 / array.nbytes_stored(), abs=0.05)
    assert ratio <= 1


@pytest.mark.parametrize(
    "options",
    [
        {"compressors": "zstd"},
        {"chunks": 5},
        {"chunks": -1},
        {"chunks": True},
        {"chunks": False},
        {"chunks": None},
        {"chunks": (5, -1)},
        {"chunks": "auto", "shards": "auto"},
        {"dtype": np.dtype("float32")},
        {"dtype": np.dtypes.Float32DType()},
    ],
)
def test_user_input_is_parsed(options):
    array = zarr.create_array(shape=(10, 20), **{"dtype": "float32", **options})
    array[...] = 1
    assert array[...].sum() == 200
