"""Arrays exchanged with zarr-python in both directions, in every layout."""

import json
import sys
import warnings

import numpy as np
import pytest
import zarr
import zarr_core

NEWER = tuple(map(int, zarr.__version__.split(".")[:2])) >= (3, 2)
"""Whether zarr-python writes ``struct``, and knows the byte order of its fields."""

RECORD = [("id", "i4"), ("at", "M8[s]"), ("inner", [("name", "S3"), ("ok", "?")]), ("x", "f8")]


def values_of(dtype, shape=(5, 7)):
    """Values of a dtype that differ, with an unusual one here and there."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape))
    if dtype.names:
        values = np.empty(shape, dtype)
        for name in dtype.names:
            values[name] = values_of(dtype[name], shape)
        return values
    if dtype.kind in "mM":
        counts = np.arange(size, dtype="i8") * 10**6 - 10**6
        counts[3], counts[4] = np.iinfo("i8").min, np.iinfo("i8").max
        return counts.view(dtype).reshape(shape)
    if dtype.kind in "US":
        letters = "aä𝄞\0z" if dtype.kind == "U" else "ab\0cz"
        return np.array([letters[n % 5 :] * (n % 3) for n in range(size)], dtype).reshape(shape)
    if dtype.kind == "V":
        octets = np.random.default_rng(7).bytes(size * dtype.itemsize)
        return np.frombuffer(octets, dtype).reshape(shape)
    return (np.arange(size) % 100).astype(dtype).reshape(shape)


def same(left, right):
    return (
        left.shape == right.shape
        and left.dtype == right.dtype
        and (
            left.tolist() == right.tolist()
            if left.dtype.hasobject
            else left.tobytes() == right.tobytes()
        )
    )


@pytest.fixture(autouse=True)
def quiet():
    """zarr-python warns of data types without a specification."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# Times without a unit: see test_generic_times_in_the_order_of_no_machine.
WITHOUT_UNIT = ["M8", "m8"]  # new ones are refused here
FIXED = ["M8[ns]", "M8[10us]", "M8[Y]", "m8[s]", "m8[7W]", "U4", "S5", "V3", "S1", "U1"]
LAYOUTS = {
    "edges": {"chunks": (2, 3)},
    "shards": {"chunks": (2, 2), "shards": (4, 4)},
    "raw": {"chunks": (5, 7), "compressors": None},
}


def skip_what_they_get_wrong(dtype, order, layout):
    generic = dtype.kind in "mM" and np.datetime_data(dtype)[0] == "generic"
    if generic and order != sys.byteorder:
        pytest.skip("NumPy does not swap the bytes of times without a unit")
    if generic and dtype.kind == "M" and not NEWER:
        pytest.skip("zarr-python 3.1 does not open its own arrays of times without a unit")
    if dtype.kind == "V" and layout == "shards" and not NEWER:
        pytest.skip("zarr-python 3.1 cannot put elements in shards that it cannot hash")


def their_serializer(order):
    return zarr.codecs.BytesCodec(endian=order)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("order", ["little", "big"])
@pytest.mark.parametrize("dtype", [*FIXED, *WITHOUT_UNIT])
def test_theirs_is_read(tmp_path, dtype, order, layout):
    skip_what_they_get_wrong(np.dtype(dtype), order, layout)
    values = values_of(dtype)
    array = zarr.create_array(
        tmp_path, shape=values.shape, dtype=values.dtype, serializer=their_serializer(order),
        **LAYOUTS[layout],
    )  # fmt: skip
    array[1:] = values[1:]
    ours = zarr_core.open(tmp_path)
    # The first row is the fill value where a chunk has nothing but it.
    assert same(ours[...], np.asarray(array[...]))
    assert same(ours[1:], values[1:])
    assert same(ours[::2, 3:], np.asarray(array[::2, 3:]))
    ours[0] = values[0]
    assert same(np.asarray(zarr.open_array(tmp_path)[...]), values)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("order", ["little", "big"])
@pytest.mark.parametrize("dtype", [*FIXED, RECORD])
def test_ours_is_read(tmp_path, dtype, order, layout):
    dtype = np.dtype(dtype)
    skip_what_they_get_wrong(dtype, order, layout)
    if dtype.kind == "V" and dtype.names is None:  # ours has the specification's name
        dtype = {"name": "raw_bytes", "configuration": {"length_bytes": dtype.itemsize}}
        values = values_of("V3")
    elif dtype.names and not NEWER:
        pytest.skip("zarr-python 3.1 has no struct")
    else:
        values = values_of(dtype)
    array = zarr_core.create_array(
        tmp_path, shape=values.shape, dtype=dtype,
        serializer={"name": "bytes", "configuration": {"endian": order}}, **LAYOUTS[layout],
    )  # fmt: skip
    array[1:] = values[1:]
    theirs = zarr.open_array(tmp_path)
    assert same(np.asarray(theirs[1:]), values[1:])
    assert same(np.asarray(theirs[...]), array[...])
    theirs[0] = values[0]
    assert same(array[...], values)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("order", ["little", "big"])
