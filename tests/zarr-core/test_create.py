"""Creating arrays with all forms of arguments."""

import json
import sys
import tracemalloc

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from zarr_core.chunk_key_encodings import DefaultEncoding
from zarr_core.data_types.integer import Integer
from zarr_core.data_types.raw import RawBits
from zarr_core.errors import (
    AttributeValueError,
    MetadataValidationError,
    NodeExistsError,
    NodeNameError,
    NodeNotFoundError,
    NodeTypeError,
    SelectionError,
    StoreReadOnlyError,
    UnknownExtensionError,
)
from zarr_core.extension import DataType, ExtensionDefinition, GroupMetadata
from zarr_core.normalize.data_types import parse_data_type


def document(array):
    prefix = f"{array.path}/" if array.path else ""
    return json.loads(bytes(array.store.get(f"{prefix}zarr.json")))


# --- shape, data ---


@pytest.mark.parametrize(
    ("shape", "expected"),
    [(5, (5,)), ((5,), (5,)), ([2, 3], (2, 3)), ((), ()), (np.int64(4), (4,)),
     (np.array([2, 2]), (2, 2)), ((0, 3), (0, 3)), (range(1, 3), (1, 2))],
)  # fmt: skip
def test_shapes(shape, expected):
    array = zarr.create_array(shape=shape)
    assert array.shape == expected
    assert array.dtype == np.float64
    assert array[...].shape == expected


@pytest.mark.parametrize(
    ("shape", "error", "message"),
    [
        (None, TypeError, "requires shape or data"),
        ("10", TypeError, "shape must be an integer or a sequence of integers, not '10'"),
        (2.5, TypeError, "not 2.5"),
        ((2, None), TypeError, "shape must be"),
        (-5, MetadataValidationError, "/shape/0: -5"),
        ((2, 2**63), MetadataValidationError, "/shape/1"),
    ],
)
def test_invalid_shape(shape, error, message):
    store = CountingStore(zarr.MemoryStore())
    with pytest.raises(error, match=message):
        zarr.create_array(store, shape=shape)
    assert not store.count("set", "update")


def test_data_gives_shape_and_dtype():
    array = zarr.create_array(data=np.arange(6, dtype=">i2").reshape(2, 3))
    assert (array.shape, array.dtype) == ((2, 3), np.dtype("int16"))
    np.testing.assert_array_equal(array[...], np.arange(6).reshape(2, 3))
    assert zarr.create_array(data=[[1.5], [2.5]])[...].tolist() == [[1.5], [2.5]]
    assert zarr.create_array(data=5)[()] == 5
    assert zarr.create_array(data=np.float32(1.5)).dtype == np.float32
    assert zarr.create_array(data=[1.7, 2], dtype="int8")[...].tolist() == [1, 2]
    assert zarr.create_array(data=[1, 2], shape=2).shape == (2,)
    with pytest.raises(ValueError, match=r"shape \(3,\) is not that of data, \(2,\)"):
        zarr.create_array(data=[1, 2], shape=3)


class Lazy:
    """An array of another library: chunked, read on demand."""

    def __init__(self, values):
        self.values, self.shape, self.dtype = values, values.shape, values.dtype
        self.chunks = self.shape
        self.asked = []

    def __getitem__(self, index):
        self.asked.append(index)
        return self.values[index]

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)


def test_data_without_a_dtype_is_taken_as_if_it_were_assigned():
    store = zarr.MemoryStore()
    with pytest.raises(SelectionError, match="cannot be stored as int8: .*300"):
        zarr.create_array(store, data=[1, 300], dtype="int8")
    assert list(store.list()) == []
    # As a NumPy array it has a dtype, and is cast by NumPy.
    assert zarr.create_array(data=np.array([1, 300]), dtype="int8")[...].tolist() == [1, 44]
    # Such an array removes null characters at the end.
    assert zarr.create_array(data=["a\0", "b"], dtype="string")[...].tolist() == ["a\0", "b"]
    assert zarr.create_array(data=[[1, 2], [3, 4]], dtype="uint8")[1].tolist() == [3, 4]


