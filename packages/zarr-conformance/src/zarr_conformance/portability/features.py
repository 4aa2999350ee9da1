"""The features of metadata documents on which it depends whether a library reads a node.

A feature is a string such as ``v3/codec/zstd``, ``v3/codec/bytes/endian=big``,
``v2/dtype/f4`` or ``name/space``; its first part is the format.  A feature depends on one member
of a document, so every feature has a JSON pointer.
"""

from __future__ import annotations

import re
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

UNKNOWN = "?"
"""Stands for the names of extensions that the table does not contain."""

IF_KNOWN = " (must_understand=false)"
"""Follows the names of extensions that libraries ignore if they do not know them."""

DOCUMENTS = {
    "v3": ("zarr.json",),
    "v2": (".zarray", ".zgroup", ".zattrs", ".zmetadata"),
    "v1": ("meta", "attrs"),
    "n5": ("attributes.json",),
}
"""The names of metadata documents, for the formats that mark each node."""

_MAX_SAFE = 1 << 53  # integers up to here are exact as float64, the numbers of JavaScript
_SPECIAL = ("NaN", "Infinity", "-Infinity")
_ARRAY_TO_BYTES = frozenset(
    {
        *("bytes", "sharding_indexed", "vlen-utf8", "vlen-bytes", "vlen-array", "packbits"),
        *("pcodec", "zfp", "n5_default", "numcodecs.pcodec", "numcodecs.zfpy", "conditional"),
    }
)
# Libraries differ if these members of a configuration are missing.
_OPTIONAL = {
    "bytes": ("endian",),
    "blosc": ("typesize",),
    "zstd": ("checksum",),
    "sharding_indexed": ("index_location",),
}
# Names of data types are values of these members, not choices.
_DATA_TYPES = ("dtype", "astype", "encode_dtype", "decode_dtype", "data_type")


class Feature(NamedTuple):
    """A feature of a node.

    Parameters
    ----------
    id : str
        The feature.
    document : str
        The name of the document that has it, such as ``"zarr.json"``; empty for node names.
    pointer : str
        The JSON pointer of the member in the document.
    """

    id: str
    document: str
    pointer: str


def node_features(
    path: str, documents: Mapping[str, Any], root: Mapping[str, Any] | None = None
) -> list[Feature]:
    """Return the features of a node.

    Parameters
    ----------
    path : str
        The path of the node in its hierarchy; empty for the root.
    documents : mapping of str to JSON
        The parsed metadata documents of the node by the names of :data:`DOCUMENTS`.
    root : mapping, optional
        Those of the root of the hierarchy; some libraries open it first.

    Returns
    -------
    list of Feature
        Without repeated features; the format is first.
    """
    features: dict[str, Feature] = {}
    for feature in _features(path, documents):
        features.setdefault(feature.id, feature)
    for feature in _features("", root) if root and path else ():
        if feature.id.endswith("/attributes/NaN"):
            id_ = f"{feature.id} in the root"
            features.setdefault(id_, Feature(id_, feature.document, feature.pointer))
    return list(features.values())


def _features(path: str, documents: Mapping[str, Any]) -> Iterator[Feature]:
    if isinstance(document := documents.get("zarr.json"), dict):
        yield from _document("zarr.json", _version_3(document))
    elif ".zarray" in documents or ".zgroup" in documents:
        yield from _version_2(documents)
    elif isinstance(document := documents.get("attributes.json"), dict):
        yield from _document("attributes.json", _n5(document))
    elif "meta" in documents:
        yield Feature("v1", "meta", "")
    else:
        yield Feature("draft", "", "")
    if not path and (".zarray" in documents or _is_array_3(documents)):
        yield Feature(f"v{2 if '.zarray' in documents else 3}/array at the root", "", "")
    for part in filter(None, path.split("/")):
        for trait in _name_traits(part):
            yield Feature(f"name/{trait}", "", "")


