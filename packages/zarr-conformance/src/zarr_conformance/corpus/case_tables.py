"""Cases from the rows of TOML files; docs/writing-a-case.md describes the format."""

from __future__ import annotations

import json
import string
import struct
import tomllib
from functools import cache
from importlib.resources import files
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus import draft_metadata, metadata
from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.encode import crc32c, document, gzip, json_text, raw, shard
from zarr_conformance.corpus.metadata import OMITTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from zarr_conformance.corpus.case import Expectation

    Encoders = Mapping[str, Callable[..., bytes]]

_BASES: dict[int, dict[str, Callable[..., dict[str, Any]]]] = {
    0: {
        "array": draft_metadata.array,
        "group": draft_metadata.group,
        "entry": draft_metadata.entry,
    },
    1: {"array": metadata.array_1},
    2: {"array": metadata.array_2, "group": metadata.group_2},
    3: {"array": metadata.array, "group": metadata.group},
}
"""Base documents by the version of the format."""

_REGULAR: dict[int, Callable[..., Any]] = {0: draft_metadata.regular, 3: metadata.regular}
"""Regular chunk grids, for the member ``chunk_shape`` of array metadata."""

_ENCODERS: dict[str, Callable[..., bytes]] = {
    "hex": bytes.fromhex,
    "json": document,
    "pack": lambda form, rows: b"".join(struct.pack(form, *row) for row in rows),
    "zeros": bytes,
}
"""Functions from an argument to bytes."""

_FILTERS: dict[str, Callable[..., bytes]] = {
    "gzip": gzip,
    "crc32c": crc32c,
    "cut": lambda data, length: data[:-length],
    "utf-16": lambda data: data.decode().encode("utf-16"),
}
"""Functions from a stored value to bytes."""

_VALUES: Any = object()
"""The value of ``$values``: the elements of the array."""


def table_cases(
    topic: str,
    *sections: str,
    cells: Mapping[str, Any] | None = None,
    constants: Mapping[str, Any] | None = None,
    encoders: Encoders | None = None,
) -> Iterator[Case]:
    """Yield the cases of sections of the file of a topic, of all sections if none is given.

    Parameters
    ----------
    topic : str
        The name of the file without its suffix.
    *sections : str
        Names of arrays of tables.
    cells : mapping, optional
        The values of further columns, the same for all rows.
    constants : mapping, optional
        Computed values that the file uses as ``$name``.
    encoders : mapping, optional
        Functions for stored values by their names, in addition to those of this module.

    Raises
    ------
    ValueError
        If a row is invalid.
    """
    file = _read(topic)
    known = _constants(file, constants or {})
    defaults = file.get("defaults", {})
    for section in sections or [name for name in file if name not in ("constants", "defaults")]:
        for table in file[section]:
            try:
                yield from _table(_override(defaults, table), known, cells or {}, encoders or {})
            except (KeyError, TypeError, ValueError, struct.error) as error:
                message = f"{topic}.toml: {table.get('id', section)}: {error!r}"
                raise ValueError(message) from error


@cache
def _read(topic: str) -> dict[str, Any]:
    return tomllib.loads((files("zarr_conformance.corpus") / f"{topic}.toml").read_text("utf-8"))


