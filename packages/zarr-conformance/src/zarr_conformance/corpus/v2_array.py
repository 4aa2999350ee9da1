"""Array metadata, chunk keys and chunk layouts of version 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.encode import blocks, document, json_text
from zarr_conformance.corpus.metadata import OMITTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.case import Expectation

VALUES = np.arange(1, 25, dtype="<i4").reshape(4, 6)

_INVALID: dict[str, dict[str, Any]] = {
    "zarr_format": {"1": 1, "3": 3, "string": "2", "null": None, "list": [2]},
    "shape": {"number": 4, "null": None, "negative": [-1, 6], "fraction": [4.5, 6], "text": "4"},
    "chunks": {
        "null": None,
        "string": "auto",
        "too-few": [2],
        "too-many": [2, 3, 1],
        "zero": [2, 0],
        "negative": [2, -3],
        "fraction": [2.5, 3],
    },
    "dtype": {"null": None, "number": 4, "empty": "", "unknown": "<q4", "object": {}},
    "compressor": {"string": "zlib", "number": 1, "list": [{"id": "zlib"}], "true": True},
    "order": {"unknown": "X", "null": None, "number": 0, "lower-case": "c"},
    "filters": {"string": "delta", "object": {"id": "delta"}, "number": 1},
    "dimension_separator": {"dash": "-", "empty": "", "number": 0, "up": "../"},
}


def array(**members: Any) -> dict[str, Any]:
    """Return the metadata of an array of shape (4, 6), int32, in uncompressed chunks of (2, 3)."""
    plain = {
        "zarr_format": 2,
        "shape": [4, 6],
        "chunks": [2, 3],
        "dtype": "<i4",
        "compressor": None,
        "fill_value": 0,
        "order": "C",
        "filters": None,
    }
    return {name: it for name, it in (plain | members).items() if it is not OMITTED}


def stored(values: Any, lengths: tuple[int, ...], encode: Any = None, order: Any = "C") -> Any:
    """Return the chunks of an array by their keys."""
    return {
        ".".join(map(str, at)) or "0": (encode or bytes)(part.tobytes(order))
        for at, part in blocks(values, lengths).items()
    }


def case(
    name: str,
    clauses: str | tuple[str, ...],
    summary: str,
    expect: Expectation,
    members: dict[str, Any] | bytes,
    chunks: dict[str, bytes] | None = None,
    operation: Any = "open",
    **more: Any,
) -> Case:
    """Return a case with an array at the root."""
    names = (clauses,) if isinstance(clauses, str) else clauses
    data = members if isinstance(members, bytes) else document(members)
    return Case(
        f"v2/{name}",
        tuple(f"v2.{it}" for it in names),
        summary,
        operation,
        expect,
        {".zarray": data, **(chunks or {})},
        zarr_format=2,
        **more,
    )


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _members()
    yield from _chunks()


def _members() -> Iterator[Case]:
    every = tuple(f"array.{name.replace('_', '-')}" for name in array())
    chunks = stored(VALUES, (2, 3))
    yield case(
        "array/plain",
        (*every, "array.document", "chunks.key", "chunks.compressed"),
        "Array metadata with all mandatory fields is valid.",
        Accept(Node("array", (4, 6), values=Values(VALUES.tobytes()))),
        array(),
        chunks,
        "read",
    )
    for name in array():
        yield case(
            f"array/without-{name.replace('_', '-')}",
            f"array.{name.replace('_', '-')}",
            f"Array metadata without {name} is invalid.",
            Reject("metadata"),
            array(**{name: OMITTED}),
        )
    for name, values in _INVALID.items():
        clause = "separator" if name == "dimension_separator" else name.replace("_", "-")
        for kind, value in values.items():
            yield case(
                f"array/{name.replace('_', '-')}-{kind}",
                f"array.{clause}",
                f"{name} of array metadata cannot be {json_text(value)}.",
                # The specification does not exclude chunks of length zero, which cannot be encoded.
                Either() if (name, kind) == ("chunks", "zero") else Reject("metadata", "extension"),
                array(**{name: value}),
            )
    for kind, data in (("cut", b'{"zarr_format": 2'), ("list", b"[]"), ("empty", b"")):
        yield case(
            f"array/json-{kind}",
            "array.document",
            "A metadata document is one JSON object.",
            Reject("metadata"),
            data,
        )
    yield case(
        "array/other-member",
        "array.other-ignored",
        "Unknown fields are ignored.",
        Accept(Node("array", (4, 6), values=Values(VALUES.tobytes()))),
        array(unknown={"a": 1}, chunk_key="%d"),
        chunks,
        "read",
    )
    yield Case(
        "v2/array/no-other-member-written",
        ("v2.array.other-written", "v2.array.document"),
        "A new array has the specified metadata.",
        "create",
        Accept(
            Node(documents={".zarray": array()}, stored=chunks, values=Values(VALUES.tobytes()))
        ),
        zarr_format=2,
        document=array(),
    )
    for kind, members, clause in (
        ("compressor", {"compressor": {"level": 1}}, "array.compressor-id"),
        ("compressor-number", {"compressor": {"id": 1}}, "array.compressor-id"),
        ("filter", {"filters": [{"astype": "<i4"}]}, "array.filter-id"),
        ("filter-null", {"filters": [None]}, "array.filter-id"),
    ):
        yield case(
            f"array/no-id-{kind}",
            clause,
            "A codec without an id is invalid.",
            Reject("metadata", "extension"),
            array(**members),
        )
    unknown = {"id": "example-unknown"}
    for kind, named in (
        ("compressor", {"compressor": unknown}),
        ("filter", {"filters": [unknown]}),
    ):
        yield case(
            f"array/unknown-{kind}",
            f"array.{kind}s" if kind == "filter" else "array.compressor",
            "Chunks with an unknown codec cannot be read.",
            Reject("extension"),
            array(**named),
            chunks,
            "read",
        )
    for kind, separator in (("period", "."), ("slash", "/"), ("default", OMITTED)):
        keys = {
            key.replace(".", separator if isinstance(separator, str) else "."): it
            for key, it in chunks.items()
        }
        clauses: tuple[str, ...] = ("array.separator", "chunks.key")
        if kind == "default":
            clauses = ("array.separator-default", "chunks.key")
        if kind == "slash":
            clauses = (*clauses, "array.separator-nested")
        members = array(dimension_separator=separator)
        yield case(
            f"array/separator-{kind}",
            clauses,
            f"Chunk keys with the separator {kind}.",
            Accept(Node(values=Values(VALUES.tobytes()))),
            members,
            keys,
            "read",
        )
        yield Case(
            f"v2/array/separator-{kind}-created",
            tuple(f"v2.{it}" for it in clauses),
            f"Chunks are written with the separator {kind} in their keys.",
            "create",
            Accept(Node(stored=keys, values=Values(VALUES.tobytes()))),
            zarr_format=2,
            document=members,
        )


def _chunks() -> Iterator[Case]:
    for name, shape, lengths in (
        ("border", (5,), (2,)),
        ("larger", (3,), (10,)),
        ("two", (5, 4), (2, 3)),
        ("three", (3, 2, 5), (2, 2, 2)),
        ("ten", (12,), (1,)),
    ):
        values = np.arange(1, 1 + int(np.prod(shape)), dtype="<i4").reshape(shape)
        for order in "CF":
            yield case(
                f"chunks/{name}-{order.lower()}",
                ("chunks.shape", "chunks.key", "array.order-layout", "array.order"),
                f"An array of shape {shape} in chunks of {lengths}, order {order}.",
                Accept(Node(values=Values(values.tobytes()))),
                array(shape=list(shape), chunks=list(lengths), order=order),
                stored(values, lengths, order=order),
                "read",
            )
            yield Case(
                f"v2/chunks/{name}-{order.lower()}-created",
                ("v2.chunks.shape", "v2.chunks.key", "v2.array.order-layout"),
                f"An array of shape {shape} is written in chunks of {lengths}, order {order}.",
                "create",
                Accept(
                    Node(
                        values=Values(values.tobytes()), stored=stored(values, lengths, order=order)
                    )
                ),
                zarr_format=2,
                document=array(shape=list(shape), chunks=list(lengths), order=order),
            )
    values = np.arange(5, dtype="<i4")
    chunks = stored(values, (2,))
    chunks["2"] = chunks["2"][:4] + b"\xff\xff\xff\x7f"
    yield case(
        "chunks/beyond",
        "chunks.beyond",
        "Elements beyond the array are ignored.",
        Accept(Node(values=Values(values.tobytes()))),
        array(shape=[5], chunks=[2]),
        chunks,
        "read",
    )
    yield case(
        "chunks/no-dimensions",
        "chunks.key",
        "The only chunk of a zero-dimensional array has the key 0.",
        Accept(Node("array", (), values=Values(b"\7\0\0\0"))),
        array(shape=[], chunks=[]),
        {"0": b"\7\0\0\0"},
        "read",
    )
    yield case(
        "chunks/empty-array",
        "array.shape",
        "An array may have no elements.",
        Accept(Node("array", (0, 6), values=Values(b""))),
        array(shape=[0, 6]),
        {},
        "read",
    )
    for kind, data in (("short", bytes(20)), ("long", bytes(28)), ("empty", b"")):
        yield case(
            f"chunks/damage-{kind}",
            "chunks.shape",
            "A chunk with a wrong size is an error.",
            Reject("chunk"),
            array(),
            {"0.0": data},
            "read",
        )
