"""Elements as text, CSV or JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import escape_controls

from zarr_cli.output import escape_json

if TYPE_CHECKING:
    from collections.abc import Callable

    NDArray = np.ndarray[Any, Any]

_NOT_FINITE = {"nan": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'}


def as_text(array: NDArray) -> list[str]:
    """Return elements in C order as text; numbers round-trip, times are ISO 8601."""
    flat = array.reshape(-1)
    kind = array.dtype.kind
    if kind in "iu":
        return [*map(str, flat.tolist())]
    if array.dtype == np.float64:
        return [*map(repr, flat.tolist())]
    if kind in "fcbmM":
        return _strings(flat)
    if kind == "S":
        return [value.decode("ascii", "backslashreplace") for value in flat.tolist()]
    if array.dtype.names is not None:
        columns = [as_text(flat[name]) for name in array.dtype.names]
        return [f"({', '.join(row)})" for row in zip(*columns, strict=True)]
    if issubclass(array.dtype.type, np.void):
        return [bytes(value).hex() for value in flat]
    if kind == "V":  # floating-point types that are not part of NumPy
        return [*map(str, flat.tolist())]
    return [value.hex() if isinstance(value, bytes) else str(value) for value in flat.tolist()]


def as_lines(array: NDArray) -> list[str]:
    """Return elements in C order as text with control characters escaped."""
    texts = as_text(array)
    return texts if array.dtype.kind in "iufcbmM" else [*map(escape_controls, texts)]


def as_json(array: NDArray) -> list[str]:
    """Return elements in C order as JSON; NaN and infinities are strings, complex are pairs."""
    flat = array.reshape(-1)
    kind = array.dtype.kind
    if kind in "iu":
        return as_text(flat)
    if kind == "f":
        texts = as_text(flat)
        finite = bool(np.isfinite(flat).all())
        return texts if finite else [_NOT_FINITE.get(text, text) for text in texts]
    if kind == "b":
        return ["true" if value else "false" for value in flat.tolist()]
    if kind == "c":
        pairs = zip(as_json(flat.real), as_json(flat.imag), strict=True)
        return [f"[{real}, {imaginary}]" for real, imaginary in pairs]
    if array.dtype.names is not None:
        names = [json.dumps(name) for name in array.dtype.names]
        columns = [as_json(flat[name]) for name in array.dtype.names]
        return [
            f"{{{', '.join(f'{name}: {value}' for name, value in zip(names, row, strict=True))}}}"
            for row in zip(*columns, strict=True)
        ]
    if kind == "O":
        return [escape_json(_object_as_json(value)) for value in flat.tolist()]
    return [escape_json(json.dumps(text, ensure_ascii=False)) for text in as_text(flat)]


def _object_as_json(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"[{', '.join(as_json(value))}]"
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        return json.dumps(value.hex() if isinstance(value, bytes) else str(value))


def columns(array: NDArray) -> list[list[str]]:
    """Return elements in C order as text: one list per field, or one list without fields."""
    flat = array.reshape(-1)
    if array.dtype.names is None:
        return [as_text(flat)]
    return [as_text(flat[name]) for name in array.dtype.names]


def _strings(flat: NDArray) -> list[str]:
    strings: Callable[[], list[str]] = flat.astype(str).tolist
    return strings()