def _constants(file: Mapping[str, Any], computed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the constants that a file can use: its own, those of all files, computed ones."""
    constants = {"null": None, "omitted": OMITTED, "values": _VALUES, **computed}
    constants |= {kind: base() for kind, base in _BASES[3].items()}
    for definitions in (_read("constants"), file.get("constants", {})):
        for name, value in definitions.items():
            constants[name] = _resolve(value, constants)
    return constants


def _resolve(value: Any, constants: Mapping[str, Any]) -> Any:
    """Return a value with constants in place of ``$name``."""
    if isinstance(value, str) and value.startswith("$"):
        return constants[value[1:]]
    if isinstance(value, list):
        return [_resolve(item, constants) for item in value]
    if isinstance(value, dict):
        return {key: _resolve(item, constants) for key, item in value.items()}
    return value


# --- from a table to the members of its cases ---


def _table(
    table: dict[str, Any],
    constants: Mapping[str, Any],
    shared: Mapping[str, Any],
    encoders: Encoders,
) -> Iterator[Case]:
    """Yield the cases of a table: for each row, one case of each template."""
    columns, rows = table.pop("columns", []), table.pop("rows", [[]])
    templates = [_resolve(_override(table, case), constants) for case in table.pop("cases", [{}])]
    for row in rows:
        values = _resolve([_fill(cell, shared) for cell in row] if shared else row, constants)
        own = values.pop() if len(values) > len(columns) else {}
        cells = {**shared, **dict(zip_longest(columns, values, fillvalue=OMITTED))}
        for template in templates:
            members = _override(_fill(template, cells) if cells else template, own)
            members = {name: value for name, value in members.items() if value is not OMITTED}
            for case in _round_trip(members) if "round_trip" in members else [members]:
                yield _Row(case, encoders).case()


def _override(members: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return members with others in their place; metadata and stores keep the other members."""
    merged = members | own
    for name in {"array", "group", "store"} & members.keys() & own.keys():
        merged[name] = members[name] | own[name]
    return merged


def _round_trip(members: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the members of two cases, which read and create the same stored values."""
    name, stored = members["id"], members.pop("round_trip")
    read = {"id": f"{name}-read", "operation": "read", "store": stored}
    expect = {"accept": {"values": _VALUES, "stored": stored}}
    created = {"id": f"{name}-created", "operation": "create", "expect": expect}
    return [members | read, members | created]


class _Formatter(string.Formatter):
    """Inserts the cells of a row in a text: ``!j`` as JSON, ``!d`` with dashes for underscores."""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        if conversion == "j":
            return "missing" if value is OMITTED else json_text(value)
        if conversion == "d":
            return value.replace("_", "-")
        return super().convert_field(value, conversion)


def _fill(template: Any, cells: Mapping[str, Any]) -> Any:
    """Return a template with the cells of a row in place of ``{column}``."""
    if isinstance(template, str) and "{" in template:
        column = template[1:-1]
        return cells[column] if column in cells else _Formatter().vformat(template, (), cells)
    if isinstance(template, list):
        filled = [_fill(item, cells) for item in template]
        return [item for item in filled if item is not OMITTED]
    if isinstance(template, dict):
        return {_fill(key, cells): _fill(item, cells) for key, item in template.items()}
    return template


# --- from members to a case ---


class _Row:
    """The members of one case, without constants and columns."""

    def __init__(self, members: dict[str, Any], encoders: Encoders) -> None:
        self.members = dict(members)
        self.encoders = {**_ENCODERS, **encoders}
        self.format = members.get("zarr_format", 3)
        self.path = members.get("path", "")
        self.values = _elements(self.members.pop("values", None))

    def case(self) -> Case:
        """Return the case."""
        members = {"operation": "open", "expect": {"accept": {"values": _VALUES}}} | self.members
        documents = {
            self._key(kind): self._document(kind, self._one_chunk(kind) | members.pop(kind))
            for kind in ("array", "group")
            if kind in members
        }
        store = dict(members.pop("store", {}))
        if members["operation"] == "create":
            for created in documents.values():
                members["document"] = created
        else:
            store = {key: {"json": value} for key, value in documents.items()} | store
            if self.format == 0:
                store = {"zarr.json": {"entry": {}}} | store
        if "elements" in members:
            members["elements"] = _as_values(_elements(members["elements"]))
        for name in {"clauses", "needs", "selection", "calls", "shape"} & members.keys():
            members[name] = tuple(
                tuple(item) if isinstance(item, list) else item for item in members[name]
            )
        members["expect"] = self._expectation(members["expect"])
        return Case(store=self._store(store), **members)

    def _key(self, kind: str) -> str:
        """Return the key of the metadata document of the node."""
        if self.format == 0:
            return f"meta/{self.path}.{kind}.json" if self.path else f"meta/{kind}.json"
        version_2 = {"array": ".zarray", "group": ".zgroup"}[kind]
        name = {3: "zarr.json", 2: version_2, 1: "meta"}[self.format]
        return f"{self.path}/{name}" if self.path else name

    def _one_chunk(self, kind: str) -> dict[str, Any]:
        """Return the members of array metadata with the elements of the row in one chunk."""
        is_array = kind == "array" and isinstance(self.values, np.ndarray)
        if not is_array or self.format not in _REGULAR:
            return {}
        lengths = list(self.values.shape)
        return {"shape": lengths, "chunk_shape": lengths, "data_type": self.values.dtype.name}

    def _document(self, kind: str, members: Mapping[str, Any]) -> Any:
        """Return a metadata document: the base document with these members."""
        chosen = dict(members)
        if kind == "array" and self.format in _REGULAR and "chunk_shape" in chosen:
            grid = _REGULAR[self.format](*chosen.pop("chunk_shape"))
            chosen = {"chunk_grid": grid} | chosen
        return _BASES[self.format][kind](**chosen)

    def _store(self, values: Mapping[str, Any]) -> dict[str, bytes]:
        return {key: self._stored(value) for key, value in values.items() if value is not OMITTED}

    def _stored(self, value: Any) -> bytes:
        """Return a stored value: a text, or a table of an encoder, its argument and its options."""
        if isinstance(value, bytes):
            return value
        if isinstance(value, str):
            return value.encode()
        if value is _VALUES:
            return _as_values(self.values).data
        (name, argument), *pairs = value.items()
        options = dict(pairs)
        if name in _BASES[self.format]:
            return document(self._document(name, argument))
        if name == "join":
            return b"".join(map(self._stored, argument))
        if name == "shard":
            inner = {int(number): self._stored(chunk) for number, chunk in argument.items()}
            return shard(inner, **options)
        if name in _FILTERS:
            return _FILTERS[name](self._stored(argument), **options)
        if name in self.encoders:
            return self.encoders[name](argument, **options)
        return bytes(_array(name, argument).tobytes())

    def _expected_document(self, content: Mapping[str, Any]) -> Any:
        """Return members of a document as they are, or the base document for one kind of node."""
        if content.keys() <= _BASES[self.format].keys():
            return self._document(*next(iter(content.items())))
        return content

    def _expectation(self, value: Mapping[str, Any]) -> Expectation:
        ((outcome, argument),) = value.items()
        if outcome == "reject":
            return Reject(*([argument] if isinstance(argument, str) else argument))
        node = dict(argument)
        if "values" in node:
            values = node["values"]
            node["values"] = _as_values(self.values if values is _VALUES else _elements(values))
        if "stored" in node:
            node["stored"] = self._store(node["stored"])
        if "documents" in node:
            node["documents"] = {
                key: self._expected_document(content) for key, content in node["documents"].items()
            }
        for name in {"shape", "dimension_names", "results", "absent"} & node.keys():
            node[name] = tuple(node[name])
        outcomes: dict[str, Callable[[Node], Expectation]] = {"accept": Accept, "either": Either}
        return outcomes[outcome](Node(**node))


def _elements(value: Any) -> Any:
    """Return elements: a NumPy array, or `Values` for a list and for encoded elements."""
    if value is None:
        return None
    (name, data), *options = value.items()
    if name == "list":
        return Values(json.dumps(data, ensure_ascii=False).encode(), "json")
    if name in _ENCODERS:
        return Values(_ENCODERS[name](data, **dict(options)))
    return _array(name, data)


def _array(data_type: str, data: Any) -> Any:
    """Return a NumPy array; complex numbers are given as two floating-point numbers."""
    dtype = np.dtype(data_type)
    if isinstance(data, dict):
        return np.arange(*data["range"], dtype=dtype).reshape(data.get("shape", -1))
    if dtype.kind == "c":
        return np.array(data, f"f{dtype.itemsize // 2}").view(dtype)[..., 0]
    return np.array(data, dtype)


def _as_values(elements: Any) -> Values:
    if elements is None:
        raise ValueError("the row has no values")
    return elements if isinstance(elements, Values) else Values(raw(elements))
