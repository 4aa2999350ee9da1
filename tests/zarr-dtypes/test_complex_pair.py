"""Complex numbers of parts that NumPy has no complex numbers for; further names of its own."""

import json

import ml_dtypes
import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import MetadataValidationError
from zarr_core.extension import ExtensionDefinition, create_extension
from zarr_dtypes.complex_pair import ComplexPair

PARTS = [
    "bfloat16", "float16", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4",
    "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "float8_e8m0fnu",
]  # fmt: skip


def made_of(part):
    return create_extension("data_type", ExtensionDefinition(f"complex_{part}"))


def pair(made, real, imaginary):
    value = np.empty((), made.numpy_dtype)
    value["real"], value["imag"] = real, imaginary
    return value


@pytest.mark.parametrize("part", PARTS)
def test_layout(part):
    made = made_of(part)
    inner = made.part.numpy_dtype
    assert isinstance(made, ComplexPair)
    assert made.numpy_dtype == np.dtype([("real", inner), ("imag", inner)])
    assert made.item_size == 2 * inner.itemsize
    assert made.has_byte_order == part.endswith("16")
    assert made.unused_bits == part.startswith(("float4", "float6"))
    value = made.default_fill_value()
    assert made.unused_bits == (made.clear_unused_bits(value) is not value)
    assert made.to_definition().to_json() == f"complex_{part}"
    assert made == made_of(part)
    assert hash(made) == hash(made_of(part))
    # Records are what they say: nobody guesses that they are numbers.
    assert zarr.create_array(shape=1, dtype=made.numpy_dtype).metadata.data_type.name == "struct"


@pytest.mark.parametrize("part", ["bfloat16", "float16", "float8_e4m3"])
def test_arguments(part):
    made = made_of(part)
    expected = pair(made, 1.5, -2)
    forms = [
        1.5 - 2j, np.complex64(1.5 - 2j), np.array(1.5 - 2j), (1.5, -2), [1.5, np.float16(-2)],
        expected, expected[()], expected.astype(expected.dtype.newbyteorder("S")),
        np.array(1.5 - 2j).astype(ml_dtypes.complex32), np.array((1.5, -2), "f4,f4"),
    ]  # fmt: skip
    for value in forms[:-1]:
        assert made.cast(value).tobytes() == expected.tobytes()
    for value in (1.5, np.float32(1.5), np.array(1.5, ml_dtypes.float8_e5m2)):
        assert made.cast(value).tobytes() == pair(made, 1.5, 0).tobytes()
    assert made.cast(3).tobytes() == pair(made, 3, 0).tobytes()
    for value in (forms[-1], "1", None, [1], (1, 2, 3), np.zeros(2, "c8"), b"ab", np.void(b"ab")):
        with pytest.raises(ValueError, match=part):
            made.cast(value)
    if part == "float8_e4m3":
        with pytest.raises(ValueError, match="out of range"):
            made.cast(1 + 1000j)


def test_bits_of_nan_are_kept():
    for part, theirs in (("float16", "complex32"), ("bfloat16", "bcomplex32")):
        made = made_of(part)
        octets = b"\x01\xff\x81\x7f"
        value = np.frombuffer(octets, getattr(ml_dtypes, theirs)).reshape(())
        assert made.cast(value).tobytes() == octets
        array = zarr.create_array(shape=3, dtype=f"complex_{part}", fill_value=value)
        assert array[...].tobytes() == octets * 3
        array[1:] = np.frombuffer(octets[::-1] * 2, value.dtype)
        assert array[...].tobytes() == octets + octets[::-1] * 2


NUMBERS = [[1 + 2j, -3.5j], [0.25, -1 - 0.5j], [4, 2j]]


