"""The memory order of results is that of the chunks, as in zarr-python for version 2."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
import zarr_core as zarr

FORMATS = [2, 3, "v1", "draft"]
VALUES = np.arange(48).reshape(4, 6, 2)


def made(zarr_format=2, order="F", store=None, **options):
    store = {} if store is None else store
    if zarr_format == "v1":
        options["compressors"] = {"id": "blosc", "cname": "lz4", "clevel": 1, "shuffle": 1}
    array = zarr.create_array(
        store, data=VALUES, chunks=(2, 3, 2), order=order, zarr_format=zarr_format, **options
    )
    return store, array


def layout(result) -> str:
    assert result.flags.c_contiguous != result.flags.f_contiguous
    return "F" if result.flags.f_contiguous else "C"


@pytest.mark.parametrize("zarr_format", FORMATS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_results_have_the_order_of_the_array(zarr_format, order, tmp_path):
    store, array = made(zarr_format, order, tmp_path / "a")
    for opened in (array, zarr.open_array(store), pickle.loads(pickle.dumps(array))):
        assert opened.order == order
        for result, expected in [
            (opened[:], VALUES),
            (opened[...], VALUES),
            (opened[:2], VALUES[:2]),
            (opened[:2, :3], VALUES[:2, :3]),
            (opened[1], VALUES[1]),
            (opened[:, 0], VALUES[:, 0]),
            (opened[::2, ::-2], VALUES[::2, ::-2]),
            (opened[None, :, 3:], VALUES[None, :, 3:]),
            (opened[[1, 3]], VALUES[[1, 3]]),
            (opened[0, :, [1, 0]], VALUES[0, :, [1, 0]]),
            (opened.oindex[[0, 1], [1, 3]], VALUES[np.ix_([0, 1], [1, 3])]),
            (opened.blocks[0], VALUES[:2]),
            (np.asarray(opened), VALUES),
        ]:
            np.testing.assert_array_equal(result, expected)
            assert layout(result) == order


def test_results_of_points_are_in_c_order():
    _, array = made()
    rows, columns = [[0, 1], [2, 3]], [[0, 5], [1, 2]]
    for result, expected in [
        (array.vindex[rows, columns, 0], VALUES[rows, columns, 0]),
        (array[rows, columns], VALUES[rows, columns]),
        (array[[[0, 1], [2, 3]]], VALUES[rows]),
    ]:
        np.testing.assert_array_equal(result, expected)
        assert layout(result) == "C"


def test_missing_chunks_and_arrays_of_one_dimension():
    array = zarr.zeros((4, 6), chunks=(2, 3), order="F", zarr_format=2)
    assert layout(array[:]) == "F"
    assert zarr.zeros(4, order="F", zarr_format=2)[:].flags.c_contiguous
    assert zarr.zeros((), order="F", zarr_format=2)[...].shape == ()


def test_shards_of_turned_chunks():
    array = zarr.create_array({}, data=VALUES, chunks=(2, 3, 2), shards=(4, 6, 2), order="F")
    assert layout(array[:]) == "F"
    np.testing.assert_array_equal(array[:], VALUES)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("wanted", ["C", "F"])
def test_the_setting_order_is_for_results_alone(zarr_format, order, wanted, tmp_path):
    store, array = made(zarr_format, order, tmp_path / "a", config={"order": wanted})
    again = pickle.loads(pickle.dumps(array))
    opened = zarr.open_array(store, config={"order": wanted})
    for each in (array, again, opened):
        assert each.order == order
        assert layout(each[:]) == wanted
        np.testing.assert_array_equal(each[:], VALUES)
    assert layout(zarr.open_array(store)[:]) == order


def test_a_refresh_sees_another_order():
    store, array = made(2, "F")
    assert layout(array[:]) == "F"
    document = json.loads(bytes(store[".zarray"]))
    store[".zarray"] = json.dumps(document | {"order": "C"}).encode()
    array.refresh()
    assert layout(array[:]) == "C"


@pytest.mark.parametrize("order", ["A", "K", 1])
def test_other_orders_of_results_are_rejected(order):
    with pytest.raises(ValueError, match='order must be "C" or "F"'):
        made(config={"order": order})


def test_a_transpose_filter_alone_is_taken():
    filters = [{"name": "transpose", "configuration": {"order": [2, 1, 0]}}]
    array = zarr.create_array({}, data=VALUES, filters=filters)
    assert array.order == "F"
    assert layout(array[:]) == "F"
    partly = [{"name": "transpose", "configuration": {"order": [1, 0, 2]}}]
    assert layout(zarr.create_array({}, data=VALUES, filters=partly)[:]) == "C"


@pytest.mark.parametrize("order", ["C", "F"])
def test_results_are_as_those_of_zarr_python(order, tmp_path):
    peer = pytest.importorskip("zarr")
    theirs = peer.create_array(
        tmp_path / "a", shape=VALUES.shape, chunks=(2, 3, 2), dtype="i8", order=order, zarr_format=2
    )
    theirs[:] = VALUES
    ours = zarr.open_array(tmp_path / "a")
    for index in [(...,), (0,), (slice(None), 1), (slice(2), slice(3))]:
        assert layout(ours[index]) == layout(theirs[index])
        np.testing.assert_array_equal(ours[index], theirs[index])
