"""Arrays from values, and arrays of one value."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import NodeExistsError


def test_full_of_something():
    assert zarr.zeros((2, 3), dtype="int8")[...].tolist() == [[0] * 3] * 2
    assert zarr.ones(2, dtype="bool")[...].tolist() == [True, True]
    assert zarr.full((2,), 7, chunks=1)[...].tolist() == [7, 7]
    assert zarr.full(2, np.nan).fill_value != zarr.full(2, np.nan).fill_value
    assert zarr.empty(3)[...].tolist() == [0, 0, 0]
    array = zarr.ones((4,), chunks=2)
    assert list(array.store.list()) == ["zarr.json"], "no chunk is stored for it"


def test_options_reach_the_maker(tmp_path):
    for maker in (zarr.zeros, zarr.ones, zarr.empty):
        made = maker(4, store=tmp_path / maker.__name__, chunks=2, attributes={"a": 1}, path="n")
        assert (made.chunks, made.attrs["a"], made.path) == ((2,), 1, "n")
    assert zarr.full(4, 1, store=tmp_path / "full", dtype="int8").dtype == np.int8
    assert zarr.array([1, 2], store=tmp_path / "array")[1] == 2
    with pytest.raises(NodeExistsError):
        zarr.array([1], store=tmp_path / "array")
    with pytest.raises(TypeError, match="colour"):
        zarr.zeros(4, colour=1)
