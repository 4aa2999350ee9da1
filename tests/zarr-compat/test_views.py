"""Views with other data types, checksums, and iteration over the first dimension."""

import hashlib

import numpy as np
import pytest
import zarr_compat.api as compat
import zarr_core as zarr

VALUES = np.arange(20, dtype="i4").reshape(4, 5)


@pytest.fixture
def array():
    return compat.array(VALUES, chunks=(3, 2))


@pytest.mark.parametrize(
    "select",
    [
        lambda view: view[1:3, ::2],
        lambda view: view[2, 1],
        lambda view: view.oindex[[0, 3], 1:],
        lambda view: view.vindex[[0, 3], [4, 1]],
        lambda view: view.blocks[1, 0],
        lambda view: np.asarray(view),
        lambda view: np.array(list(view)),
    ],
)
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda array: array.astype("f8"), VALUES.astype("f8")),
        (lambda array: array.view("u4"), VALUES.view("u4")),
        (lambda array: array.view("f4"), VALUES.view("f4")),
    ],
)
def test_a_view_reads_as_numpy_would(array, make, expected, select):
    plain = zarr.array(expected, chunks=(3, 2))
    got, wanted = select(make(array)), select(plain)
    np.testing.assert_array_equal(got, wanted)
    assert got.dtype == wanted.dtype


def test_a_view_is_lazy_and_only_to_be_read(array):
    view = array.astype("f4")
    array[0, 0] = 99
    assert view[0, 0] == 99.0
    assert (view.shape, view.chunks, view.nbytes) == ((4, 5), (3, 2), 80)
    with pytest.raises(TypeError):
        view[0] = 1
    with pytest.raises(AttributeError, match=r"use view\.array"):
        view.resize(3)


def test_a_view_of_elements_of_another_length_is_rejected(array):
    with pytest.raises(TypeError, match="item sizes"):
        array.view("i8")


@pytest.mark.parametrize("given", [{"id": "zlib"}, "nonsense", 5])
def test_casts_to_something_that_is_not_a_dtype_are_rejected(array, given):
    for cast in (array.astype, array.view):
        with pytest.raises(TypeError, match="is not a NumPy dtype"):
            cast(given)


def test_fields_are_those_of_the_view():
    values = np.array([(1, 2.5), (3, 4.5)], [("a", "<i4"), ("b", "<f8")])
    other = np.dtype([("c", "<u4"), ("d", "<i8")])
    array = compat.array(values, chunks=1)
    for view, seen in [
        (array.astype(values.dtype), values),
        (array.astype(other), values.astype(other)),
        (array.view(other), values.view(other)),
    ]:
        for name in seen.dtype.names:
            np.testing.assert_array_equal(view[name], seen[name])
            np.testing.assert_array_equal(view[name, 1], seen[name][1])
            np.testing.assert_array_equal(view.oindex[name, [1]], seen[name][[1]])
            np.testing.assert_array_equal(view.blocks[name, 1], seen[name][[1]])
        with pytest.raises(zarr.errors.SelectionError, match="no fields"):
            view["z"]
    with pytest.raises(zarr.errors.SelectionError, match="no fields"):
        array.view("S12")["a"]


def test_single_texts_are_cast_as_well():
    array = compat.Array(zarr.array(["1", "22"], dtype=str))
    assert array.astype("i4")[1] == 22
    assert array.astype("U5")[0] == "1"
    assert [*array.astype("f8")] == [1.0, 22.0]


def test_a_checksum_is_of_chunks_in_order_then_documents(array):
    keys = ["c/0/0", "c/0/1", "c/0/2", "c/1/0", "c/1/1", "c/1/2", "zarr.json"]
    expected = hashlib.sha256(b"".join(bytes(array.core.store.get(key)) for key in keys))
    assert array.digest("sha256") == expected.digest()
    assert array.hexdigest() == array.digest().hex()
    before = array.hexdigest()
    array[3, 4] += 1
    assert array.hexdigest() != before


def test_the_checksum_of_version_2_is_that_of_zarr_python_2():
    # From zarr-python 2.18.7: zarr.array(np.arange(6, dtype="<i4"), chunks=4, compressor=None,
    # store=MemoryStore()), with the attribute a = 1.
    store = {}
    core = zarr.array(
        np.arange(6, dtype="<i4"), chunks=4, compressors=None, zarr_format=2, store=store
    )
    store[".zarray"] = (
        b'{\n    "chunks": [\n        4\n    ],\n    "compressor": null,\n    "dtype": "<i4",\n'
        b'    "fill_value": 0,\n    "filters": null,\n    "order": "C",\n    "shape": [\n'
        b'        6\n    ],\n    "zarr_format": 2\n}'
    )
    store[".zattrs"] = b'{\n    "a": 1\n}'
    assert compat.Array(core).hexdigest() == "787792ed3972ec4d62e61064d34c9c2d4b9dbefe"


@pytest.mark.parametrize("part", [(None, None), (1, 3), (0, 0), (-2, None), (2, 99), (3, 1)])
def test_part_of_the_first_dimension(array, part):
    assert np.array_equal(list(array.islice(*part)), [*VALUES[slice(*part)]])


def test_one_element():
    point = compat.array(np.int16(3))
    assert (point.item(), type(point.item())) == (3, int)
    several = compat.array([[1, 2], [3, 4]])
    assert several.item(1, 0) == several.item(-1, 0) == 3
    with pytest.raises(ValueError, match="has 4 elements, not one"):
        several.item()
    with pytest.raises(ValueError, match="can only convert"):
        several.item(1)


def test_the_order_of_elements():
    assert zarr.zeros((3, 4)).order == "C"
    turned = zarr.zeros((3, 4), order="F")
    assert turned.order == "F"
    assert zarr.zeros(3, order="F").order == "C"
