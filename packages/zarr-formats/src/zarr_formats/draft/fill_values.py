"""Conversion of fill values of the core data types of the text of December 2022.

Specification: "Array metadata", ``fill_value``.  The bits of a value can be a string of
binary or hexadecimal digits, with "all leading or trailing zeroes necessary to match the
given type size"; infinity is ``"+Infinity"``.  The text does not define the form of
complex numbers: they are lists of two parts as in version 3, or the bits of both in one
string.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from zarr_formats.metadata_error import metadata_error

if TYPE_CHECKING:
    from zarr_core.extension import JSON

_RAW = re.compile(r"r([0-9]{1,11})", re.ASCII).fullmatch
_BITS = re.compile(r"0b([01]+)|0x([0-9A-Fa-f]+)", re.ASCII).fullmatch
_LONGEST = 1 << 12  # bytes of a value in digits
_NAMED = {"NaN": "NaN", "+Infinity": "Infinity", "Infinity": "Infinity", "-Infinity": "-Infinity"}
_WRITTEN = {"Infinity": "+Infinity"}
_SIZES = {
    "bool": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8,
    "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8,
    "float16": 2, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip


def read_fill_value(value: JSON, name: str, pointer: str = "/fill_value") -> JSON:
    """Convert a fill value of a core data type to the form of version 3, which it validates later."""
    if value is None:
        raise metadata_error(pointer, "must be a value of the data type: null is not permitted")
    if not isinstance(value, str):
        if isinstance(value, list) and name.startswith("complex"):
            half = {"complex64": "float32", "complex128": "float64"}[name]
            return [read_fill_value(part, half, pointer) for part in value]
        return value
    size = _size(name)
    if size is not None and (match := _BITS(value)):
        return _of_bits(_bytes(match, size, value, pointer), name, value, pointer)
    if name.startswith("float"):
        return _NAMED.get(value, value)
    return value


def write_fill_value(value: JSON, name: str) -> JSON:
    """Convert a fill value to the form of the text."""
    if name.startswith("float"):
        return _WRITTEN.get(value, value) if isinstance(value, str) else value
    if name.startswith("complex") and isinstance(value, list):
        return [write_fill_value(part, "float") for part in value]
    if name.startswith("r") and isinstance(value, list):
        numbers: Any = value
        return f"0x{bytes(numbers).hex()}"
    return value


def _size(name: str) -> int | None:
    match = _RAW(name)
    return int(match[1]) // 8 if match else _SIZES.get(name)


def _bytes(match: re.Match[str], size: int, value: str, pointer: str) -> bytes:
    """Convert digits to big-endian bytes."""
    digits, base, each = (match[1], 2, 8) if match[1] else (match[2], 16, 2)
    if size > _LONGEST or len(digits) != size * each:
        raise metadata_error(
            pointer,
            f"must have {size * each} digits after {value[:2]!r} for an element of {size} bytes, "
            f"not {len(digits)}",
        )
    return int(digits, base).to_bytes(size, "big")


def _of_bits(data: bytes, name: str, value: str, pointer: str) -> JSON:
    if name == "bool":
        if data[0] > 1:
            raise metadata_error(
                pointer, f"must be false or true, or the bits of one, not {value!r}"
            )
        return data[0] == 1
    if name.startswith(("int", "uint")):
        return int.from_bytes(data, "big", signed=name[0] == "i")
    if name.startswith("float"):
        return f"0x{data.hex()}"
    if name.startswith("complex"):
        half = len(data) // 2
        return [f"0x{data[:half].hex()}", f"0x{data[half:].hex()}"]
    return list(data)
