"""Arrays like others."""

import numpy as np
import pytest
import zarr_core as zarr


@pytest.fixture
def like():
    return zarr.create_array(
        shape=(6, 8), chunks=(3, 2), shards=(6, 4), dtype=">i2", fill_value=4,
        compressors={"name": "gzip", "configuration": {"level": 9}},
        filters={"name": "transpose", "configuration": {"order": [1, 0]}},
        dimension_names=["a", "b"], chunk_key_encoding="v2", attributes={"not": "taken"},
    )  # fmt: skip


def test_an_array_like_another_has_its_metadata_except_attributes(like):
    same = zarr.empty_like(like)
    expected = like.metadata.to_json()
    expected["attributes"] = {}
    assert same.metadata.to_json() == expected
    assert same[0, 0] == 4
    for function, value in ((zarr.zeros_like, 0), (zarr.ones_like, 1)):
        assert function(like)[...].tolist() == [[value] * 8] * 6
        assert function(like).chunks == (3, 2)
    assert zarr.full_like(like, 9)[5, 7] == 9
    plain = zarr.create_array(shape=7, chunks=3, dtype="int8")
    assert zarr.empty_like(plain).metadata == plain.metadata


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"dtype": "float64"}, {"dtype": np.float64, "fill_value": 0, "shards": (6, 4)}),
        ({"dtype": "uint8"}, {"fill_value": 0}),
        ({"chunks": 2}, {"chunks": (2, 2), "shards": None}),
        ({"shards": None}, {"chunks": (3, 2), "shards": None}),
        ({"chunks": 2, "shards": 4}, {"shards": (4, 4)}),
        ({"shape": (12, 2)}, {"chunks": (3, 2)}),
        ({"shape": 100}, {"shape": (100,), "dimension_names": None, "filters": ()}),
        ({"compressors": None}, {"compressors": ()}),
        ({"dimension_names": None}, {"dimension_names": None}),
    ],
    ids=str,
)
def test_options_replace_what_depends_on_them(like, options, expected):
    array = zarr.empty_like(like, **options)
    assert {name: getattr(array, name) for name in expected} == expected


def test_an_array_like_values_has_their_shape_and_dtype():
    assert zarr.zeros_like(np.ones((2, 3), "int8")).dtype == np.int8
    assert zarr.ones_like([[1, 2], [3, 4]])[...].tolist() == [[1, 1], [1, 1]]
