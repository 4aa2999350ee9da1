"""Elements as bytes: sizes, byte orders and fill values of data types, without arithmetic.

Floating-point numbers are never converted by a processor, so no NaN changes its bits and
no zero its sign.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.evaluation.stored_data.errors import StoredDataError, UnknownExtensionError
from zarr_conformance.evaluation.stored_data.json_text import JSONFloat

if TYPE_CHECKING:
    from collections.abc import Callable

    Octets = np.ndarray[Any, np.dtype[np.uint8]]
    """Elements: an array of bytes with a last axis of the size of an element."""

# Bits of the exponent and of the mantissa of IEEE 754 formats by size in bytes.
_FLOATS = {2: (5, 10), 4: (8, 23), 8: (11, 52)}


@dataclass(frozen=True)
class ElementType:
    """A data type of fixed size.

    Parameters
    ----------
    size : int
        Bytes of an element.
    numbers : tuple of (int, int)
        Offset and size of each number within an element, whose bytes have an order.
    fill : callable
        Converts the JSON form of a fill value to the element in little-endian order; raises
        a StoredDataError for another form.
    is_bool : bool
        Whether the only valid bytes are 0 and 1.
    """

    size: int
    numbers: tuple[tuple[int, int], ...]
    fill: Callable[[Any], bytes]
    is_bool: bool = False

    def decode(self, data: bytes, shape: tuple[int, ...], *, big: bool, order: str = "C") -> Octets:
        """Return the elements of a chunk of the codec ``bytes``, in little-endian order.

        ``order`` is the order of the dimensions in the chunk.
        """
        if order == "F":
            octets = self.decode(data, shape[::-1], big=big)
            return octets.transpose([*reversed(range(len(shape))), len(shape)])
        count = int(np.prod(shape, dtype=object)) if shape else 1
        if len(data) != count * self.size:
            raise StoredDataError(
                f"{len(data)} bytes for a chunk of shape {shape}, which has {count * self.size}"
            )
        octets = np.frombuffer(data, np.uint8).reshape(*shape, self.size).copy()
        if self.is_bool and (octets > 1).any():
            raise StoredDataError(f"the byte {octets.max()} in a chunk of bool")
        return self.swapped(octets) if big else octets

    def swapped(self, octets: Octets) -> Octets:
        """Return the elements in the other byte order."""
        result = octets.copy()
        for offset, size in self.numbers:
            result[..., offset : offset + size] = octets[..., offset : offset + size][..., ::-1]
        return result

    @property
    def has_byte_order(self) -> bool:
        """Whether an element contains numbers of several bytes."""
        return any(size > 1 for _, size in self.numbers)


# --- numbers ---


def integer_bytes(size: int, *, signed: bool) -> Callable[[Any], bytes]:
    """Return the conversion of integers: JSON numbers without fraction and exponent."""

    def convert(value: Any) -> bytes:
        if type(value) is not int:
            raise StoredDataError(f"the fill value {value!r} is not an integer")
        try:
            return value.to_bytes(size, "little", signed=signed)
        except OverflowError:
            raise StoredDataError(f"the fill value {value} is out of range") from None

    return convert


def bool_bytes(value: Any) -> bytes:
    """Convert true or false."""
    if not isinstance(value, bool):
        raise StoredDataError(f"the fill value {value!r} is neither true nor false")
    return bytes([value])


def float_bytes(size: int, *, hexadecimal: bool = True) -> Callable[[Any], bytes]:
    """Return the conversion of floating-point numbers.

    Parameters
    ----------
    size : int
        2, 4 or 8 bytes.
    hexadecimal : bool
        Whether strings of hexadecimal digits are permitted, as in version 3.
    """
    exponent_bits, mantissa_bits = _FLOATS[size]
    infinity = ((1 << exponent_bits) - 1) << mantissa_bits
    sign = 1 << (8 * size - 1)
    named = {
        "NaN": infinity | 1 << (mantissa_bits - 1),
        "Infinity": infinity,
        "-Infinity": infinity | sign,
    }

    def convert(value: Any) -> bytes:
        if isinstance(value, str):
            if value in named:
                bits = named[value]
            elif hexadecimal and re.fullmatch(rf"0x[0-9a-fA-F]{{{2 * size}}}", value):
                bits = int(value, 16)
            else:
                raise StoredDataError(f"the fill value {value!r} is not a form of the data type")
        elif isinstance(value, bool) or not isinstance(value, int | float):
            raise StoredDataError(f"the fill value {value!r} is not a number")
        else:
            text = value.text if isinstance(value, JSONFloat) else repr(value)
            bits = nearest_float(Fraction(text), exponent_bits, mantissa_bits)
            if text.startswith("-") and not isinstance(value, int):
                bits |= sign
        return bits.to_bytes(size, "little")

    return convert


def nearest_float(number: Fraction, exponent_bits: int, mantissa_bits: int) -> int:
    """Return the bits of the nearest number of a format of IEEE 754, ties to even."""
    sign = 1 << (exponent_bits + mantissa_bits) if number < 0 else 0
    number = abs(number)
    bias = (1 << (exponent_bits - 1)) - 1
    if not number:
        return sign
    exponent = number.numerator.bit_length() - number.denominator.bit_length()
    exponent -= number < Fraction(2) ** exponent
    exponent = max(exponent, 1 - bias)
    # An integer number of units in the last place; its rounding may reach the next exponent.
    units = round(number / Fraction(2) ** (exponent - mantissa_bits))
    bits = ((exponent + bias - 1) << mantissa_bits) + units
    if units < 1 << mantissa_bits:  # subnormal
        bits = units
    return sign | min(bits, ((1 << exponent_bits) - 1) << mantissa_bits)


def pair_bytes(part: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    """Return the conversion of complex numbers: lists of real and imaginary part."""

    def convert(value: Any) -> bytes:
        if not isinstance(value, list) or len(value) != 2:
            raise StoredDataError(f"the fill value {value!r} is not a list of two parts")
        return part(value[0]) + part(value[1])

    return convert


def _octets(size: int) -> Callable[[Any], bytes]:
    def convert(value: Any) -> bytes:
        if (
            not isinstance(value, list)
            or len(value) != size
            or not all(type(item) is int and 0 <= item < 256 for item in value)
        ):
            raise StoredDataError(f"the fill value {value!r} is not a list of {size} bytes")
        return bytes(value)

    return convert


def _time_bytes(value: Any) -> bytes:
    return integer_bytes(8, signed=True)(-(2**63) if value == "NaT" else value)


def base64_bytes(value: Any) -> bytes:
    """Convert a string in base64 with the standard alphabet and padding (RFC 4648)."""
    try:
        if not isinstance(value, str):
            raise TypeError
        data = base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise StoredDataError(f"the fill value {value!r} is not base64") from None
    if base64.b64encode(data).decode() != value:
        raise StoredDataError(f"the fill value {value!r} is not canonical base64")
    return data


# --- data types of version 3 ---


def number_type(kind: str, size: int, *, hexadecimal: bool = True) -> ElementType:
    """Return a type of numbers by NumPy's letter for its kind: ``biufc``."""
    if kind == "b":
        return ElementType(1, (), bool_bytes, is_bool=True)
    if kind in "iu":
        return ElementType(size, ((0, size),), integer_bytes(size, signed=kind == "i"))
    if kind == "f":
        return ElementType(size, ((0, size),), float_bytes(size, hexadecimal=hexadecimal))
    half = size // 2
    part = float_bytes(half, hexadecimal=hexadecimal)
    return ElementType(size, ((0, half), (half, half)), pair_bytes(part))


