"""Conversion of the data types of the text of December 2022.

Specification: "Core data types", "Array metadata" (``data_type``), and the documents
of the extensions datetime, string, struct, complex.  Examples of the text have typestrs
of an older state, such as ``<f8``; they are read, but not written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarr_core.extension import ExtensionDefinition, MetadataValidationError

from zarr_formats.draft.extensions import is_uri
from zarr_formats.metadata_error import metadata_error
from zarr_formats.typestr import read_dtype, write_dtype

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import JSON

    from zarr_formats.typestr import ByteOrder, Dtype

CORE = frozenset(
    {
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float16", "float32", "float64", "complex64", "complex128",
    }
)  # fmt: skip
"""Names of the core data types, except ``r8``, ``r16`` ..."""

_RAW = re.compile(r"r[0-9]+", re.ASCII).fullmatch
_BASE = "https://purl.org/zarr/spec/extensions/data-types/"
_URI = re.compile(re.escape(_BASE) + r"(complex|datetime|string|struct)/1\.[0-9]+").fullmatch
_EXTENSION_OF = {
    "numpy.datetime64": "datetime",
    "numpy.timedelta64": "datetime",
    "null_terminated_bytes": "string",
    "fixed_length_utf32": "string",
    "struct": "struct",
    "structured": "struct",
}
_KINDS = {"complex": "c", "datetime": "mM", "string": "SU", "struct": "V"}
_STRING = re.compile(r"S[0-9]+", re.ASCII).fullmatch


@dataclass(frozen=True, slots=True)
class DraftType:
    """A parsed ``data_type``; ``dtype`` is None if it is unknown.

    ``is_core`` is whether the core specification defines it; ``fallbacks`` are data types that can
    be used instead, the best first.
    """

    data_type: ExtensionDefinition
    dtype: Dtype | None
    is_core: bool
    fallbacks: tuple[DraftType, ...] = ()

    @property
    def nearest(self) -> Dtype | None:
        """The first known data type of this one and its fallbacks."""
        known = (candidate.dtype for candidate in (self, *self.fallbacks))
        return next((dtype for dtype in known if dtype is not None), None)


def read_data_type(value: Any, pointer: str = "/data_type") -> DraftType:
    """Read a data type of a validated document."""
    if isinstance(value, str):
        named = _read_name(value, pointer)
        # Data types of extensions are objects; only as a fallback an unknown name is ignored.
        if pointer == "/data_type" and named.dtype is None and core_name(named.data_type) is None:
            raise metadata_error(
                pointer,
                f"{value!r} is not a data type of the draft; that of an extension is an object "
                'with "extension" and "type"',
            )
        return named
    others = value.get("fallback", [])
    fallbacks = tuple(
        read_data_type(item, f"{pointer}/fallback/{number}")
        for number, item in enumerate(others if isinstance(others, list) else [others])
    )
    match = _URI(value["extension"])
    if match is None:
        # "If an implementation does not recognise the extension": a data type of this name
        # receives the type and all other members as its configuration.
        configuration = extension_configuration(value)
        return DraftType(
            ExtensionDefinition(value["extension"], configuration), None, False, fallbacks
        )
    dtype = read_dtype(_as_dtype(value["type"]), f"{pointer}/type")
    if dtype.kind not in _KINDS[match[1]] or dtype.has_fields != (match[1] == "struct"):
        raise metadata_error(
            f"{pointer}/type", f"is not a type of {value['extension']}: {value['type']!r}"
        )
    return DraftType(dtype.data_type, dtype, match[1] == "complex", fallbacks)


def write_data_type(
    data_type: ExtensionDefinition, dtype: JSON, fallbacks: Sequence[ExtensionDefinition] = ()
) -> JSON:
    """Write a data type; ValueError if the draft does not support it.

    ``dtype`` is its typestr or fields, with byte orders; None for extensions.  ``fallbacks`` are by
    default raw bytes of the same size.
    """
    name = core_name(data_type)
    if name is not None:
        return name
    extension = _EXTENSION_OF.get(data_type.name)
    if extension is None:
        if not is_uri(data_type.name):
            raise ValueError(
                f"the draft of December 2022 does not support the data type {data_type.name!r}"
            )
        rest = dict(data_type.configuration)
        written: dict[str, JSON] = {"extension": data_type.name, "type": rest.pop("type", None)}
        if rest:
            written["configuration"] = rest
    else:
        if data_type.configuration.get("scale_factor", 1) != 1:
            raise ValueError("scale_factor must be 1 in the draft of December 2022")
        written = {"extension": f"{_BASE}{extension}/1.0", "type": _as_type(dtype)}
        fallbacks = fallbacks or _fallbacks(dtype)
    if fallbacks:
        names = [write_data_type(item, _little(item)) for item in fallbacks]
        written["fallback"] = names[0] if len(names) == 1 else names
    return written


def core_name(data_type: ExtensionDefinition) -> str | None:
    """Return the name of a core data type; None for extensions."""
    if data_type.name in CORE or _RAW(data_type.name):
        return data_type.name
    length = data_type.configuration.get("length_bytes")
    if data_type.name == "raw_bytes" and isinstance(length, int):
        return f"r{8 * length}"
    return None


def says_byte_order(data_type: ExtensionDefinition) -> bool:
    """Whether the data type is written with its byte order."""
    return data_type.name in _EXTENSION_OF


def extension_configuration(value: dict[str, Any]) -> dict[str, JSON]:
    """Return the members of an extension object, except its URI, as a configuration."""
    rest = {name: item for name, item in value.items() if name not in ("extension", "fallback")}
    if isinstance(rest.get("configuration"), dict):
        rest = {name: item for name, item in rest.items() if name != "configuration"} | rest[
            "configuration"
        ]
    return rest


def _read_name(name: str, pointer: str) -> DraftType:
    definition = ExtensionDefinition(name, spelling=name)
    if name in CORE or (_RAW(name) and int(name[1:12] or 0) % 8 == 0):
        try:
            dtype = read_dtype(write_dtype(definition, "little"), pointer)
        except (ValueError, MetadataValidationError):  # an invalid size
            dtype = None
        return DraftType(definition, dtype, is_core=True)
    try:
        dtype = read_dtype(name, pointer)
    except MetadataValidationError:
        return DraftType(definition, None, is_core=True)  # unknown: a fallback is ignored
    if core_name(dtype.data_type) is None:
        raise metadata_error(
            pointer,
            f'{name!r} is a type of an extension; use an object with "extension" and "type"',
        )
    return DraftType(dtype.data_type, dtype, is_core=True)


def _as_dtype(value: JSON) -> JSON:
    """Return the type of an extension as a dtype of NumPy."""
    if isinstance(value, str):
        if value in CORE or _RAW(value):
            return write_dtype(ExtensionDefinition(value), "little")
        return f"|{value}" if _STRING(value) else value
    if isinstance(value, dict):
        return _as_dtype(value.get("type"))
    if not isinstance(value, list):
        return value
    return [
        [field[0], _as_dtype(field[1])] if isinstance(field, list) and len(field) == 2 else field
        for field in value
    ]


def _as_type(dtype: JSON) -> JSON:
    """Return the type of an extension as in the text; ValueError if a field has a shape."""
    if isinstance(dtype, str):
        if dtype.startswith("|V"):
            return f"r{8 * int(dtype[2:])}"
        return dtype.removeprefix("|") if dtype.startswith("|S") else dtype
    assert isinstance(dtype, list), "a list of fields"
    fields: list[JSON] = []
    for field in dtype:
        assert isinstance(field, list), "a name with its type"
        if len(field) > 2:
            raise ValueError(
                f"the field {field[0]!r} has a shape, which the draft does not support"
            )
        fields.append([field[0], _as_type(field[1])])
    return fields


def _fallbacks(dtype: JSON) -> tuple[ExtensionDefinition, ...]:
    """Text: "if there is no more specific fallback available, a raw number of bytes"."""
    converted = read_dtype(dtype)
    if converted.kind in "mM" and converted.byte_order == "little":
        return (ExtensionDefinition("int64"),)
    assert converted.item_size is not None, "only types of fixed size are written"
    return (ExtensionDefinition(f"r{8 * converted.item_size}"),)


def _little(data_type: ExtensionDefinition) -> JSON:
    order: ByteOrder = "little"
    return write_dtype(data_type, order) if data_type.name in _EXTENSION_OF else None
