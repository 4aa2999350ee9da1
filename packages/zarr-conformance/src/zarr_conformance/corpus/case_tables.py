"""Cases from the rows of TOML files; ``README.md`` in this folder documents the format."""

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
_FILTERS: dict[str, Callable[..., bytes]] = {
    "gzip": gzip,
    "crc32c": crc32c,
    "cut": lambda data, length: data[:-length],
    "utf-16": lambda data: data.decode().encode("utf-16"),
}
_ENCODERS: dict[str, Callable[..., bytes]] = {
    "hex": bytes.fromhex,
    "json": document,
    "pack": lambda form, rows: b"".join(struct.pack(form, *row) for row in rows),
    "zeros": bytes,
}
_TUPLES = {"clauses", "needs", "selection", "calls", "shape"}
_NODE_TUPLES = {"shape", "dimension_names", "results", "absent"}
_VALUES: Any = object()
"""The value of ``$values``: the elements of the array."""


def table_cases(
    topic: str,
    *sections: str,
    cells: Mapping[str, Any] | None = None,
    names: Mapping[str, Any] | None = None,
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
        Cells of further columns, the same for all rows.
    names : mapping, optional
        Computed values that the file uses as ``$name``.
    encoders : mapping, optional
        Functions for stored values by their names, beside those of this module.
    """
    file = dict(_parse(topic))
    known = {"null": None, "omitted": metadata.OMITTED, "values": _VALUES, **(names or {})}
    known |= {kind: base() for kind, base in _BASES[3].items()}
    for found in (_parse("constants"), file.pop("constants", {})):
        for name, value in found.items():
            known[name] = _resolve(value, known)
    defaults = file.pop("defaults", {})
    for section in sections or file:
        for table in file[section]:
            for row in _rows(_merge(defaults, table), known, cells or {}):
                for members in _round_trip(row):
                    yield _Row(members, encoders or {}).case()


@cache
def _parse(topic: str) -> dict[str, Any]:
    return tomllib.loads((files("zarr_conformance.corpus") / f"{topic}.toml").read_text("utf-8"))


def _resolve(value: Any, names: Mapping[str, Any]) -> Any:
    """Return a value with named values in place of ``$name``."""
    if isinstance(value, str) and value.startswith("$"):
        return names[value[1:]]
    if isinstance(value, list):
        return [_resolve(it, names) for it in value]
    if isinstance(value, dict):
        return {key: _resolve(it, names) for key, it in value.items()}
    return value


def _rows(
    table: dict[str, Any], names: Mapping[str, Any], shared: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the members of the cases of a table, for each of its rows and templates."""
    columns, rows = table.pop("columns", []), table.pop("rows", [[]])
    templates = [_resolve(table | it, names) for it in table.pop("cases", [{}])]
    for row in rows:
        cells = [_fill(it, shared) for it in row] if shared else list(row)
        cells = _resolve(cells, names)
        own = cells.pop() if len(cells) > len(columns) else {}
        by_name = {**shared, **dict(zip_longest(columns, cells, fillvalue=metadata.OMITTED))}
        for template in templates:
            members = _merge(_fill(template, by_name) if by_name else template, own)
            yield {name: it for name, it in members.items() if it is not metadata.OMITTED}


def _merge(members: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return members with others in their place; of metadata and stores only the given members."""
    merged = members | own
    for name in {"array", "group", "store"} & members.keys() & own.keys():
        merged[name] = members[name] | own[name]
    return merged


def _round_trip(members: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the case itself, or those that read and create the stored values of a round trip."""
    if "round_trip" not in members:
        yield members
        return
    stored = members.pop("round_trip")
    name = members["id"]
    yield members | {"id": f"{name}-read", "operation": "read", "store": stored}
    written = {"accept": {"values": _VALUES, "stored": stored}}
    yield members | {"id": f"{name}-created", "operation": "create", "expect": written}


class _Formatter(string.Formatter):
    """Inserts the cells of a row in a text: ``!j`` as JSON, ``!d`` with dashes for underscores."""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        if conversion == "j":
            return "missing" if value is metadata.OMITTED else json_text(value)
        if conversion == "d":
            return value.replace("_", "-")
        return super().convert_field(value, conversion)


def _fill(template: Any, row: Mapping[str, Any]) -> Any:
    """Return a template with the cells of a row in place of ``{column}``."""
    if isinstance(template, str) and "{" in template:
        column = template[1:-1]
        return row[column] if column in row else _Formatter().vformat(template, (), row)
    if isinstance(template, list):
        filled = [_fill(it, row) for it in template]
        return [it for it in filled if it is not metadata.OMITTED]
    if isinstance(template, dict):
        return {_fill(key, row): _fill(it, row) for key, it in template.items()}
    return template


class _Row:
    """The members of one case, without references to named values."""

    def __init__(self, members: dict[str, Any], encoders: Encoders) -> None:
        self.members = dict(members)
        self.encoders = encoders
        self.format = members.get("zarr_format", 3)
        self.path = members.get("path", "")
        self.values = _elements(self.members.pop("values", None))

    def case(self) -> Case:
        """Return the case."""
        members = self.members
        operation = members.setdefault("operation", "open")
        nodes = {kind: members.pop(kind) for kind in ("array", "group") if kind in members}
        documents = [
            (self._key(kind), self._document(kind, self._shape(kind) | it))
            for kind, it in nodes.items()
        ]
        store = dict(members.pop("store", {}))
        if operation == "create" and documents:
            members.update(document=documents[0][1])
        else:
            store = {key: document(it) for key, it in documents} | store
            if self.format == 0:
                store = {"zarr.json": {"entry": {}}} | store
        if "elements" in members:
            members["elements"] = _as_values(_elements(members["elements"]))
        for name in _TUPLES & members.keys():
            members[name] = tuple(tuple(it) if isinstance(it, list) else it for it in members[name])
        members["expect"] = self._expectation(
            members.pop("expect", {"accept": {"values": _VALUES}})
        )
        return Case(store=self._stored_values(store), **members)

    def _key(self, kind: str) -> str:
        """Return the key of the metadata document of the node."""
        if self.format == 0:
            return f"meta/{self.path}.{kind}.json" if self.path else f"meta/{kind}.json"
        name = {3: "zarr.json", 2: ".zarray" if kind == "array" else ".zgroup", 1: "meta"}
        return f"{self.path}/{name[self.format]}" if self.path else name[self.format]

    def _shape(self, kind: str) -> dict[str, Any]:
        """Return the members of an array with these elements in one chunk."""
        if (
            kind != "array"
            or self.format not in _REGULAR
            or not isinstance(self.values, np.ndarray)
        ):
            return {}
        lengths = list(self.values.shape)
        return {"shape": lengths, "chunk_shape": lengths, "data_type": self.values.dtype.name}

    def _document(self, kind: str, members: Mapping[str, Any]) -> Any:
        """Return a metadata document: the base document with these members."""
        chosen, regular = dict(members), _REGULAR.get(self.format)
        if kind == "array" and regular is not None and "chunk_shape" in chosen:
            chosen = {"chunk_grid": regular(*chosen.pop("chunk_shape"))} | chosen
        return _BASES[self.format][kind](**chosen)

    def _stored_values(self, values: Mapping[str, Any]) -> dict[str, bytes]:
        return {key: self._stored(it) for key, it in values.items() if it is not metadata.OMITTED}

    def _stored(self, value: Any) -> bytes:
        """Return a stored value: a text, or a table of an encoder, its argument and its options."""
        if isinstance(value, bytes):
            return value
        if isinstance(value, str):
            return value.encode()
        if value is _VALUES:
            return _as_values(self.values).data
        (name, argument), *options = value.items()
        if name in _BASES[self.format]:
            return document(self._document(name, argument))
        if name == "join":
            return b"".join(map(self._stored, argument))
        if name in _FILTERS:
            return _FILTERS[name](self._stored(argument), **dict(options))
        if name == "shard":
            inner = {int(number): self._stored(it) for number, it in argument.items()}
            return shard(inner, **dict(options))
        encoders = {**_ENCODERS, **self.encoders}
        if name in encoders:
            return encoders[name](argument, **dict(options))
        return bytes(_array(name, argument).tobytes())

    def _expectation(self, value: Mapping[str, Any]) -> Expectation:
        ((outcome, argument),) = value.items()
        if outcome == "reject":
            return Reject(*([argument] if isinstance(argument, str) else argument))
        node = dict(argument)
        if "values" in node:
            values = node["values"]
            node["values"] = _as_values(self.values if values is _VALUES else _elements(values))
        if "stored" in node:
            node["stored"] = self._stored_values(node["stored"])
        for key, it in node.get("documents", {}).items():
            if it.keys() <= _BASES[self.format].keys():
                ((kind, own),) = it.items()
                node["documents"] = node["documents"] | {key: self._document(kind, own)}
        for name in _NODE_TUPLES & node.keys():
            node[name] = tuple(node[name])
        return {"accept": Accept, "either": Either}[outcome](Node(**node))


def _elements(value: Any) -> Any:
    """Return elements: a NumPy array, or `Values` for a list or encoded elements."""
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
    return elements if isinstance(elements, Values) else Values(raw(elements))
