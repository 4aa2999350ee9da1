"""N5 exchanged with TensorStore, beyond the arrays of test_fixtures.py and test_write_back.py."""

from __future__ import annotations

import numpy as np
import pytest
import zarr_core
from old_libraries import same_bits

tensorstore = pytest.importorskip("tensorstore", reason="TensorStore is not installed")

VALUES = np.arange(35, dtype="u1").reshape(7, 5)


def opened(place, **options):
    """The array with dimensions in the order of N5, as in TensorStore."""
    spec = {"driver": "n5", "kvstore": {"driver": "file", "path": str(place)}}
    return tensorstore.open({**spec, **options}, create=bool(options)).result()


@pytest.mark.parametrize("shape", [(), (4, 3, 2, 3)])
def test_any_number_of_dimensions(tmp_path, shape):
    values = np.arange(np.prod(shape), dtype="u2").reshape(shape)
    chunks = tuple(2 for _ in shape)
    array = zarr_core.create_array(tmp_path, data=values, chunks=chunks, zarr_format="n5")
    assert same_bits(np.asarray(opened(tmp_path).read().result()).T, values)
    assert array.chunks == chunks


def test_arrays_grow(tmp_path):
    array = zarr_core.create_array(tmp_path, data=VALUES, chunks=(3, 2), zarr_format="n5")
    array.append(np.full((2, 5), 9, "u1"))
    expected = np.concatenate([VALUES, np.full((2, 5), 9, "u1")])
    assert same_bits(opened(tmp_path).read().result().T, expected)


def test_labels_of_tensorstore_are_names_of_dimensions(tmp_path):
    metadata = {
        "dimensions": [5, 7], "blockSize": [2, 3], "dataType": "uint8",
        "compression": {"type": "raw"}, "axes": ["x", "y"],
    }  # fmt: skip
    opened(tmp_path / "theirs", metadata=metadata)[...] = VALUES.T
    array = zarr_core.open(tmp_path / "theirs")
    assert array.metadata.dimension_names == ("y", "x")
    assert array.attrs["axes"] == ["x", "y"]
    assert same_bits(array[...], VALUES)
    ours = {"data": VALUES, "dimension_names": ["y", None], "zarr_format": "n5"}
    zarr_core.create_array(tmp_path / "ours", **ours)
    assert opened(tmp_path / "ours").domain.labels == ("", "y")