@pytest.mark.parametrize("fortran_order", [False, True])
def test_memory_mapped_file_is_written_in_bounded_memory(fortran_order, tmp_path):
    values = np.arange(1_000_000.0).reshape(1000, 1000)  # 8 MB
    np.save(tmp_path / "a.npy", np.asfortranarray(values) if fortran_order else values)
    zarr.create_array(data=values, chunks=(100, 100))  # imports what is needed
    tracemalloc.start()
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    array = zarr.create_array(tmp_path / "a.zarr", data=mapped, chunks=(100, 100))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000
    assert np.array_equal(array[...], values)


def test_large_data_of_others_is_read_in_parts():
    values = np.arange(3 * 2**22, dtype="int64").reshape(3 * 2**10, 2**12)
    lazy = Lazy(values)
    array = zarr.create_array(data=lazy, chunks=(1000, 4096), compressors=None)
    assert lazy.asked == [slice(0, 2000, None), slice(2000, 3072, None)]
    assert np.array_equal(array[::513], values[::513])
    copy = zarr.create_array(data=array, chunks=(3072, 128), compressors=None)
    assert np.array_equal(copy[-1], values[-1])
    small = Lazy(values[:2])
    zarr.create_array(data=small)
    assert not small.asked


# --- data types ---


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        ("float32", "float32"), (np.float32, "float32"), (np.dtype("f4"), "float32"),
        (float, "float64"), (int, "int64"), (bool, "bool"), (complex, "complex128"),
        ("i4", "int32"), ("<u2", "uint16"), ("?", "bool"), (np.dtypes.Int8DType(), "int8"),
        (ExtensionDefinition("uint8"), "uint8"), ({"name": "uint8"}, "uint8"),
        (Integer("int16"), "int16"), ("r16", "r16"), ("V3", "r24"), ("complex64", "complex64"),
        ("float", "float64"), ("single", "float32"),
    ],
)  # fmt: skip
def test_data_types(dtype, name):
    array = zarr.create_array(shape=2, dtype=dtype)
    assert document(array)["data_type"] == name
    assert zarr.open(array.store).dtype == array.dtype


@pytest.mark.parametrize(("dtype", "endian"), [(">f4", "big"), ("<f4", "little"), ("f4", None)])
def test_a_byte_order_is_that_of_what_is_stored(dtype, endian):
    array = zarr.create_array(shape=2, dtype=dtype, compressors=None)
    array[...] = [1, 2]
    assert array.dtype == np.dtype("float32")
    assert document(array)["codecs"][0]["configuration"]["endian"] == endian or endian is None
    expected = np.array([1, 2], dtype).tobytes()
    assert bytes(array.store.get("c/0")) == expected


@pytest.mark.parametrize(
    ("dtype", "error", "message"),
    [
        ("nonsense", UnknownExtensionError, "data type called 'nonsense'"),
        (object, UnknownExtensionError, "zarr-dtypes"),
        (str, UnknownExtensionError, "zarr-dtypes"),
        ("datetime64[s]", UnknownExtensionError, "zarr-dtypes"),
        ([("a", "i4")], UnknownExtensionError, "zarr-dtypes"),
        ({"name": "acme.unknown"}, UnknownExtensionError, r"acme\.unknown"),
        ({"configuration": {}}, ValueError, "the data type .* needs a name"),
        ({"name": "int8", "width": 3}, ValueError, "unknown members: width"),
    ],
)
def test_unknown_data_types(dtype, error, message):
    with (
        zarr.config.set(disabled_plugins={"zarr-dtypes", "zarr-formats"}),
        pytest.raises(error, match=message),
    ):
        zarr.create_array(shape=2, dtype=dtype)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ([("a", ">i4"), ("b", ">f8"), ("c", "S3")], "big"),
        ([("a", ">i4"), ("b", "<f8")], None),  # stored in the byte order of the machine
        ([("a", "<i4"), ("b", "<f8")], None),
        ([("n", [("a", ">i4")]), ("c", "u1")], "big"),
    ],
)
@pytest.mark.skipif(sys.byteorder == "big", reason="asks for the order that is not the machine's")
def test_byte_order_of_fields(fields, expected):
    assert parse_data_type(fields)[1] == expected


