"""Data types of version 2: NumPy's typestr, or a list of fields.

Specification: version 2, "Data type encoding"; version 1 does the same.  TensorStore's names
for ``bfloat16``, ``float8_*``, ``float4_e2m1fn``, ``int4`` and ``int2`` are read as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.extension import (
    ExtensionDefinition,
    MetadataValidationError,
    ValidationProblem,
    create_extension,
)
from zarr_core.messages import quoted

from zarr_formats.metadata_error import metadata_error

if TYPE_CHECKING:
    import numpy as np
    from zarr_core.extension import JSON, DataType

ByteOrder = Literal["little", "big", "mixed"]

_MAX_FIELDS = 100_000
LARGEST = 1 << 24
"""Largest size of an element in bytes; metadata is not trusted."""

OBJECTS = ("string", "bytes", "variable_length_bytes", "v2.object")
"""Names of the data types whose elements are Python objects."""

_SIMPLE = {
    "b1": "bool",
    **{f"i{size}": f"int{8 * size}" for size in (1, 2, 4, 8)},
    **{f"u{size}": f"uint{8 * size}" for size in (1, 2, 4, 8)},
    **{f"f{size}": f"float{8 * size}" for size in (2, 4, 8)},
    **{f"c{size}": f"complex{8 * size}" for size in (8, 16)},
}
_CODES = {name: code for code, name in _SIMPLE.items()}
_TIMES = {"M": "numpy.datetime64", "m": "numpy.timedelta64"}
_TIME_CODES = {name: code for code, name in _TIMES.items()}

# Names that TensorStore stores if NumPy has no typestr: kind, and size of an element.
# They are read but not written, because other libraries do not support them in version 2.
_TENSORSTORE_NAMES = {
    "bfloat16": ("f", 2),
    **{
        f"float8_{name}": ("f", 1)
        for name in ("e3m4", "e4m3fn", "e4m3fnuz", "e4m3b11fnuz", "e5m2", "e5m2fnuz")
    },
    "float4_e2m1fn": ("f", 1),
    "int4": ("i", 1),
    "int2": ("i", 1),
}

_TYPESTR = re.compile(
    r"([<>|])(?:([biufc])([0-9]{1,10})|([SUV])([0-9]{1,10})|([mM])8\[([^\]]*)\]|(O)8?)", re.ASCII
).fullmatch
_UNIT = re.compile(
    r"([1-9][0-9]{0,9})?(Y|M|W|D|h|m|s|ms|us|\u03bcs|ns|ps|fs|as)", re.ASCII
).fullmatch
_ORDERS: dict[str, ByteOrder | None] = {"<": "little", ">": "big", "|": None}
_MARKS: dict[str | None, str] = {"little": "<", "big": ">", None: "|"}

_FORM = (
    'must be a byte order ("<", ">", or "|" where it does not matter), a kind of type '
    "(b, i, u, f, c, m, M, S, U, V or O) and its size in bytes, such as "
    '"<f8", "|S12" or "<M8[ns]"'
)


@dataclass(frozen=True, slots=True)
class Dtype:
    """A parsed ``dtype``: the member of the document, and the data type of version 3.

    ``byte_order`` is None if it does not matter; ``item_size`` is None for Python objects; ``kind``
    is one of ``biufcmMSUVO``, ``V`` also for fields.
    """

    value: JSON
    data_type: ExtensionDefinition
    byte_order: ByteOrder | None
    item_size: int | None
    kind: str

    @property
    def has_fields(self) -> bool:
        """Whether it is structured."""
        return isinstance(self.value, list)

    def of(self, data_type: ExtensionDefinition) -> Dtype:
        """Return the same ``dtype`` with another data type."""
        return replace(self, data_type=data_type)

    def numpy_dtype(self) -> np.dtype[Any]:
        """Return the NumPy dtype of the stored elements, with byte order."""
        import numpy as np  # metadata does not need NumPy

        dtype: np.dtype[Any] = np.dtype(_for_numpy(self.value))
        return dtype


def create_data_type(definition: ExtensionDefinition) -> DataType:
    """Create the data type of a definition."""
    made: DataType | None = create_extension("data_type", definition)
    assert made is not None, "data types are never ignored"
    return made


def read_dtype(value: JSON, pointer: str = "/dtype", object_codec: str | None = None) -> Dtype:
    """Read a typestr, or a list of fields ``[name, dtype]`` or ``[name, dtype, shape]``.

    ``object_codec``, the id of the first codec that returns bytes, may define the type of objects.
    """
    if isinstance(value, str):
        simple = _read_typestr(value)
        if isinstance(simple, str):
            raise metadata_error(pointer, simple)
        if simple.kind == "O" and object_codec in _CODEC_OBJECTS:
            return Dtype(value, _CODEC_OBJECTS[object_codec], None, None, "O")
        return simple
    problems: list[ValidationProblem] = []
    read = _read_fields(value, pointer, problems)
    if read is None or problems:
        raise MetadataValidationError("", problems)
    return read


def write_dtype(data_type: ExtensionDefinition, byte_order: ByteOrder | None) -> JSON:
    """Write a data type as a ``dtype``; ValueError if it has no typestr."""
    name, configuration = data_type.name, data_type.configuration
    mark = _MARKS[byte_order or "little"]
    if name in _CODES:
        code = _CODES[name]
        return f"{'|' if code.endswith('1') else mark}{code}"
    if name in _TIME_CODES:
        unit, factor = configuration.get("unit"), configuration.get("scale_factor", 1)
        if not _UNIT(str(unit)):
            raise ValueError(f"{name} requires a unit of time in version 2, not {unit!r}")
        return f"{mark}{_TIME_CODES[name]}8[{'' if factor == 1 else factor}{unit}]"
    if name == "fixed_length_utf32":
        return f"{mark}U{_length(data_type) // 4}"
    if name == "null_terminated_bytes":
        return f"|S{_length(data_type)}"
    if name == "raw_bytes":
        return f"|V{_length(data_type)}"
    if (match := _RAW(name)) and int(match[1]) % 8 == 0:
        return f"|V{int(match[1]) // 8}"
    if name in ("struct", "structured"):
        return _write_fields(configuration, byte_order)
    if name in OBJECTS:
        return "|O"
    raise ValueError(f"version 2 does not support the data type {name!r}")


_RAW = re.compile(r"r([1-9][0-9]{0,10})", re.ASCII).fullmatch

_CODEC_OBJECTS = {
    "vlen-utf8": ExtensionDefinition("string", spelling="string"),
    "vlen-bytes": ExtensionDefinition("bytes", spelling="bytes"),
    "categorize": ExtensionDefinition("string", spelling="string"),
}


@lru_cache(512)
def _read_typestr(text: str) -> Dtype | str:
    """Parse a typestr; return a message if it is invalid."""
    if text in _TENSORSTORE_NAMES:
        kind, bytes_ = _TENSORSTORE_NAMES[text]
        definition = ExtensionDefinition(text, spelling=text)
        return Dtype(text, definition, "little" if bytes_ > 1 else None, bytes_, kind)
    match = _TYPESTR(text)
    if match is None:
        return f"{_FORM}, not {text[:60]!r}{_hint(text)}"
    mark, code, size, flexible, length, time, unit, _ = match.groups()
    order = _ORDERS[mark]
    if code:
        name = _SIMPLE.get(code + size)
        if name is None:
            return f"the data type {text!r} is not supported"
        if name in ("bool", "int8", "uint8"):
            order = None
        elif order is None:
            return f'the byte order of {text!r} must be "<" or ">"'
        return Dtype(text, ExtensionDefinition(name, spelling=name), order, int(size), code)
    if time:
        parts = _UNIT(unit)
        if parts is None or not 1 <= int(parts[1] or 1) < 2**31:
            return f"{text!r} requires a unit of time, such as [ns] or [10us]"
        if order is None:
            return f'the byte order of {text!r} must be "<" or ">"'
        configuration: dict[str, JSON] = {"unit": parts[2], "scale_factor": int(parts[1] or 1)}
        return Dtype(text, ExtensionDefinition(_TIMES[time], configuration), order, 8, time)
    if flexible:
        return _read_flexible(text, flexible, int(length), order)
    return Dtype(text, ExtensionDefinition("v2.object"), None, None, "O")


def _read_flexible(text: str, code: str, length: int, order: ByteOrder | None) -> Dtype | str:
    size = 4 * length if code == "U" else length
    if not 1 <= size <= LARGEST:
        return f"an element must have 1 to {LARGEST} bytes; {text!r} has {size}"
    if code == "V":
        name = f"r{8 * size}"
        return Dtype(text, ExtensionDefinition(name, spelling=name), None, size, "V")
    if code == "S":
        definition = ExtensionDefinition("null_terminated_bytes", {"length_bytes": size})
        return Dtype(text, definition, None, size, "S")
    if order is None:
        return f'the byte order of {text!r} must be "<" or ">"'
    return Dtype(
        text, ExtensionDefinition("fixed_length_utf32", {"length_bytes": size}), order, size, "U"
    )


def _hint(text: str) -> str:
    """Return a suggestion if only the byte order is missing."""
    for mark in "<|":
        typestr = _read_typestr(mark + text) if text[:1] not in ("<", ">", "|") else ""
        if isinstance(typestr, Dtype):
            return f"; the byte order must be given: {mark + text!r}"
    return ""


def _read_fields(value: JSON, pointer: str, problems: list[ValidationProblem]) -> Dtype | None:
    """Parse a structured data type; add problems to the list and return None if it is invalid."""
    # Only a hostile or damaged document has more fields.
    if not isinstance(value, list) or not 0 < len(value) <= _MAX_FIELDS:
        shown = f"{len(value)} fields" if isinstance(value, list) else repr(value)[:60]
        message = f'{_FORM}; or a list of 1 to {_MAX_FIELDS} fields, such as [["x", "<f4"]]'
        problems.append(ValidationProblem(pointer, f"{message}; not {shown}"))
        return None
    fields: list[JSON] = []
    names: set[str] = set()
    orders: set[ByteOrder] = set()
    total = 0
    for number, item in enumerate(value):
        field = _read_field(item, f"{pointer}/{number}", problems)
        if field is None or field.item_size is None:
            continue
        # Padding has no name; NumPy uses the index of the field.
        name = _field_name(item) or f"f{number}"
        if name in names:
            problems.append(
                ValidationProblem(
                    f"{pointer}/{number}/0", f"there is another field named {quoted(name)}"
                )
            )
        names.add(name)
        fields.append({"name": name, "data_type": field.data_type.to_json()})
        total += field.item_size
        if field.byte_order is not None:
            orders.add(field.byte_order)
    if total > LARGEST:
        problems.append(
            ValidationProblem(pointer, f"an element must have 1 to {LARGEST} bytes, not {total}")
        )
    order: ByteOrder | None = "mixed" if len(orders) > 1 else next(iter(orders), None)
    return Dtype(value, ExtensionDefinition("struct", {"fields": fields}), order, total, "V")


def _read_field(item: JSON, pointer: str, problems: list[ValidationProblem]) -> Dtype | None:
    if not isinstance(item, list) or not 2 <= len(item) <= 3 or not isinstance(item[0], str):
        problems.append(
            ValidationProblem(
                pointer,
                f"a field must be [name, dtype] or [name, dtype, shape], not {quoted(item)}",
            )
        )
        return None
    try:
        dtype = read_dtype(item[1], f"{pointer}/1")
    except MetadataValidationError as error:
        problems += error.problems
        return None
    if dtype.item_size is None:
        problems.append(ValidationProblem(f"{pointer}/1", "a field cannot contain Python objects"))
        return None
    shape: Any = item[2] if len(item) == 3 else []
    if not isinstance(shape, list) or not all(
        type(length) is int and 0 < length <= LARGEST for length in shape
    ):
        problems.append(
            ValidationProblem(
                f"{pointer}/2", f"a shape must be a list of integers, not {quoted(shape)}"
            )
        )
        return None
    if not shape:
        return dtype
    size = dtype.item_size * prod(shape)
    definition = ExtensionDefinition(
        "v2.subarray", {"data_type": dtype.data_type.to_json(), "shape": shape}
    )
    return Dtype(item, definition, dtype.byte_order, size, "V")


def _field_name(item: JSON) -> str:
    return item[0] if isinstance(item, list) and isinstance(item[0], str) else ""


def _write_fields(configuration: Any, byte_order: ByteOrder | None) -> JSON:
    written: list[JSON] = []
    for field in configuration.get("fields", ()):
        # The older "structured" has pairs.
        name, data_type = (
            (field["name"], field["data_type"]) if isinstance(field, dict) else (field[0], field[1])
        )
        definition = ExtensionDefinition.from_json(data_type)
        shape: JSON = None
        if definition.name == "v2.subarray":
            shape = definition.configuration["shape"]
            definition = ExtensionDefinition.from_json(definition.configuration["data_type"])
        if definition.name in OBJECTS:
            raise ValueError(f"the field {name!r} of type {definition.name!r} has no fixed size")
        entry: list[JSON] = [name, write_dtype(definition, byte_order)]
        written.append(entry if shape is None else [*entry, shape])
    return written


def _length(data_type: ExtensionDefinition) -> int:
    length = data_type.configuration.get("length_bytes")
    if not isinstance(length, int) or not 1 <= length <= LARGEST:
        raise ValueError(f"{data_type.name} requires length_bytes, not {length!r}")
    return length


def _for_numpy(value: Any) -> Any:
    """Convert a ``dtype`` for :class:`numpy.dtype`: fields as tuples."""
    if isinstance(value, str) and value in _TENSORSTORE_NAMES:
        return create_data_type(ExtensionDefinition(value)).numpy_dtype
    if not isinstance(value, list):
        return value
    return [(name, _for_numpy(inner), *map(tuple, shape)) for name, inner, *shape in value]