@pytest.mark.parametrize("order", ["little", "big"])
@pytest.mark.parametrize("part", ["bfloat16", "float16", "float8_e5m2", "float6_e3m2fn"])
def test_complex_numbers_are_stored_as_their_parts(part, order):
    """By NumPy's rule each field would be given the real part, without a word."""
    numbers = np.array(NUMBERS)
    array = zarr.create_array(
        shape=(3, 2), dtype=f"complex_{part}", chunks=(2, 2), compressors=None,
        serializer={"name": "bytes", "configuration": {"endian": order}},
    )  # fmt: skip

    def held():
        result = array[...]
        return result["real"].astype("f8") + 1j * result["imag"].astype("f8")

    for form in (NUMBERS, numbers, numbers.astype("c8"), numbers.astype(ml_dtypes.complex32)):
        array[...] = 0
        assert not held().any()
        array[...] = form
        assert np.array_equal(held(), numbers)
    size = array.dtype["real"].itemsize
    stored = array.store.get("c/0/0")
    first = [stored[at : at + size] for at in (0, size)]
    one, two = (np.array(number).astype(array.dtype["real"]) for number in (1, 2))
    assert first == [int(value.view(f"u{size}")[()]).to_bytes(size, order) for value in (one, two)]
    array[1] = 2 - 1j
    array[0, 1] = 3
    array["imag"] = np.full((3, 2), 0.5)
    array[2] = array[0]
    assert held().tolist() == [[1 + 0.5j, 3 + 0.5j], [2 + 0.5j] * 2, [1 + 0.5j, 3 + 0.5j]]
    array.append([[1j, 2]])
    assert held()[3].tolist() == [1j, 2]
    made = zarr.array(numbers, dtype=f"complex_{part}")
    assert np.array_equal(made[:, 1:]["imag"].astype("f8"), numbers.imag[:, 1:])
    assert zarr.zeros(2, dtype=f"complex_{part}")[...].tobytes() == bytes(4 * size)


def test_complex_numbers_of_ml_dtypes_find_their_data_type():
    for theirs, name in (("complex32", "float16"), ("bcomplex32", "bfloat16")):
        values = np.array(NUMBERS).astype(getattr(ml_dtypes, theirs))
        array = zarr.array(values)
        assert array.metadata.data_type.name == f"complex_{name}"
        assert array[...].view(values.dtype).tobytes() == values.tobytes()
        # Theirs in the other order are swapped as a whole, which is undone.
        array[...] = 0
        array[...] = values.astype(values.dtype.newbyteorder("S"))
        assert array[...].tobytes() == values.tobytes()


def test_in_a_struct():
    fields = [
        {"name": "z", "data_type": "complex_float4_e2m1fn"}, {"name": "n", "data_type": "int4"},
        {"name": "b", "data_type": "bfloat16"},
    ]  # fmt: skip
    array = zarr.create_array(
        shape=4, chunks=2, dtype={"name": "struct", "configuration": {"fields": fields}},
        serializer={"name": "bytes", "configuration": {"endian": "big"}}, compressors=None,
        fill_value={"z": [1, -2], "n": -3, "b": "NaN"},
    )  # fmt: skip
    array.store.set("c/0", bytes.fromhex("f2fcfd3fc0 73847e4000"))
    expected = bytes.fromhex("020c0dc03f 03040e0040" + "020c0dc07f" * 2)
    assert array[...].tobytes() == expected
    assert array["n"].astype(int).tolist() == [-3, -2, -3, -3]
    assert array[...].tolist()[0] == ((1.0, -2.0), -3, 1.5)


@pytest.mark.parametrize(("name", "meant"), [("32", "complex64"), ("64", "complex128")])
def test_further_names(name, meant):
    name = f"complex_float{name}"
    array = zarr.create_array(shape=3, dtype=name, fill_value=1 - 2j, chunks=2)
    # The name that more readers know.
    assert array.metadata.data_type.to_json() == meant
    assert array.dtype == meant
    array[0] = complex("nan-infj")
    assert str(array[...].tolist()) == "[(nan-infj), (1-2j), (1-2j)]"
    # What others have written is read, and written back as it was.
    document = json.loads(array.store.get("zarr.json"))
    document |= {"data_type": name, "fill_value": ["NaN", 0.5], "attributes": {"a": 1}}
    array.store.set("zarr.json", json.dumps(document).encode())
    again = zarr.open(array.store, mode="r+")
    again.attrs["a"] = 2
    assert json.loads(array.store.get("zarr.json")) == document | {"attributes": {"a": 2}}
    assert again.dtype == meant
    assert str(again.fill_value) == "(nan+0.5j)"
    with pytest.raises(MetadataValidationError, match="/fill_value"):
        zarr.create_array(shape=1, dtype=name, fill_value="1")
