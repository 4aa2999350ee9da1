"""New arrays of version 2, paths, and data types with subarrays."""

import json

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from v2_documents import array, stored
from zarr_core.errors import (
    CodecChainError,
    MetadataValidationError,
    NodeNameError,
    UnknownExtensionError,
)
from zarr_core.extension import (
    ExtensionConfigurationError,
    ExtensionDefinition,
    Location,
    create_extension,
)
from zarr_formats.v2.format import V2
from zarr_formats.v2.subarray import Subarray

numcodecs = pytest.importorskip("numcodecs")


def create(**options):
    """A new array and its stored metadata document."""
    store = zarr.MemoryStore()
    array = zarr.create_array(store, zarr_format=2, **options)
    return array, json.loads(bytes(store.get(".zarray")))


def test_defaults():
    array, document = create(shape=(10,), chunks=5, dtype="i2")
    assert document == {
        "chunks": [5],
        "compressor": {"id": "zstd", "level": 0},
        "dimension_separator": ".",
        "dtype": "<i2",
        "fill_value": 0,
        "filters": None,
        "order": "C",
        "shape": [10],
        "zarr_format": 2,
    }
    assert not array.store.exists(".zattrs")
    assert array.zarr_format == 2


def test_an_undefined_fill_value_keeps_every_chunk():
    store = zarr.MemoryStore()
    array = zarr.create_array(store, shape=10, chunks=5, dtype="i4", zarr_format=2)
    document = json.loads(bytes(store.get(".zarray"))) | {"fill_value": None}
    store.set(".zarray", json.dumps(document).encode())
    array = zarr.open(store)
    assert array.fill_value is None
    assert array[...].tolist() == [0] * 10
    array[:5] = 0
    assert store.exists("0")
    assert json.loads(bytes(store.get(".zarray")))["fill_value"] is None


def test_filters_for_other_elements():
    with pytest.raises((CodecChainError, MetadataValidationError), match="delta|filters/0"):
        create(shape=4, dtype="i4", filters=[numcodecs.Delta("<f4")])


def test_unknown_codecs():
    with pytest.raises(UnknownExtensionError, match="acme"):
        create(shape=4, dtype="i4", compressors={"id": "acme"})


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_array_round_trips(data):
    simple = st.sampled_from(["|b1", ">i2", "<u8", "<f2", ">f8", ">c8", "<M8[ms]", ">m8[D]", "|V3"])
    record = st.lists(simple, min_size=1, max_size=3).map(
        lambda types: [(f"f{number}", *part) for number, part in enumerate(zip(types, strict=True))]
    )
    dtype = np.dtype(data.draw(simple | record))
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=3, max_side=5))
    native = dtype.newbyteorder("=")
    size = int(np.prod(shape, dtype=int)) * native.itemsize
    raw = data.draw(st.binary(min_size=size, max_size=size))
    if native.kind == "b" or native.names:
        raw = bytes(byte & 1 for byte in raw)
    values = np.frombuffer(raw, native).reshape(shape)
    array, _ = create(
        shape=shape,
        chunks=tuple(data.draw(st.integers(1, 4)) for _ in shape) or "auto",
        dtype=dtype,
        order=data.draw(st.sampled_from("CF")),
        compressors=data.draw(st.sampled_from([None, numcodecs.Zlib(1), numcodecs.Blosc()])),
    )
    array[...] = values
    again = np.asarray(zarr.open(array.store)[...])
    assert again.dtype == native
    assert again.tobytes() == values.tobytes()


GROUP = stored({"zarr_format": 2})


@pytest.fixture
def store():
    return zarr.MemoryStore(
        {
            ".zgroup": GROUP,
            "foo/.zgroup": GROUP,
            "foo/bar/.zarray": stored(array()),
            "foo/bar/0.0": bytes(24),
        }
    )


def test_a_path_is_what_keys_begin_with(store):
    node = zarr.open(store, path="foo/bar", zarr_format=2)
    node.attrs["a"] = 1
    node[3, 3] = 7
    assert set(store.list()) == {
        ".zgroup", "foo/.zgroup", "foo/bar/.zarray", "foo/bar/.zattrs", "foo/bar/0.0", "foo/bar/1.1",
    }  # fmt: skip


