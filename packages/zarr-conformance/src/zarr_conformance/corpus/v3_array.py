"""Array metadata of version 3: mandatory, optional and invalid fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.case_builder import build_case
from zarr_conformance.corpus.encode import document, json_text, raw
from zarr_conformance.corpus.metadata import OMITTED, array, regular

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.case import Expectation

MANDATORY = (
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "codecs",
)

_NOT_A_LIST_OF_INTEGERS: dict[str, Any] = {
    "number": 4,
    "null": None,
    "string": "4",
    "object": {"0": 4},
    "negative": [-1],
    "fraction": [4.5],
    "text": ["4"],
    "true": [True],
    "null-inside": [None],
    "nested": [[4]],
}

# Invalid values of fields, each with a name.
_INVALID: dict[str, dict[str, Any]] = {
    "zarr_format": {"2": 2, "4": 4, "string": "3", "null": None, "list": [3], "fraction": 3.5},
    "node_type": {"unknown": "dataset", "number": 3, "null": None, "capital": "Array"},
    "shape": _NOT_A_LIST_OF_INTEGERS,
    "data_type": {"number": 32, "null": None, "list": ["int32"], "empty": "", "object": {}},
    "chunk_grid": {"number": 2, "null": None, "list": [2], "object": {}},
    "chunk_key_encoding": {"number": 1, "null": None, "list": ["default"], "object": {}},
    "codecs": {"string": "bytes", "null": None, "object": {"name": "bytes"}, "number": [1]},
    "attributes": {"list": [], "string": "a", "number": 1, "null": None, "true": True},
    "storage_transformers": {"string": "a", "object": {}, "number": [1], "true": True},
    "dimension_names": {
        "string": "x",
        "too-many": ["x", "y"],
        "too-few": [],
        "number": [1],
        "true": [True],
        "object": {"x": 0},
    },
}

ATTRIBUTES: dict[str, Any] = {
    "text": 'grüße 🌍 \u0000 " \\ /',
    "numbers": [0, -1, 1.5, 1e300, -2.5e-300],
    "large": 2**53 - 1,  # larger numbers may be rounded by parsers (RFC 8259, section 6)
    "truth": [True, False, None],
    "empty": {},
    "": "an empty name",
    "nested": {"a": [{"b": [[]]}]},
    "zarr_format": 2,
}
"""Attributes with all kinds of JSON values."""


def _case(
    name: str,
    clause: str | tuple[str, ...],
    summary: str,
    expect: Expectation,
    stored: dict[str, Any] | bytes,
    *,
    operation: Any = "open",
    chunks: dict[str, bytes] | None = None,
) -> Case:
    store = {"zarr.json": stored, **(chunks or {})}
    return build_case("v3-core", f"array/{name}", clause, summary, expect, store, operation)


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _members()
    yield from _optional()
    yield from _json()
    yield from _shapes()


def _members() -> Iterator[Case]:
    every = tuple(f"array.{name.replace('_', '-')}" for name in MANDATORY)
    yield _case(
        "plain",
        (
            *every,
            "array.document",
            "array.attributes-optional",
            "array.codecs-not-empty",
            "metadata.json",
            "metadata.object",
            "storage.exists",
        ),
        "Array metadata with exactly the mandatory fields is valid.",
        Accept(Node("array", (4,))),
        array(),
    )
    yield Case(
        "v3-core/array/no-document",
        ("v3-core.array.document", "v3-core.storage.exists"),
        "Chunks without a metadata document are not an array.",
        "open",
        Reject("missing"),
        {"c/0": bytes(8)},
    )
    for name in MANDATORY:
        yield _case(
            f"without-{name.replace('_', '-')}",
            f"array.{name.replace('_', '-')}",
            f"Array metadata without {name} is invalid.",
            Reject("metadata"),
            array(**{name: OMITTED}),
        )
    for name, values in _INVALID.items():
        for kind, value in values.items():
            yield _case(
                f"{name.replace('_', '-')}-{kind}",
                f"array.{name.replace('_', '-')}",
                f"{name} of array metadata cannot be {json_text(value)}.",
                Reject("metadata"),
                array(**{name: value}),
            )
    yield _case(
        "codecs-empty",
        ("array.codecs-not-empty", "codecs.kinds"),
        "An empty list of codecs has no array -> bytes codec.",
        Reject("metadata"),
        array(codecs=[]),
    )
    yield _case(
        "node-type-group-with-shape",
        ("extensions.unknown-group",),
        "Group metadata with the fields of an array is invalid.",
        Reject("metadata"),
        array(node_type="group"),
    )
    yield _case(
        "zarr-format-float",
        "array.zarr-format",
        "3.0 is an integer for some JSON parsers, but not for others.",
        Either(Node("array")),
        document(array()).replace(b'"zarr_format": 3', b'"zarr_format": 3.0'),
    )
    yield _case(
        "shape-float",
        "array.shape",
        "4.0 is an integer for some JSON parsers, but not for others.",
        Either(Node("array", (4,))),
        document(array()).replace(b"  4", b"  4.0"),
    )


def _optional() -> Iterator[Case]:
    yield _case(
        "attributes",
        ("array.attributes", "array.attributes-any"),
        "Attribute values may be any JSON value.",
        Accept(Node(attributes=ATTRIBUTES)),
        array(attributes=ATTRIBUTES),
    )
    yield _case(
        "attributes-empty",
        "array.attributes",
        "attributes may be empty.",
        Accept(Node(attributes={})),
        array(attributes={}),
    )
    yield _case(
        "storage-transformers-empty",
        ("array.storage-transformers", "array.storage-transformers-none"),
        "An empty list means no storage transformers.",
        Accept(Node("array")),
        array(storage_transformers=[]),
    )
    yield _case(
        "dimension-names",
        ("array.dimension-names", "array.dimension-names-null"),
        "A dimension name is a string or null.",
        Accept(Node(dimension_names=("y", None, ""))),
        array(shape=[4, 4, 4], chunk_grid=regular(2, 2, 2), dimension_names=["y", None, ""]),
    )
    yield _case(
        "dimension-names-equal",
        ("array.dimension-names", "array.dimension-names-distinct"),
        "Equal dimension names are permitted, but not recommended.",
        Accept(Node(dimension_names=("x", "x"))),
        array(shape=[4, 4], chunk_grid=regular(2, 2), dimension_names=["x", "x"]),
    )
    yield _case(
        "dimension-names-none",
        "array.dimension-names-none",
        "Dimensions without dimension_names are unnamed.",
        Accept(Node("array", (4, 4))),
        array(shape=[4, 4], chunk_grid=regular(2, 2)),
    )
    yield _case(
        "dimension-names-of-no-dimensions",
        "array.dimension-names",
        "dimension_names of a zero-dimensional array is empty.",
        Accept(Node("array", ())),
        array(shape=[], chunk_grid=regular(), dimension_names=[]),
    )


# RFC 8259 (section 9) permits parsers to accept other forms and to limit nesting depths.
_LENIENT = (
    "deep",
    "comment",
    "infinity",
    "nan",
    "single-quotes",
    "trailing-comma",
    "two-documents",
    "utf-16",
)


def _json() -> Iterator[Case]:
    whole = document(array())
    broken: dict[str, bytes] = {
        "empty": b"",
        "cut": whole[: len(whole) // 2],
        "text": b"zarr",
        "null": b"null",
        "list": b"[" + whole + b"]",
        "number": b"3",
        "string": b'"array"',
        "two-documents": whole + whole,
        "comment": whole + b"// end",
        "single-quotes": whole.replace(b'"', b"'"),
        "trailing-comma": whole.rstrip().removesuffix(b"}") + b",}",
        "not-utf-8": whole.replace(b"int32", b"int\xff32"),
        "utf-16": whole.decode().encode("utf-16"),
        "nan": document(array(attributes={"a": 0})).replace(b'"a": 0', b'"a": NaN'),
        "infinity": document(array(attributes={"a": 0})).replace(b'"a": 0', b'"a": -Infinity'),
        "deep": document(array(attributes={"a": 0})).replace(
            b'"a": 0', b'"a": ' + b"[" * 100_000 + b"]" * 100_000
        ),
    }
    for name, data in broken.items():
        outer = name in ("null", "list", "number", "string")
        expect: Expectation = Either(Node("array")) if name in _LENIENT else Reject("metadata")
        yield _case(
            f"json-{name}",
            "metadata.object" if outer else "metadata.json",
            f"A metadata document must be one JSON object: {name.replace('-', ' ')}.",
            expect,
            data,
        )
    yield _case(
        "json-repeated-member",
        "metadata.json",
        "Names should be unique by RFC 8259; a document with two shapes is ambiguous.",
        Either(Node("array")),
        whole.replace(b'"node_type"', b'"shape": [5], "node_type"'),
    )
    yield _case(
        "json-spaces",
        "metadata.json",
        "White space and the order of fields are not significant.",
        Accept(Node("array", (4,))),
        b"\n\t " + document(dict(reversed(array().items()))).replace(b":", b" \r\n : ") + b"\n ",
    )
    yield _case(
        "json-escapes",
        "metadata.json",
        "Characters may be escaped.",
        Accept(Node("array", (4,), {"é😀": "A"})),
        document(array(attributes={"x": "A"}))
        .replace(b'"x"', b'"\\u00e9\\ud83d\\ude00"')
        .replace(b'"A"', b'"\\u0041"')
        .replace(b'"int32"', b'"\\u0069nt32"'),
    )


def _shapes() -> Iterator[Case]:
    fill = np.full(4, 7, "<i4")
    yield _case(
        "nothing-stored",
        "array.fill-value-used",
        "Elements that were never written have the fill value.",
        Accept(Node(values=Values(raw(fill)))),
        array(fill_value=7),
        operation="read",
    )
    stored = np.array([1, 2], "<i4")
    yield _case(
        "partly-stored",
        ("array.fill-value-used", "keys.root-array-data"),
        "Stored chunks are read, missing chunks have the fill value.",
        Accept(Node(values=Values(raw(np.array([7, 7, 1, 2], "<i4"))))),
        array(fill_value=7),
        operation="read",
        chunks={"c/1": raw(stored)},
    )
    yield _case(
        "no-dimensions",
        "hierarchy.no-dimensions",
        "A zero-dimensional array has one element.",
        Accept(Node("array", (), values=Values(raw(np.array(5, "<i4"))))),
        array(shape=[], chunk_grid=regular()),
        operation="read",
        chunks={"c": raw(np.array(5, "<i4"))},
    )
    for shape, lengths in (((0,), (2,)), ((0, 3), (2, 2)), ((3, 0), (1, 1))):
        yield _case(
            f"empty-{'x'.join(map(str, shape))}",
            "hierarchy.empty-dimension",
            "A dimension may have length zero; the array then has no elements.",
            Accept(Node("array", shape, values=Values(b""))),
            array(shape=list(shape), chunk_grid=regular(*lengths)),
            operation="read",
        )
    yield _case(
        "huge",
        "array.shape",
        "A shape may exceed the memory; opening does not allocate elements.",
        Accept(Node("array", (2**62, 3))),
        array(shape=[2**62, 3], chunk_grid=regular(1000, 3)),
    )