def test_assigned_values_are_converted_by_the_data_type():
    """Before NumPy casts it: complete elements, but not single fields."""

    class Halves(RawBits):
        @classmethod
        def from_definition(cls, definition):
            return cls(2)

        @property
        def numpy_dtype(self):
            return np.dtype([("low", "u1"), ("high", "u1")])

        def as_elements(self, value):
            number = np.asarray(value)
            if number.dtype.names:
                return number
            if (number > 0xFFFF).any():
                raise OverflowError("two bytes hold less")
            return number.astype("<u2").view(self.numpy_dtype)

    array = zarr.open_array(
        shape=4, chunks=3, dtype="r16", mode="w", extensions={"data_type": {"r16": Halves}}
    )
    array[0] = 0x201
    array[1:3] = np.array([0x403, 0x605])
    array.vindex[[3]] = [7]
    array["low"] = np.uint8(9)
    array.append([0xFFFF])
    assert array[...].tobytes() == bytes([9, 2, 9, 4, 9, 6, 9, 0, 255, 255])
    for write in (lambda: array.append([1 << 16]), lambda: array.__setitem__(0, 1 << 16)):
        with pytest.raises(SelectionError, match="cannot be stored: two bytes hold less"):
            write()


class Address(DataType):
    """An IPv4 address, whose fill value is text in metadata."""

    @classmethod
    def from_definition(cls, definition):
        return cls()

    def to_definition(self):
        return ExtensionDefinition("acme.ipv4")

    @property
    def numpy_dtype(self):
        return np.dtype("uint32")

    def fill_value_from_json(self, value):
        parts = [int(part) for part in value.split(".")]
        if len(parts) != 4:
            raise ValueError(f"an address has four parts, not {value!r}")
        return np.array(int.from_bytes(bytes(parts), "big"), "uint32")

    def fill_value_to_json(self, value):
        return ".".join(map(str, int(value).to_bytes(4, "big")))


def test_fill_values_as_the_text_of_metadata():
    with zarr.override_extensions({"data_type": {"acme.ipv4": Address}}):
        for given in ("10.0.0.1", 0x0A000001, np.uint32(0x0A000001)):
            store = {}
            array = zarr.create_array(store, shape=2, dtype={"name": "acme.ipv4"}, fill_value=given)
            assert json.loads(bytes(store["zarr.json"]))["fill_value"] == "10.0.0.1"
            assert array[...].tolist() == [0x0A000001] * 2
        with pytest.raises(
            MetadataValidationError, match=r"/fill_value: an address has four parts"
        ):
            zarr.create_array({}, shape=2, dtype={"name": "acme.ipv4"}, fill_value="10")


# --- fill values ---


@pytest.mark.parametrize(
    ("dtype", "given", "expected"),
    [
        ("float32", None, 0.0), ("float32", "NaN", "NaN"), ("float32", np.nan, "NaN"),
        ("float64", -np.inf, "-Infinity"), ("float32", "0x7fc00001", "0x7fc00001"),
        ("int64", 2**62 + 1, 2**62 + 1), ("uint64", 2**64 - 1, 2**64 - 1),
        ("bool", True, True), ("bool", 1, True), ("int8", np.int64(-3), -3),
        ("complex64", 1 + 2j, [1.0, 2.0]), ("r16", b"\x01\x02", [1, 2]), ("int32", 2.0, 2),
    ],
)  # fmt: skip
def test_fill_values(dtype, given, expected):
    array = zarr.create_array(shape=2, dtype=dtype, fill_value=given)
    assert document(array)["fill_value"] == expected
    again = zarr.create_array(shape=2, dtype=dtype, fill_value=array.fill_value)
    assert document(again)["fill_value"] == expected