def test_valid_names(store):
    version_2 = V2()
    assert all(
        map(version_2.is_valid_name, ("a", ".a", "...", "__x", "zarr.json", "a b", "\u03a9"))
    )
    assert not any(map(version_2.is_valid_name, ("", ".", "..", "a\\b")))
    version_2.check_path("a/b c/~!")
    with pytest.raises(NodeNameError, match="ASCII"):
        zarr.create_group(store, path="a/\u03a9")
    assert not [key for key in store.list() if not key.isascii()]


DEFINITION = ExtensionDefinition("v2.subarray", {"data_type": "int16", "shape": [2, 3]})
RECORD = np.dtype([("x", "<f4"), ("y", ">i2", (2, 3)), ("z", [("a", "S3", (2,))])])


def made(definition=DEFINITION):
    return create_extension("data_type", definition, Location("here", pointer="/data_type"))


def test_it_is_numpys():
    data_type = made()
    assert data_type.numpy_dtype == np.dtype(("i2", (2, 3)))
    assert data_type.item_size == 12
    assert data_type.has_byte_order
    assert data_type.to_definition() == DEFINITION
    assert Subarray.from_numpy(np.dtype(("i2", (2, 3)))) == data_type
    assert Subarray.from_numpy(np.dtype("V12")) is None


def test_fill_values_are_nested_lists():
    data_type = made()
    value = data_type.fill_value_from_json([[1, 2, 3], [4, 5, 6]])
    assert data_type.fill_value_to_json(value) == [[1, 2, 3], [4, 5, 6]]
    assert data_type.fill_value_to_json(data_type.default_fill_value()) == [[0] * 3] * 2
    assert data_type.fill_value_to_json(data_type.cast(7)) == [[7] * 3] * 2


@pytest.mark.parametrize(
    "value", [0, [1, 2], [[1, 2, 3]], [[1, 2, 3], [1, 2]], [[1, 2, 3], [1, 2, 2**15]]]
)
def test_fill_values_of_another_shape(value):
    with pytest.raises(ValueError, match=r"."):
        made().fill_value_from_json(value)


@pytest.mark.parametrize(
    "configuration",
    [
        {},
        {"data_type": "int8"},
        {"data_type": "int8", "shape": []},
        {"data_type": "int8", "shape": [0]},
        {"data_type": "int8", "shape": [2], "more": 1},
        {"data_type": "string", "shape": [2]},
    ],
)
def test_configurations_that_are_none(configuration):
    with pytest.raises(ExtensionConfigurationError):
        made(ExtensionDefinition("v2.subarray", configuration))


@settings(max_examples=30, deadline=None)
@given(st.binary(min_size=22 * 6, max_size=22 * 6), st.sampled_from("CF"))
def test_records_with_sub_arrays_round_trip(data, order):
    assert RECORD.itemsize == 22
    native = RECORD.newbyteorder("=")
    values = np.frombuffer(data, RECORD).astype(native).reshape(2, 3)
    values["x"] = np.nan_to_num(values["x"])
    store = zarr.MemoryStore()
    array = zarr.create_array(
        store, shape=(2, 4), chunks=(2, 2), dtype=native, order=order, zarr_format=2
    )
    array[:, :3] = values
    found = zarr.open(store)
    assert found.dtype == native
    assert (found[:, :3] == values).all()
    assert found["y"].shape == (2, 4, 2, 3)


def test_fields_of_several_byte_orders_stay_as_they_are_stored(tmp_path):
    import json

    # Written directly, because the data type of a new array has one byte order.
    values = np.zeros(4, RECORD)
    values["x"], values["y"], values["z"]["a"] = 1.5, 258, b"ab"
    document = {
        "zarr_format": 2, "shape": [4], "chunks": [4], "order": "C", "filters": None, "compressor": None,
        "dtype": [["x", "<f4"], ["y", ">i2", [2, 3]], ["z", [["a", "|S3", [2]]]]], "fill_value": None,
    }  # fmt: skip
    (tmp_path / ".zarray").write_text(json.dumps(document))
    (tmp_path / "0").write_bytes(values.tobytes())
    array = zarr.open(tmp_path)
    assert (array[...] == values).all()
    array[1] = array[0]
    assert (tmp_path / "0").read_bytes() == values.tobytes()


def test_version_3_has_no_sub_arrays():
    with pytest.raises(MetadataValidationError, match="fields that are arrays"):
        zarr.create_array(shape=3, dtype=RECORD.newbyteorder("="), zarr_format=3)
