"""Conversion of fill values of version 2 from and to version 3.

Specification: version 2, "Fill value encoding"; version 1 is the same.  Floating-point
numbers are numbers, ``"NaN"``, ``"Infinity"`` or ``"-Infinity"``; bytes, records and byte
strings are base64; null is undefined.  Dates are integers and complex numbers are pairs,
as in zarr-python.  Early writers also stored the tokens ``NaN`` and ``Infinity``, integers
with a fraction of zero, and 0 for zero bytes or an empty string.
"""

from __future__ import annotations

import base64
import binascii
import math
import struct
from typing import TYPE_CHECKING, Any

from zarr_formats.metadata_error import metadata_error
from zarr_formats.typestr import create_data_type

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from zarr_core.extension import JSON

    from zarr_formats.typestr import Dtype

_NAMED = ("NaN", "Infinity", "-Infinity")
_PACKED = {2: ">e", 4: ">f", 8: ">d"}
# The bits of the NaN that these versions support, by number of digits.
_NAN = {4: 0x7E00, 8: 0x7FC0_0000, 16: 0x7FF8_0000_0000_0000}
_NAT = -(2**63)
_SHORT = 64  # bytes; longer lists of numbers would need much memory


def fill_from_v2(value: JSON, dtype: Dtype, pointer: str = "/fill_value") -> tuple[JSON, bool]:
    """Return a fill value in the form of version 3, and whether it is undefined (null).

    The data type validates the value later; for null it is the default of the data type.
    """
    if value is None:
        return _default(dtype), True
    try:
        return _READERS[dtype.kind](value, dtype), False
    except ValueError as error:
        raise metadata_error(pointer, str(error)) from error


def fill_to_v2(
    value: JSON, dtype: Dtype, undefined: bool = False, pointer: str = "/fill_value"
) -> JSON:
    """Convert a fill value to the form of version 2."""
    if undefined:
        return None
    try:
        return _WRITERS.get(dtype.kind, _same)(value, dtype)
    except ValueError as error:
        raise metadata_error(pointer, str(error)) from error


# --- reading ---


def _read_bool(value: JSON, _: Dtype) -> JSON:
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    raise ValueError(f"must be true or false, not {value!r}")


def _read_integer(value: JSON, _: Dtype) -> JSON:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError(f"must be an integer, not {value!r}")


def _read_float(value: JSON, dtype: Dtype) -> JSON:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if value in _NAMED:
        return value
    if isinstance(value, str) and dtype.data_type.name == "float4_e2m1fn":
        return f"0x{_decoded(value, dtype)[0]:02x}"  # TensorStore stores base64 here
    raise ValueError(f'must be a number, "NaN", "Infinity" or "-Infinity", not {value!r}')


def _read_complex(value: JSON, dtype: Dtype) -> JSON:
    if isinstance(value, list) and len(value) == 2:
        return [_read_float(part, dtype) for part in value]
    if isinstance(value, list):
        raise ValueError(f"must be a pair of real and imaginary part, not {value!r}")
    return [_read_float(value, dtype), 0.0]


def _read_time(value: JSON, dtype: Dtype) -> JSON:
    return value if value == "NaT" else _read_integer(value, dtype)


def _read_text(value: JSON, _: Dtype) -> JSON:
    if isinstance(value, str):
        return value
    if _is_zero(value):
        return ""
    raise ValueError(f"must be a string, not {value!r}")


def _read_bytes(value: JSON, dtype: Dtype) -> JSON:
    data = _decoded(value, dtype)
    if len(data) > _size(dtype):
        raise ValueError(f"has {len(data)} bytes, but an element has at most {_size(dtype)}")
    return _of_bytes(data.ljust(_size(dtype), b"\0"), dtype)


def _read_void(value: JSON, dtype: Dtype) -> JSON:
    data = _decoded(value, dtype)
    if len(data) != _size(dtype):
        raise ValueError(f"has {len(data)} bytes, but an element has {_size(dtype)}")
    return _of_bytes(data, dtype) if dtype.has_fields else _raw(data)


def _read_object(value: JSON, dtype: Dtype) -> JSON:
    match dtype.data_type.name:
        case "string":
            return _read_text(value, dtype)
        case "bytes":
            return _encoded(_decoded(value, dtype))
    return value