def test_their_records_are_read(tmp_path, order, layout):
    skip_what_they_get_wrong(np.dtype(RECORD), order, layout)
    if not NEWER and order == "big":
        pytest.skip("zarr-python 3.1 writes fields as they are in memory, whatever it is told")
    values = values_of(RECORD)
    arguments = {"serializer": their_serializer(order)} if NEWER else {}
    array = zarr.create_array(
        tmp_path, shape=values.shape, dtype=values.dtype, fill_value=values[1, 1], **arguments,
        **LAYOUTS[layout],
    )  # fmt: skip
    array[1:] = values[1:]
    ours = zarr_core.open(tmp_path)
    assert ours.metadata.data_type.name == ("struct" if NEWER else "structured")
    assert ours.fill_value == values[1, 1]
    assert same(ours[...], np.asarray(array[...]))
    assert same(ours["at"], np.ascontiguousarray(np.asarray(array[...])["at"]))
    ours[0] = values[0]
    assert same(np.asarray(zarr.open_array(tmp_path)[...]), values)


FILLS = [
    ("M8[s]", np.datetime64("NaT", "s")), ("M8[s]", np.datetime64(-7, "s")),
    ("m8[10us]", np.timedelta64(3, "10us")), ("m8[10us]", np.timedelta64("NaT", "10us")),
    ("U4", "a𝄞"), ("U4", ""), ("S4", b"a\0b"), ("S4", b"\xff\xfe\xfd\xfc"),
    ("str", "a𝄞" * 9), ("str", ""), ("variable_length_bytes", b"\xff\0" * 9),
    ("variable_length_bytes", b""), ("V3", np.void(b"\1\xff\0")),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "fill"), FILLS, ids=str)
def test_their_fill_values(tmp_path, dtype, fill):
    array = zarr.create_array(tmp_path, shape=3, dtype=dtype, fill_value=fill)
    ours = zarr_core.open(tmp_path)
    assert same(ours[...], np.asarray(array[...]))
    assert same(ours[...], np.full(3, ours.stored.resolved.fill_value))


@pytest.mark.parametrize(("dtype", "fill"), FILLS, ids=str)
def test_our_fill_values(tmp_path, dtype, fill):
    if dtype == "V3":
        dtype = {"name": "raw_bytes", "configuration": {"length_bytes": 3}}
    array = zarr_core.create_array(tmp_path, shape=3, dtype=dtype, fill_value=fill)
    assert same(np.asarray(zarr.open_array(tmp_path)[...]), array[...])
    # Not by numpy.full, which makes an S of bytes and loses null bytes at their end.
    if isinstance(fill, str | bytes):
        assert array[...].tolist() == [array.fill_value] * 3 == [fill] * 3
    else:
        assert same(array[...], np.full(3, fill, array.dtype))


@pytest.mark.parametrize("dtype", [*FIXED, "str", "variable_length_bytes"])
def test_contents_of_new_arrays_are_equal(tmp_path, dtype):
    theirs = zarr.create_array(tmp_path / "theirs", shape=2, dtype=dtype)
    ours = zarr_core.create_array(tmp_path / "ours", shape=2, dtype=dtype)
    assert same(ours[...], np.asarray(theirs[...]))
    documents = [
        json.loads((tmp_path / name / "zarr.json").read_text()) for name in ("theirs", "ours")
    ]
    if dtype not in ("V3", "variable_length_bytes"):  # by its other name
        assert documents[0]["data_type"] == documents[1]["data_type"]


STRINGS = [["", "a", "ä𝄞"], ["x" * 300, "\0", "e"], ["f", "", ""]]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["string", "bytes"])
def test_strings_and_bytes_of_any_length(tmp_path, dtype, layout):
    if dtype == "string":
        values = np.array(STRINGS, np.dtypes.StringDType())
    else:
        values = np.array([[item.encode() for item in row] for row in STRINGS], object)
    theirs = zarr.create_array(tmp_path / "theirs", shape=(3, 3), dtype=dtype, **LAYOUTS[layout])
    theirs[:2] = values[:2]
    ours = zarr_core.open(tmp_path / "theirs")
    assert ours[:2].tolist() == values[:2].tolist()
    ours[2] = values[2]
    assert zarr.open_array(tmp_path / "theirs")[...].tolist() == values.tolist()

    ours = zarr_core.create_array(tmp_path / "ours", shape=(3, 3), dtype=dtype, **LAYOUTS[layout])
    ours[:2] = values[:2]
    theirs = zarr.open_array(tmp_path / "ours")
    assert theirs[:2].tolist() == values[:2].tolist()
    theirs[2] = values[2]
    assert ours[...].tolist() == values.tolist()
