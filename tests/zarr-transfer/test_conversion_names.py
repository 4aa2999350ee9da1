"""Lengths for an unknown dimension raise an error; arrays without the dimension are unchanged."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_transfer import convert
from zarr_transfer.errors import ConversionError


def test_misspelt_dimension_raises(tmp_path):
    root = zarr.create_group(tmp_path / "a")
    root.create_array("t", data=np.arange(6), chunks=3, dimension_names=["time"])
    root.create_array("plain", data=np.arange(4), chunks=2)
    with pytest.raises(
        ConversionError, match="no dimension has the name 'tmie'; existing names: 'time'"
    ):
        convert(tmp_path / "a", tmp_path / "b", chunks={"tmie": 2})
    assert not (tmp_path / "b").exists()
    convert(tmp_path / "a", tmp_path / "b", chunks={"time": 2})
    made = zarr.open_group(tmp_path / "b")
    assert (made["t"].chunks, made["plain"].chunks) == ((2,), (2,))