def _decoded(value: JSON, dtype: Dtype) -> bytes:
    if _is_zero(value):
        return bytes(dtype.item_size or 0)
    if isinstance(value, str):
        try:
            return base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            pass
    raise ValueError(f"must be bytes in base64, not {str(value)[:60]!r}")


def _is_zero(value: JSON) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == 0


def _raw(data: bytes) -> JSON:
    """Return the fill value of a data type ``r*``."""
    return list(data) if len(data) <= _SHORT else _encoded(data)


def _of_bytes(data: bytes, dtype: Dtype) -> JSON:
    """Return the form of version 3 of the element with these bytes."""
    import numpy as np  # metadata does not need NumPy

    data_type = create_data_type(dtype.data_type)
    value = np.frombuffer(data, dtype.numpy_dtype()).reshape(())
    form: JSON = data_type.fill_value_to_json(value.astype(data_type.numpy_dtype))
    return form


def _default(dtype: Dtype) -> JSON:
    """Return the value of elements if the fill value is undefined."""
    if dtype.kind in _DEFAULTS:
        return _DEFAULTS[dtype.kind]
    if dtype.kind == "O":
        return "" if dtype.data_type.name in ("string", "bytes") else None
    if dtype.kind in "SV":
        return _READERS[dtype.kind](0, dtype)
    data_type = create_data_type(dtype.data_type)
    form: JSON = data_type.fill_value_to_json(data_type.default_fill_value())
    return form


_DEFAULTS: dict[str, JSON] = {"b": False, "i": 0, "u": 0, "f": 0.0, "c": [0.0, 0.0], "U": ""}

_READERS: dict[str, Callable[[JSON, Dtype], JSON]] = {
    "b": _read_bool,
    "i": _read_integer,
    "u": _read_integer,
    "f": _read_float,
    "c": _read_complex,
    "m": _read_time,
    "M": _read_time,
    "U": _read_text,
    "S": _read_bytes,
    "V": _read_void,
    "O": _read_object,
}


# --- writing ---


def _same(value: JSON, _: Dtype) -> JSON:
    return value


def _write_float(value: JSON, _: Dtype) -> JSON:
    if not isinstance(value, str) or value in _NAMED:
        return value
    digits = value.removeprefix("0x")  # version 3 supports the bits of every NaN
    try:
        bits = int(digits, 16)
        number = float(struct.unpack(_PACKED[len(digits) // 2], bytes.fromhex(digits))[0])
    except (KeyError, ValueError, struct.error):
        raise ValueError(f"{value!r} is not a floating-point number") from None
    if math.isnan(number) and bits != _NAN[len(digits)]:
        raise ValueError(f"version 2 supports only one NaN, not {value}; use NaN")
    return number if math.isfinite(number) else _read_float(number, _)


def _write_complex(value: JSON, dtype: Dtype) -> JSON:
    if not isinstance(value, list):
        raise ValueError(f"must be a pair of real and imaginary part, not {value!r}")
    return [_write_float(part, dtype) for part in value]


def _write_time(value: JSON, _: Dtype) -> JSON:
    return _NAT if value == "NaT" else value


def _write_bytes(value: JSON, dtype: Dtype) -> JSON:
    return _encoded(_to_element(value, dtype).tobytes().rstrip(b"\0"))


def _write_void(value: JSON, dtype: Dtype) -> JSON:
    return _encoded(_to_element(value, dtype).tobytes())


def _write_object(value: JSON, dtype: Dtype) -> JSON:
    if dtype.data_type.name in ("bytes", "variable_length_bytes") and isinstance(value, list):
        return _encoded(bytes(item for item in value if isinstance(item, int)))
    return value


def _to_element(value: JSON, dtype: Dtype) -> np.ndarray[Any, Any]:
    """Return the element in the stored data type."""
    data_type = create_data_type(dtype.data_type)
    element: np.ndarray[Any, Any] = data_type.fill_value_from_json(value)
    return element.astype(dtype.numpy_dtype())


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _size(dtype: Dtype) -> int:
    assert dtype.item_size is not None, "these kinds have a fixed size"
    return dtype.item_size


_WRITERS: dict[str, Callable[[JSON, Dtype], JSON]] = {
    "f": _write_float,
    "c": _write_complex,
    "m": _write_time,
    "M": _write_time,
    "S": _write_bytes,
    "V": _write_void,
    "O": _write_object,
}