def _is_array_3(documents: Mapping[str, Any]) -> bool:
    document = documents.get("zarr.json")
    return isinstance(document, dict) and document.get("node_type") == "array"


def _document(name: str, pairs: Iterator[tuple[str, str]]) -> Iterator[Feature]:
    for id_, pointer in pairs:
        yield Feature(id_, name, pointer)


def _name_traits(name: str) -> Iterator[str]:
    if name.startswith("."):
        yield "leading dot"
    if name.startswith("__"):
        yield "leading __"
    if name.isdecimal():
        yield "digits"
    if name == "c":
        yield "c"
    for character in name:
        if not character.isascii():
            yield "non-ASCII"
        elif character == " ":
            yield "space"
        elif not (character.isalnum() or character in "_.-"):
            yield f"character {character}"


# --- version 3 ---


def _version_3(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if document.get("zarr_format") != 3:
        yield "draft", "/zarr_format"
        return
    yield "v3", "/zarr_format"
    is_array = document.get("node_type") == "array"
    if is_array:
        yield from _array_3(document)
    else:
        yield "v3/group", "/node_type"
        yield from _consolidated_3(document)
    if "attributes" not in document:
        yield "v3/attributes/none", ""
    yield from _attributes("v3", document.get("attributes"), "/attributes")
    known = _ARRAY_MEMBERS if is_array else _GROUP_MEMBERS
    for name in sorted(document.keys() - known):
        value = document[name]
        optional = isinstance(value, dict) and value.get("must_understand") is False
        kind = "must_understand=false" if optional else "must be understood"
        yield f"v3/additional field{'' if is_array else ' of a group'}/{kind}", _pointer(name)


_GROUP_MEMBERS = frozenset({"zarr_format", "node_type", "attributes", "consolidated_metadata"})
_ARRAY_MEMBERS = frozenset(
    {
        *("zarr_format", "node_type", "attributes", "shape", "data_type", "chunk_grid"),
        *("chunk_key_encoding", "fill_value", "codecs", "storage_transformers"),
        "dimension_names",
    }
)


def _array_3(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from _data_type_3(document.get("data_type"))
    yield from _fill_value("v3", document)
    yield from _shape("v3", document)
    yield from _grid_3(document.get("chunk_grid"))
    yield from _extension("v3/chunk_key_encoding", document.get("chunk_key_encoding"), "/chunk_key_encoding")  # fmt: skip
    yield from _codecs_3(document.get("codecs"), "/codecs", "")
    if "storage_transformers" in document:
        transformers = _list(document["storage_transformers"])
        if not transformers:
            yield "v3/storage_transformers/empty", "/storage_transformers"
        for number, transformer in enumerate(transformers):
            yield from _extension(
                "v3/storage_transformer", transformer, f"/storage_transformers/{number}"
            )
    if "dimension_names" in document:
        yield from _dimension_names(document["dimension_names"])


def _data_type_3(definition: Any) -> Iterator[tuple[str, str]]:
    name = re.sub(r"^r\d+$", "r*", _name(definition))
    base = f"v3/data_type/{name}"
    yield base, "/data_type"
    if not isinstance(definition, dict):
        return
    configuration = definition.get("configuration")
    if not configuration:
        yield "v3/data_type as an object", "/data_type"
    if "must_understand" in definition:
        yield "v3/data_type with must_understand", "/data_type/must_understand"
    if not isinstance(configuration, dict):
        return
    for key, value in configuration.items():
        if key != "fields":
            yield from _setting(base, key, value, "/data_type/configuration")
            continue
        for field in _list(value):
            # Lists of a name and a data type, or objects.
            kind = field.get("data_type") if isinstance(field, dict) else _list(field)[-1:]
            kind = kind[0] if isinstance(kind, list) and kind else kind
            form = "objects" if isinstance(field, dict) else "lists"
            yield f"{base}/fields as {form}", "/data_type/configuration/fields"
            yield f"{base} of {_name(kind)}", "/data_type/configuration/fields"


def _grid_3(definition: Any) -> Iterator[tuple[str, str]]:
    yield f"v3/chunk_grid/{_name(definition)}", "/chunk_grid"
    if not isinstance(definition, dict):
        return
    if "must_understand" in definition:
        yield "v3/chunk_grid with must_understand", "/chunk_grid/must_understand"
    pointer = "/chunk_grid/configuration/chunk_shapes"
    configuration = definition.get("configuration") if _name(definition) == "rectilinear" else None
    shapes = configuration.get("chunk_shapes") if isinstance(configuration, dict) else None
    for axis in _list(shapes):
        if not isinstance(axis, list):
            yield "v3/chunk_grid/rectilinear/one length", pointer
        elif any(isinstance(axi, list) for axi in axis):
            yield "v3/chunk_grid/rectilinear/run lengths", pointer


def _dimension_names(names: Any) -> Iterator[tuple[str, str]]:
    if names is None:
        yield "v3/dimension_names/null", "/dimension_names"
        return
    yield "v3/dimension_names", "/dimension_names"
    names = _list(names)
    if None in names:
        yield "v3/dimension_names/null entry", f"/dimension_names/{names.index(None)}"
    if "" in names:
        yield "v3/dimension_names/empty name", f"/dimension_names/{names.index('')}"
    if len({*(texts := [name for name in names if isinstance(name, str) and name])}) < len(texts):
        yield "v3/dimension_names/repeated", "/dimension_names"


def _codecs_3(codecs: Any, pointer: str, within: str) -> Iterator[tuple[str, str]]:
    """Yield features of a list of codecs; ``within`` is the role of the list in a codec."""
    listed = _list(codecs)
    names = [_name(item) for item in listed]
    serial = next((n for n, name in enumerate(names) if name in _ARRAY_TO_BYTES), len(names))
    for number, definition in enumerate(listed):
        here = f"{pointer}/{number}"
        name = names[number]
        # Some libraries ignore codecs after sharding, or support others for the index.
        is_after = number > serial and names[serial] == "sharding_indexed"
        base = "v3/codec after sharding" if is_after else "v3/codec"
        if within == "index codec":
            base = "v3/index codec"
        yield from _extension(base, definition, here, _OPTIONAL.get(name, ()))
        if within == "inner codec":
            yield f"v3/inner codec/{name}", here
        configuration = definition.get("configuration") if isinstance(definition, dict) else None
        for key, value in configuration.items() if isinstance(configuration, dict) else ():
            if isinstance(value, list) and value and all(map(_is_definition, value)):
                role = "index codec" if key == "index_codecs" else "inner codec"
                nested = f"{here}/configuration/{key}"
                yield from _codecs_3(value, nested, role)
    if serial < len(names) and names[serial] == "sharding_indexed" and serial:
        yield f"v3/{names[serial - 1]} before sharding", f"{pointer}/{serial - 1}"
    if within == "index codec":
        yield f"v3/index codecs/{', '.join(names)}", pointer
    if serial > 1:
        yield "v3/several array-to-array codecs", pointer
    if len(names) - serial > 2:
        yield "v3/several bytes-to-bytes codecs", pointer


def _consolidated_3(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "consolidated_metadata" not in document:
        return
    consolidated, pointer = document["consolidated_metadata"], "/consolidated_metadata"
    if not isinstance(consolidated, dict):
        yield "v3/consolidated_metadata/null", pointer
        return
    yield "v3/consolidated_metadata", pointer
    entries = consolidated.get("metadata")
    for path, entry in entries.items() if isinstance(entries, dict) else ():
        if isinstance(entry, dict):
            for feature in node_features("", {"zarr.json": entry}):
                yield (
                    f"v3/consolidated: {feature.id}",
                    f"{pointer}/metadata{_pointer(path)}{feature.pointer}",
                )


# --- version 2, N5 ---


def _version_2(documents: Mapping[str, Any]) -> Iterator[Feature]:
    array = documents.get(".zarray")
    if isinstance(array, dict):
        yield from _document(".zarray", _array_2(array))
    else:
        yield Feature("v2", ".zgroup", "/zarr_format")
        yield Feature("v2/group", ".zgroup", "")
    yield from _document(".zattrs", _attributes("v2", documents.get(".zattrs"), ""))
    copies = documents.get(".zmetadata")
    if isinstance(copies, dict):
        yield Feature("v2/consolidated_metadata", ".zmetadata", "")
        entries = copies.get("metadata")
        for key, entry in entries.items() if isinstance(entries, dict) else ():
            if key.endswith(".zarray") and isinstance(entry, dict):
                for id_, pointer in _array_2(entry):
                    yield Feature(
                        f"v2/consolidated: {id_}",
                        ".zmetadata",
                        f"/metadata{_pointer(key)}{pointer}",
                    )


_MEMBERS_2 = frozenset(
    {
        *("zarr_format", "shape", "chunks", "dtype", "compressor", "fill_value", "order"),
        *("filters", "dimension_separator"),
    }
)


def _array_2(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "v2", "/zarr_format"
    yield from _dtype_2(document.get("dtype"), "")
    yield from _fill_value("v2", document)
    yield from _shape("v2", document)
    yield f"v2/order/{document.get('order')}", "/order"
    separator = document.get("dimension_separator", "none")
    yield f"v2/dimension_separator/{separator}", "/dimension_separator"
    compressor = document.get("compressor")
    yield from _numcodecs("v2/compressor", compressor, "/compressor")
    filters = document.get("filters")
    if not filters:
        yield f"v2/filters/{'null' if filters is None else 'empty'}", "/filters"
    for number, filter_ in enumerate(_list(filters)):
        yield from _numcodecs("v2/filter", filter_, f"/filters/{number}")
    if len(_list(filters)) > 1:
        yield "v2/several filters", "/filters"
    for name in sorted(document.keys() - _MEMBERS_2):
        yield "v2/additional field", _pointer(name)


def _dtype_2(dtype: Any, within: str) -> Iterator[tuple[str, str]]:
    if isinstance(dtype, list):
        yield f"v2/dtype/struct{within}", "/dtype"
        for number, field in enumerate(dtype):
            if isinstance(field, list) and len(field) > 2:
                yield "v2/dtype/struct with a subarray", f"/dtype/{number}"
            if isinstance(field, list) and len(field) > 1:
                yield from _dtype_2(field[1], " in a struct")
        return
    text = str(dtype)
    kind = text[1:2]
    shown = kind if kind in "SUVO" else text[1:]
    yield f"v2/dtype/{shown}{within}", "/dtype"
    if text[:1] == ">":
        yield f"v2/byte order/>{within}", "/dtype"


def _numcodecs(base: str, configuration: Any, pointer: str) -> Iterator[tuple[str, str]]:
    if not isinstance(configuration, dict):
        yield f"{base}/null", pointer
        return
    name = f"{base}/{configuration.get('id')}"
    yield name, pointer
    for key, value in configuration.items():
        if key != "id":
            yield from _setting(name, key, value, pointer)


def _n5(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "n5", ""
    if "dataType" in document:
        yield f"n5/dataType/{document['dataType']}", "/dataType"
        compression = document.get("compression", document.get("compressionType"))
        kind = compression.get("type") if isinstance(compression, dict) else compression
        yield f"n5/compression/{kind}", "/compression"


# --- common parts ---


def _extension(
    base: str, definition: Any, pointer: str, optional: tuple[str, ...] = ()
) -> Iterator[tuple[str, str]]:
    """Yield the features of a definition: its name, form and configuration."""
    name = _name(definition)
    is_optional = isinstance(definition, dict) and definition.get("must_understand") is False
    yield f"{base}/{name}{IF_KNOWN if is_optional else ''}", pointer
    if not isinstance(definition, dict):
        yield f"{base} as a string", pointer
        configuration: Any = None
    else:
        configuration = definition.get("configuration")
        if "must_understand" in definition:
            flag = str(definition["must_understand"]).lower()
            yield f"{base} with must_understand={flag}", f"{pointer}/must_understand"
        if "configuration" not in definition:
            yield f"{base} without configuration", pointer
        elif not configuration:
            yield f"{base} with empty configuration", f"{pointer}/configuration"
        for key in sorted(definition.keys() - {"name", "configuration", "must_understand"}):
            yield f"{base} with additional field", f"{pointer}{_pointer(key)}"
    settings = configuration if isinstance(configuration, dict) else {}
    for key, value in settings.items():
        yield from _setting(f"{base}/{name}", key, value, f"{pointer}/configuration")
    for key in optional:
        if key not in settings:
            yield f"{base}/{name}/no {key}", pointer


def _setting(base: str, key: str, value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    """Yield the feature of a member of a configuration: with its value if that is a choice."""
    here = f"{pointer}{_pointer(key)}"
    if isinstance(value, bool) or (isinstance(value, str) and key not in _DATA_TYPES):
        yield f"{base}/{key}={str(value).lower() if isinstance(value, bool) else value}", here
    elif isinstance(value, int | float) and value < 0:
        yield f"{base}/{key}<0", here
    elif key in _DATA_TYPES:
        pass
    elif not isinstance(value, int | float):
        yield f"{base}/{key}", here
    elif base.endswith("/blosc") and key == "shuffle":  # version 2 has numbers
        yield f"{base}/{key}={value}", here


def _shape(base: str, document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    shape = document.get("shape")
    if not isinstance(shape, list):
        return  # the document is invalid
    if not shape:
        yield f"{base}/no dimensions", "/shape"
    if 0 in shape:
        yield f"{base}/length 0", f"/shape/{shape.index(0)}"
    if len(shape) > 32:
        yield f"{base}/more than 32 dimensions", "/shape"


def _fill_value(base: str, document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    form = _form(document["fill_value"]) if "fill_value" in document else "none"
    yield f"{base}/fill_value/{form}", "/fill_value"


def _form(value: Any) -> str:
    """Return the form of a fill value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer" if abs(value) <= _MAX_SAFE else "integer above 2**53"
    if isinstance(value, float):
        if not isfinite(value):
            return "not JSON"
        return "float" if abs(value) < float(_MAX_SAFE) else "large float"
    if isinstance(value, list):
        return "list of " + (" and ".join(sorted({_form(item) for item in value})) or "nothing")
    if isinstance(value, dict):
        return "object"
    if value in _SPECIAL:
        return str(value)
    if value.startswith("0x"):
        return "hexadecimal"
    return "string" if value else "empty string"


def _attributes(base: str, attributes: Any, pointer: str) -> Iterator[tuple[str, str]]:
    """Yield features of numbers that JSON does not have; infinity may also be a large number."""
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(attributes, dict):
        items = attributes.items()
    elif isinstance(attributes, list):
        items = enumerate(attributes)
    for name, value in items:
        here = f"{pointer}{_pointer(name)}"
        if isinstance(value, float) and not isfinite(value):
            yield f"{base}/attributes/{'NaN' if isnan(value) else 'infinity'}", here
        else:
            yield from _attributes(base, value, here)


def _list(value: Any) -> list[Any]:
    """Return a list, which is empty if the document is invalid."""
    return value if isinstance(value, list) else []


def _name(definition: Any) -> str:
    return str(definition.get("name")) if isinstance(definition, dict) else str(definition)


def _is_definition(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, dict) and isinstance(value.get("name"), str)
    )


def _pointer(name: str) -> str:
    return "/" + str(name).replace("~", "~0").replace("/", "~1")
