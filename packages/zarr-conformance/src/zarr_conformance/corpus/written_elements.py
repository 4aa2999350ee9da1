"""Elements for cases of writing, as bytes: special values, and chunks that are almost empty.

Arrays have eight elements in chunks of two: two special values; an empty chunk, all elements
of which are the fill value; a chunk of values that a careless comparison takes for the fill
value; and a chunk of zeros.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

INTEGERS = {
    f"{sign}int{8 * size}": (size, sign == "") for sign in ("", "u") for size in (1, 2, 4, 8)
}
FLOATS = {"float16": 2, "float32": 4, "float64": 8}
COMPLEX = {"complex64": 4, "complex128": 8}
"""Sizes of core data types in bytes; of complex numbers, of one part."""

_MANTISSA = {2: 10, 4: 23, 8: 52}
_EXPONENT = {2: 5, 4: 8, 8: 11}
_FORMAT = {2: "<e", 4: "<f", 8: "<d"}


@dataclass(frozen=True, slots=True)
class Fill:
    """A fill value with elements.

    Parameters
    ----------
    name : str
        For the id of a case.
    value : JSON
        The fill value in metadata of version 3.
    data : bytes
        Eight elements, little-endian.
    kind : str
        The form of the value: number, infinity, nan or hex; empty for other data types.
    """

    name: str
    value: Any
    data: bytes
    kind: str = ""


def integer_fills(name: str) -> list[Fill]:
    """Return fill values of an integer data type: its limits, and what a float64 rounds."""
    size, signed = INTEGERS[name]
    low, high = (
        (-(1 << 8 * size - 1), (1 << 8 * size - 1) - 1) if signed else (0, (1 << 8 * size) - 1)
    )
    numbers = {"zero": 0, "one": 1, "largest": high, "below-largest": high - 1}
    if signed:
        numbers |= {"smallest": low, "minus-one": -1, "above-smallest": low + 1}
    if size == 8:
        numbers |= {"beyond-float64": 2**53 + 1, "odd": 2**62 + 1}

    def data(*items: int) -> bytes:
        return b"".join(item.to_bytes(size, "little", signed=signed) for item in items)

    return [
        Fill(kind, bits, data(high, low, bits, bits, bits, bits ^ 1, 0, 0))
        for kind, bits in numbers.items()
    ]


def float_bits(size: int) -> dict[str, tuple[Any, int, str]]:
    """Return forms of fill values by name: the JSON, its bits, and the kind of the form."""
    mantissa, sign = _MANTISSA[size], 1 << (8 * size - 1)
    infinity = ((1 << _EXPONENT[size]) - 1) << mantissa
    quiet = infinity | 1 << (mantissa - 1)

    def number(value: float) -> tuple[Any, int, str]:
        return value, int.from_bytes(struct.pack(_FORMAT[size], value), "little"), "number"

    def digits(bits: int) -> tuple[Any, int, str]:
        return f"0x{bits:0{2 * size}x}", bits, "hex"

    smallest = struct.unpack(_FORMAT[size], (1).to_bytes(size, "little"))[0]
    largest = struct.unpack(_FORMAT[size], (infinity - 1).to_bytes(size, "little"))[0]
    return {
        "zero": number(0.0),
        "minus-zero": number(-0.0),
        "one": number(1.0),
        "integer": (7, number(7.0)[1], "number"),
        "tenth": number(0.1),
        "third": number(-1 / 3),
        "smallest": number(smallest),
        "largest": number(largest),
        "infinity": ("Infinity", infinity, "infinity"),
        "minus-infinity": ("-Infinity", infinity | sign, "infinity"),
        "nan": ("NaN", quiet, "nan"),
        "nan-payload": digits(quiet | 1),
        "nan-negative": digits(quiet | sign),
        "nan-signaling": digits(infinity | 1),
        "nan-all-bits": digits(2 * sign - 1),
        "hex-number": digits(number(1.5)[1]),
        "hex-minus-zero": digits(sign),
    }


def _near(bits: int, size: int) -> int:
    """Return the bits of a value that is equal to another one, or also a NaN, but not the same."""
    mantissa, sign = _MANTISSA[size], 1 << (8 * size - 1)
    infinity = ((1 << _EXPONENT[size]) - 1) << mantissa
    magnitude = bits & (sign - 1)
    if magnitude > infinity:
        return infinity | 1 << (mantissa - 1) | ((bits ^ 2) & 2) | 4
    return bits ^ sign


def float_fills(name: str) -> list[Fill]:
    """Return fill values of a floating-point data type."""
    size = FLOATS[name]
    forms = float_bits(size)
    fills = []
    for number, (kind, (value, bits, form)) in enumerate(forms.items()):
        special = [*forms.values()][(5 * number + 3) % len(forms)][1]
        items = (bits, special, bits, bits, _near(bits, size), _near(bits, size), 0, 0)
        fills.append(Fill(kind, value, _joined(items, size), form))
    return fills


def complex_fills(name: str) -> list[Fill]:
    """Return fill values of a complex data type: each form in each part."""
    size = COMPLEX[name]
    forms = float_bits(size)
    zero, one = forms["zero"], forms["one"]
    pairs = {f"real-{kind}": (bits, zero) for kind, bits in forms.items()}
    pairs |= {f"imaginary-{kind}": (one, bits) for kind, bits in forms.items()}
    pairs |= {"minus-zeros": (forms["minus-zero"], forms["minus-zero"])}
    fills = []
    for kind, (real, imaginary) in pairs.items():
        a, b = real[1], imaginary[1]
        items = (a, b, b, a, a, b, a, b, a, _near(b, size), _near(a, size), b, 0, 0, 0, 0)
        fills.append(Fill(kind, [real[0], imaginary[0]], _joined(items, size), "complex"))
    return fills


def raw_fills(size: int) -> list[Fill]:
    """Return fill values of raw bits."""
    patterns = {
        "zeros": bytes(size),
        "ones": b"\xff" * size,
        "counting": bytes(range(1, size + 1)),
        "last": bytes(size - 1) + b"\x80",
    }
    return [
        Fill(
            kind,
            list(data),
            bytes(range(2 * size)) + 2 * data + data + bytes([data[0] ^ 1]) + data[1:] + bytes(2 * size),
        )
        for kind, data in patterns.items()
    ]  # fmt: skip


def bool_fills() -> list[Fill]:
    """Return both fill values of bool."""
    return [
        Fill("false", False, bytes([1, 0, 0, 0, 0, 1, 1, 1])),
        Fill("true", True, bytes([1, 0, 1, 1, 0, 1, 0, 0])),
    ]


def _joined(items: tuple[int, ...], size: int) -> bytes:
    return b"".join(item.to_bytes(size, "little") for item in items)


ATTRIBUTES: dict[str, Any] = {
    "large-integer": 2**53 + 1,
    "larger-integer": 12345678901234567890,
    "negative-integer": -(2**63),
    "huge-integer": 10**30 + 7,
    "tenth": 0.1,
    "many-digits": 1.2345678901234567,
    "small": 5e-324,
    "large": 1.7976931348623157e308,
    "minus-zero": -0.0,
    "true": True,
    "false": False,
    "one": 1,
    "null": None,
    "empty": "",
    "digits": "007",
    "text": "äöü ß 日本 \U0001f30d",
    "control": "tab\t newline\n null\0 escape\x1b",
    "quotes": "\"'\\/",
    "date": "2024-01-01T00:00:00Z",
    "nan-text": "NaN",
    "list": [3, 1, 2, [], [None, True, "x"]],
    "empty-list": [],
    "empty-object": {},
    "object": {"b": {"": [1.5, {"a": None}]}, "a": 1},
}
"""Attribute values that careless writers change, by name."""

LARGE_INTEGERS = frozenset(
    name for name, value in ATTRIBUTES.items() if isinstance(value, int) and abs(value) > 2**53
)
"""Names of attribute values beyond the range in which RFC 8259 calls numbers interoperable."""