_KINDS = {"int": "i", "uint": "u", "float": "f", "complex": "c"}


def type_of_version_3(definition: Any) -> ElementType:
    """Return the data type of a definition of version 3."""
    name, configuration = split(definition)
    if name == "bool":
        return number_type("b", 1)
    if match := re.fullmatch(r"(u?int)(8|16|32|64)|(float)(16|32|64)|(complex)(64|128)", name):
        kind, bits = (group for group in match.groups() if group)
        return number_type(_KINDS[kind], int(bits) // 8)
    if match := re.fullmatch(r"r([1-9][0-9]*)", name):
        if int(match[1]) % 8:
            raise StoredDataError(f"the data type {name} is not a number of bytes")
        return ElementType(int(match[1]) // 8, (), _octets(int(match[1]) // 8))
    if name in ("numpy.datetime64", "numpy.timedelta64"):
        if configuration.keys() != {"unit", "scale_factor"}:
            raise StoredDataError(f"the data type {name} requires unit and scale_factor")
        return ElementType(8, ((0, 8),), _time_bytes)
    raise UnknownExtensionError(name)


def split(definition: Any) -> tuple[str, dict[str, Any]]:
    """Return the name and the configuration of an extension definition of version 3."""
    if isinstance(definition, str):
        return definition, {}
    if not isinstance(definition, dict) or not isinstance(definition.get("name"), str):
        raise StoredDataError(f"{definition!r} is not an extension definition")
    if unknown := definition.keys() - {"name", "configuration", "must_understand"}:
        raise StoredDataError(f"an extension definition with the members {sorted(unknown)}")
    configuration = definition.get("configuration", {})
    if not isinstance(configuration, dict):
        raise StoredDataError(f"the configuration {configuration!r} is not an object")
    return definition["name"], configuration


# --- data types of version 2 ---

_UNITS = r"\[(?:[1-9][0-9]*)?(?:Y|M|W|D|h|m|s|ms|us|μs|ns|ps|fs|as)\]"
_TYPE = re.compile(rf"([<>|])([biufcSUVmM])([0-9]+)({_UNITS}|\[generic\])?").fullmatch


def type_of_version_2(dtype: Any) -> tuple[ElementType, bool]:
    """Return a data type of version 2, and whether its numbers are big-endian.

    Fields of a record are converted to little-endian order together; all must have one order.
    """
    if isinstance(dtype, list):
        return _record(dtype)
    match = _TYPE(dtype) if isinstance(dtype, str) else None
    if match is None:
        if dtype == "|O":
            raise UnknownExtensionError("|O")
        raise StoredDataError(f"the dtype {dtype!r} is not a type string of version 2")
    order, kind, size = match[1], match[2], int(match[3])
    if (kind in "mM") != (match[4] is not None):
        raise StoredDataError(f"the dtype {dtype!r}: dates have a unit, other types have none")
    big = order == ">"
    if kind in "biufc":
        if (size > 1) == (order == "|"):
            raise StoredDataError(f"the dtype {dtype!r} has no valid byte order")
        if (kind, size) not in _NUMBERS:
            raise UnknownExtensionError(dtype)
        return number_type(kind, size, hexadecimal=False), big
    if kind in "mM":
        return ElementType(8, ((0, 8),), _time_bytes), big
    if kind == "U":
        numbers = tuple((4 * n, 4) for n in range(size))
        return ElementType(4 * size, numbers, _text_bytes(size)), big
    return ElementType(size, (), _string_bytes(size, padded=kind == "S")), False


_NUMBERS = {
    *(("b", 1), *((kind, size) for kind in "iu" for size in (1, 2, 4, 8))),
    *(("f", 2), ("f", 4), ("f", 8), ("c", 8), ("c", 16)),
}


def _record(fields: list[Any]) -> tuple[ElementType, bool]:
    offset, numbers, orders = 0, [], set()
    for field in fields:
        if not isinstance(field, list) or len(field) not in (2, 3) or not isinstance(field[0], str):
            raise StoredDataError(f"the field {field!r} is not a list of name and type")
        inner, big = type_of_version_2(field[1])
        count = int(np.prod(field[2])) if len(field) == 3 else 1
        if inner.has_byte_order:
            orders.add(big)
        for _ in range(count):
            numbers += [(offset + at, size) for at, size in inner.numbers]
            offset += inner.size
    if len(orders) > 1:
        raise UnknownExtensionError("a record with fields of both byte orders")
    big = orders == {True}
    element = ElementType(offset, tuple(numbers), _string_bytes(offset, padded=False))
    if not big:
        return element, False

    def fill(value: Any) -> bytes:  # records are stored as they are in a chunk
        return element.swapped(np.frombuffer(element.fill(value), np.uint8)).tobytes()

    return ElementType(offset, tuple(numbers), fill), True


def _string_bytes(size: int, *, padded: bool) -> Callable[[Any], bytes]:
    def convert(value: Any) -> bytes:
        data = base64_bytes(value)
        if len(data) > size or (len(data) < size and not padded):
            raise StoredDataError(f"the fill value has {len(data)} bytes, an element has {size}")
        return data.ljust(size, b"\0")

    return convert


def _text_bytes(size: int) -> Callable[[Any], bytes]:
    def convert(value: Any) -> bytes:
        if not isinstance(value, str) or len(value) > size:
            raise StoredDataError(f"the fill value {value!r} is not a string of the data type")
        return value.encode("utf-32-le").ljust(4 * size, b"\0")

    return convert