# --- keys, names, the rest ---


@pytest.mark.parametrize(
    ("given", "key"),
    [
        (None, "c/1/0"), ("default", "c/1/0"), ("v2", "1.0"),
        ({"name": "default", "separator": "."}, "c.1.0"),
        ({"name": "v2", "separator": "/"}, "1/0"), ({"name": "v2"}, "1.0"),
        ({"name": "default", "configuration": {"separator": "."}}, "c.1.0"),
        (ExtensionDefinition("v2", {"separator": "."}), "1.0"),
        (("v2", "/"), "1/0"), (("default", "."), "c.1.0"), (DefaultEncoding("."), "c.1.0"),
    ],
)  # fmt: skip
def test_chunk_key_encodings(given, key):
    array = zarr.create_array(shape=(2, 1), chunks=1, dtype="int8", chunk_key_encoding=given)
    array[1, 0] = 1
    assert sorted(array.store.list()) == sorted(["zarr.json", key])
    assert array.nchunks_initialized == 1
    point = zarr.create_array(data=1, chunk_key_encoding=given)
    assert sorted(point.store.list()) == sorted(["zarr.json", "c" if key[0] == "c" else "0"])
    assert point.nchunks_initialized == 1


@pytest.mark.parametrize("given", [{"separator": "."}, {"name": "v2", "sep": "."}, 5, {"name": 5}])
def test_invalid_chunk_key_encoding(given):
    with pytest.raises((TypeError, ValueError), match="chunk.key.encoding"):
        zarr.create_array(shape=1, chunk_key_encoding=given)


def test_dimension_names():
    array = zarr.create_array(shape=(2, 3), dimension_names=["x", None])
    assert array.dimension_names == ("x", None)
    assert document(array)["dimension_names"] == ["x", None]
    assert zarr.create_array(shape=2).dimension_names is None
    assert "dimension_names" not in document(zarr.create_array(shape=2))
    assert zarr.create_array(shape=2, dimension_names="time").dimension_names == ("time",)
    with pytest.raises(MetadataValidationError, match="/dimension_names"):
        zarr.create_array(shape=(2, 3), dimension_names=["x"])


def test_attributes():
    array = zarr.create_array(shape=2, attributes={"n": np.int64(3), "a": np.arange(2)})
    assert document(array)["attributes"] == {"n": 3, "a": [0, 1]}
    for make in (
        lambda **options: zarr.create_array(shape=2, **options),
        zarr.create_group,
    ):
        with pytest.raises(AttributeValueError, match="/attributes/bad"):
            make(attributes={"bad": object()})


@pytest.mark.parametrize("name", ["..", "a/../b", "__reserved", "a/zarr.json", "a\0b", "."])
def test_names_that_break_the_grammar(name, tmp_path):
    group = zarr.create_group(tmp_path / "g")
    for make in (
        lambda: group.create_array(name, shape=1),
        lambda: group.create_group(name),
        lambda: group.require_group(name),
        lambda: group.require_array(name, shape=1),
        lambda: zarr.create_array(tmp_path / "g", path=name, shape=1),
        lambda: zarr.open(tmp_path / "g", "a", path=name),
    ):
        with pytest.raises(NodeNameError):
            make()
    assert sorted(group.store.list()) == ["zarr.json"]
    assert name not in group
    with pytest.raises(KeyError):
        group[name]
    with pytest.raises(KeyError):
        del group[name]


