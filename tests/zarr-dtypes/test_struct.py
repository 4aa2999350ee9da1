"""struct: records, their fields, their fill values."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import zarr_core as zarr
from growth import LIMIT, growth
from hypothesis import given, settings
from hypothesis.extra import numpy as arrays
from zarr_core.errors import (
    ExtensionConfigurationError,
    MetadataDecodeError,
    MetadataValidationError,
    UnknownExtensionError,
)
from zarr_core.extension import (
    DataType,
    ExtensionDefinition,
    Location,
    create_extension,
    data_type_for,
)
from zarr_dtypes.struct import Struct

RECORD = np.dtype([("id", "i4"), ("p", [("x", "f4"), ("s", "S3")]), ("at", "M8[s]"), ("u", "U2")])


def field(name, data_type):
    return {"name": name, "data_type": data_type}


def struct(*fields):
    return ExtensionDefinition("struct", {"fields": list(fields)})


def made(*fields):
    return create_extension(
        "data_type", struct(*fields), Location("the array", pointer="/data_type")
    )


def test_numpy():
    data_type = data_type_for(RECORD)
    assert isinstance(data_type, Struct)
    assert data_type.numpy_dtype == RECORD
    assert data_type.item_size == 4 + 4 + 3 + 8 + 8
    assert data_type.to_definition().configuration["fields"] == [
        field("id", "int32"),
        field("p", struct(
            field("x", "float32"),
            field("s", {"name": "null_terminated_bytes", "configuration": {"length_bytes": 3}}),
        ).to_json()),
        field("at", {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}),
        field("u", {"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}}),
    ]  # fmt: skip
    assert create_extension("data_type", data_type.to_definition()) == data_type
    assert data_type_for(RECORD.newbyteorder(">")) == data_type
    assert len({data_type, data_type_for(RECORD)}) == 1


@pytest.mark.parametrize("layout", [{}, {"chunks": (2, 3)}, {"chunks": (2, 2), "shards": (4, 4)}])
@pytest.mark.parametrize("order", "<>")
@settings(max_examples=10, deadline=None)
@given(octets=arrays.arrays("u1", 5 * 7 * RECORD.itemsize))
def test_records_round_trip(order, layout, octets):
    values = octets.view(RECORD).reshape(5, 7)
    array = zarr.create_array(
        shape=(5, 7), dtype=RECORD.newbyteorder(order), compressors=None, **layout
    )  # fmt: skip
    endian = {"<": "little", ">": "big"}[order]
    assert f'"{endian}"' in str(array.store.get("zarr.json")).replace(" ", "")
    array[...] = values
    assert array[...].tobytes() == values.tobytes()
    assert array["id"].tobytes() == np.ascontiguousarray(values["id"]).tobytes()
    assert array["p", 1:3].tobytes() == np.ascontiguousarray(values["p"][1:3]).tobytes()
    array["id", 2] = 7
    expected = values.copy()
    expected["id"][2] = 7
    assert array[...].tobytes() == expected.tobytes()


FILL = {"id": -1, "p": {"x": "0x7fc00001", "s": "YWI="}, "at": "NaT", "u": "ä"}


def test_fill_values_in_json():
    data_type = data_type_for(RECORD)
    value = data_type.fill_value_from_json(FILL)
    assert value.dtype == RECORD
    assert data_type.fill_value_to_json(value) == FILL
    assert value["p"]["x"].view("u4") == 0x7FC00001
    array = zarr.create_array(shape=3, dtype=RECORD, fill_value=value)
    assert json.loads(array.store.get("zarr.json"))["fill_value"] == FILL
    assert array[...].tobytes() == value.tobytes() * 3


@pytest.mark.parametrize(
    "value",
    [
        (3, (1.5, b"a"), "NaT", "ä"),
        [3, {"x": 1.5, "s": b"a"}, np.datetime64("NaT", "s"), "ä"],
        {"id": 3, "p": (1.5, b"a"), "at": "NaT", "u": "ä"},
        np.array([(3, (1.5, b"a"), "NaT", "ä")], RECORD)[0],
        np.array((3, (1.5, b"a"), "NaT", "ä"), RECORD.newbyteorder(">")),
        np.array((3, (1.5, b"a"), "NaT", "ä"), RECORD)[()],
    ],
    ids=["tuple", "list", "dict", "void", "swapped", "scalar"],
)
def test_arguments(value):
    array = zarr.create_array(shape=1, dtype=RECORD, fill_value=value)
    assert array.metadata.fill_value == {
        "id": 3, "p": {"x": 1.5, "s": "YQ=="}, "at": "NaT", "u": "ä",
    }  # fmt: skip


def test_zero():
    array = zarr.zeros(1, dtype=RECORD)
    assert array[...].tobytes() == np.zeros(1, RECORD).tobytes()
    # The default is that of each field.
    assert zarr.create_array(shape=1, dtype=RECORD).metadata.fill_value == {
        "id": 0, "p": {"x": 0.0, "s": ""}, "at": "NaT", "u": "",
    }  # fmt: skip


@pytest.mark.parametrize("value", [(1,), {"id": 1}, 1, (1.5, (0, b""), 0, ""), "x", [(), 2, 3, 4]])
def test_rejected_arguments(value):
    with pytest.raises(MetadataValidationError, match="/fill_value"):
        zarr.create_array(shape=1, dtype=RECORD, fill_value=value)


# --- what is refused ---


@pytest.mark.parametrize(
    ("dtype", "message"),
    [
        (np.dtype([(("title", "a"), "i4")]), "title"),
    ],
)
def test_dtypes_that_would_lose_something(dtype, message):
    with pytest.raises(ExtensionConfigurationError, match=message):
        zarr.create_array(shape=1, dtype=dtype)


@pytest.mark.parametrize(
    ("padded", "packed"),
    [
        (
            np.dtype([("a", "i1"), ("b", ">f8"), ("c", "u2")], align=True),
            [("a", "i1"), ("b", ">f8"), ("c", "u2")],
        ),
        (np.dtype({"names": ["a"], "formats": ["i4"], "itemsize": 8}), [("a", "i4")]),
        (
            np.dtype({"names": ["a", "b"], "formats": ["i4", "i2"], "offsets": [4, 0]}),
            [("a", "i4"), ("b", "i2")],
        ),
        (
            np.dtype([("n", np.dtype([("a", "?"), ("b", "f4")], align=True)), ("m", "i2")]),
            [("n", [("a", "?"), ("b", "f4")]), ("m", "i2")],
        ),
    ],
)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_padding_between_fields_is_not_stored(padded, packed, zarr_format):
    values = np.zeros(5, padded)
    for name in padded.names:
        values[name] = np.arange(5).astype(padded[name])
    expected = values.astype(packed)
    array = zarr.create_array(data=values, chunks=2, zarr_format=zarr_format)
    assert array.dtype.itemsize == np.dtype(packed).itemsize
    assert np.array_equal(array[...], expected)
    array = zarr.create_array(shape=5, dtype=padded, chunks=3, zarr_format=zarr_format)
    array[1:] = values[1:]
    assert np.array_equal(array[1:], expected[1:])


def test_padding_within_a_field_with_a_shape_is_not_stored():
    padded = np.dtype([("n", np.dtype([("a", "i1"), ("b", "i4")], align=True), (2,))])
    values = np.zeros(3, padded)
    values["n"]["b"] = np.arange(6).reshape(3, 2)
    array = zarr.create_array(data=values, zarr_format=2)
    assert array.dtype == [("n", [("a", "i1"), ("b", "i4")], (2,))]
    assert np.array_equal(array[...]["n"]["b"], values["n"]["b"])


def test_aligned_dtypes_without_gaps_lose_nothing():
    dtype = np.dtype([("a", "i4"), ("b", "f4")], align=True)
    assert data_type_for(dtype).item_size == 8


def test_fields_that_nothing_stores():
    with pytest.raises(UnknownExtensionError, match="longdouble|float128|f16"):
        data_type_for(np.dtype([("a", "i4"), ("b", np.longdouble)]))


@pytest.mark.parametrize(
    ("fields", "pointer", "message"),
    [
        (
            [field("a", {"name": "raw_bytes", "configuration": {"length_bytes": 2**31 - 1}})] * 1
            + [field("b", "int8")],
            "/data_type/configuration",
            "1 to 2147483647 bytes",
        ),
        (
            [field("a", "int8"), field("b", {"name": "int8", "configuration": {"x": 1}})],
            "/data_type/configuration/fields/1/data_type/configuration/x",
            "not a member",
        ),
        (
            [field("n", struct(field("a", "int8"), field("a", "int8")).to_json())],
            "/data_type/configuration/fields/0/data_type/configuration",
            "duplicate field names",
        ),
    ],
)
def test_definitions_that_are_rejected(fields, pointer, message):
    with pytest.raises(ExtensionConfigurationError, match=message) as caught:
        made(*fields)
    assert "the array" in str(caught.value)
    assert pointer in {problem.pointer for problem in caught.value.problems} | {
        caught.value.location.rpartition(" ")[2]
    }


@pytest.mark.parametrize("levels", [55, 80])
def test_deep_nesting(levels):
    array = zarr.create_array(shape=1, dtype=[("n", "i1")])
    document = json.loads(array.store.get("zarr.json"))
    for _ in range(levels):
        document["data_type"] = struct(field("n", document["data_type"])).to_json()
        document["fill_value"] = {"n": document["fill_value"]}
    array.store.set("zarr.json", json.dumps(document).encode())
    if levels == 80:
        with pytest.raises(MetadataDecodeError, match="nested more than"):
            zarr.open(array.store)
    else:
        assert zarr.open(array.store)[...].tobytes() == b"\0"


# --- fields that are arrays, which another distribution has ---


@dataclass(frozen=True)
class Pair(DataType):
    """Two integers."""

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> DataType:
        return cls()

    @classmethod
    def from_numpy(cls, dtype: np.dtype[Any]) -> DataType | None:
        return cls() if dtype.shape == (2,) else None

    def to_definition(self) -> ExtensionDefinition:
        return ExtensionDefinition("acme.pair")

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        return np.dtype(("i2", (2,)))

    def fill_value_from_json(self, value: Any) -> np.ndarray[Any, Any]:
        return np.array(value, "i2")

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> Any:
        return value.tolist()

    def default_fill_value(self) -> np.ndarray[Any, Any]:
        return np.zeros(2, "i2")


def test_fields_that_are_arrays():
    dtype = np.dtype([("a", "u1"), ("pair", "i2", (2,))])
    with zarr.override_extensions({"data_type": {"acme.pair": Pair}}):
        values = np.array([(1, (2, 3)), (4, (5, 6)), (7, (8, 9))], dtype)
        array = zarr.create_array(
            data=values.astype(dtype.newbyteorder(">")), chunks=2, compressors=None
        )
        assert array.dtype == dtype
        assert array[...].tobytes() == values.tobytes()
        assert array["pair"].tolist() == [[2, 3], [5, 6], [8, 9]]
        assert array.store.get("c/0") == b"\1\0\2\0\3\4\0\5\0\6"
        assert array.metadata.fill_value == {"a": 0, "pair": [0, 0]}
        array = zarr.open(array.store)
        data_type = data_type_for(dtype)
        fill = {"a": 1, "pair": [-1, 7]}
        assert data_type.fill_value_to_json(data_type.fill_value_from_json(fill)) == fill


def array_of_fields(count):
    """A document of an array whose elements have so many fields."""
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [1],
        "data_type": struct(*(field(f"f{n}", "int8") for n in range(count))).to_json(),
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1]}},
        "chunk_key_encoding": "default",
        "fill_value": {f"f{number}": 0 for number in range(count)},
        "codecs": ["bytes"],
    }
    return json.dumps(document).encode()


def test_opening_many_fields_takes_linear_time():
    def opened(document):
        return zarr.open(zarr.MemoryStore({"zarr.json": document}), "r")

    assert growth(array_of_fields, opened, 2000) < LIMIT


def test_messages_do_not_repeat_all_fields():
    struct_ = Struct.from_definition(struct(*(field(f"f{n}", "int8") for n in range(5000))))
    with pytest.raises(ValueError, match="and 4,990 more; it differs in") as refused:
        struct_.fill_value_from_json({"other": 1})
    assert len(str(refused.value)) < 1000
    with pytest.raises(ValueError, match="and 4,990 more cannot hold") as refused:
        struct_.cast("x" * 10_000)
    assert len(str(refused.value)) < 1000
    twice = struct(*(field(f"f{number % 5000}", "int8") for number in range(10_000)))
    with pytest.raises(
        ValueError, match="duplicate field names 'f0', .* and 4,990 more"
    ) as refused:
        Struct.from_definition(twice)
    assert len(str(refused.value)) < 1000
