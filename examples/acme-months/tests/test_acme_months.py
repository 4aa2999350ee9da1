"""The conformance tests; the ends of months."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_conformance.kit import ChunkGridTests


def grid(*lengths, start="2024-01-01", steps_per_day=1):
    return {"chunk_shape": [*lengths], "start": start, "steps_per_day": steps_per_day}


class TestMonths(ChunkGridTests):
    name = "acme.months"
    cases = [
        (grid("month", 3), (75, 5)),
        (grid("month", start="1999-12-30", steps_per_day=2), (70,)),
        (grid(2, "year", start="2024-02-29"), (3, 700)),
        (grid("month", start="2024-02-01"), (29,)),
        (grid("month", start="9999-12-31"), (1,)),
        (grid("month"), (0,)),
        (grid(), ()),
    ]
    bad_configurations = [
        {},
        grid("day"),
        grid(0),
        grid("month", start="2023-02-29"),
        grid("month", start="20240101"),
        grid("month", start="0000-01-01"),
        grid("month", steps_per_day=0),
    ]


def series(days, **options):
    chunks = {"name": "acme.months", "configuration": grid("month", **options)}
    return zarr.create_array(shape=days, chunks=chunks, dtype="int32", compressors=None)


def test_lengths_in_a_leap_year():
    array = series(366)
    array[...] = 1
    sizes = [array.store.getsize(f"c/{month}") // 4 for month in range(12)]
    assert sizes == [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]


def test_the_first_chunk_contains_the_rest_of_the_month():
    array = series(5, start="2023-02-27")
    array[...] = np.arange(5)
    assert array.store.getsize("c/0") == 2 * 4
    assert array.store.getsize("c/1") == 31 * 4
    assert array[...].tolist() == [0, 1, 2, 3, 4]


def test_append_does_not_change_complete_months():
    array = series(0)
    for days in (20, 11, 1, 40):
        before = {key: bytes(array.store.get(key)) for key in array.store.list_prefix("c/")}
        done = array.shape[0]
        array.append(np.arange(done, done + days))
        if done >= 31:
            assert bytes(array.store.get("c/0")) == before["c/0"]
    assert array[...].tolist() == list(range(72))
    assert zarr.open_array(array.store).shape == (72,)
    assert sorted(array.store.list_prefix("c/")) == ["c/0", "c/1", "c/2"]


def test_resize_within_a_month():
    array = series(60)
    array[...] = 7
    array.resize(40)
    array.resize(50)
    assert array[...].tolist() == [7] * 40 + [0] * 10


def test_dates_after_9999_are_rejected():
    with pytest.raises(zarr.errors.MetadataError, match="9999"):
        series(3, start="9999-12-30")