def test_nothing_is_stored_where_a_node_cannot_be():
    store = CountingStore(zarr.MemoryStore(read_only=True))
    for make in (zarr.create_group, lambda place: zarr.create_array(place, shape=1)):
        with pytest.raises(StoreReadOnlyError, match=r'mode="r\+", or .* without read_only=True'):
            make(store)
    assert not store.count("set", "update")


def test_chunks_without_a_document_do_not_become_those_of_a_new_array():
    array = zarr.create_array(data=np.arange(1, 5), chunks=2)
    array.store.erase("zarr.json")
    with pytest.raises(NodeExistsError, match="not removed completely"):
        zarr.create_array(array.store, shape=4, chunks=2)
    new = zarr.create_array(array.store, shape=4, chunks=2, overwrite=True)
    assert new[...].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("data", [{1, 2}, frozenset({1}), (x for x in (1, 2)), iter([1])])
def test_data_without_an_order_or_a_length_is_an_error(data):
    with pytest.raises(TypeError, match=f"of type {type(data).__name__} to an array; pass a list"):
        zarr.create_array(data=data)


def test_overwriting_keeps_keys_that_are_not_chunks():
    like = {"name": "a", "shape": (4, 4), "chunks": 2, "chunk_key_encoding": "v2"}
    group = zarr.create_group()
    group.create_array(**like)[...] = 1
    group.store.erase("a/zarr.json")
    with pytest.raises(NodeExistsError, match=r"'a/0\.0'.*if it is one, remove it, or"):
        group.create_array(**like)
    with pytest.raises(NodeExistsError, match=r"overwriting would remove 'a/0\.0'"):
        group.create_array(**like, overwrite=True)
    group.store.erase_prefix("a/")
    assert not group.create_array(**like)[...].any()


def test_override_of_a_call_applies_to_one_array():
    from zarr_core.extension import BytesToBytesCodec

    class Flip(BytesToBytesCodec):
        def encode(self, data, decoded_size):
            return bytes(255 - byte for byte in data)

        def decode(self, data, decoded_size):
            return self.encode(data, decoded_size)

    given = {"codec": {"acme.flip": Flip}}
    array = zarr.open_array(data=[1, 2], compressors=["acme.flip"], mode="w", extensions=given)
    assert document(array)["codecs"][-1]["name"] == "acme.flip"
    with pytest.raises(UnknownExtensionError, match=r"acme\.flip"):
        zarr.open(array.store)
    array.attrs["a"] = 1
    array.resize(3)
    assert array[...].tolist() == [1, 2, 0]
    same = zarr.open_array(shape=2, compressors=[Flip()], mode="w", extensions=given)
    assert "acme.flip" in repr(same)


# --- arrays of one value, and with metadata that are not stored ---


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


def described(**options):
    options = {"shape": (4, 4), "chunks": (2, 2), "dtype": "int32"} | options
    return zarr.create_array(None, **options).metadata


def test_chunks_are_written_before_the_document_is():
    store = zarr.MemoryStore()
    array = zarr.array_from_metadata(store, described(), path="a/b")
    array[...] = np.arange(16).reshape(4, 4)
    assert sorted(store.list()) == [f"a/b/c/{i}/{j}" for i in range(2) for j in range(2)]
    with pytest.raises(NodeNotFoundError):
        zarr.open(store, path="a/b")
    again = zarr.array_from_metadata(store, described(), path="a/b", read_only=True)
    assert np.array_equal(again[...], np.arange(16).reshape(4, 4))
    with pytest.raises(StoreReadOnlyError):
        again[0] = 1


def test_settings_hold_for_it():
    store = zarr.MemoryStore()
    config = {"write_empty_chunks": True}
    zarr.array_from_metadata(store, described(), config=config)[...] = 0
    assert len(list(store.list())) == 4


def test_metadata_of_groups_are_rejected():
    with pytest.raises(NodeTypeError, match="that of a group"):
        zarr.array_from_metadata(None, GroupMetadata())
