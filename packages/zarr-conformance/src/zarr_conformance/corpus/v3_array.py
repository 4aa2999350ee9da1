"""Array metadata of version 3: mandatory, optional and invalid fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject
from zarr_conformance.corpus.case_tables import table_cases
from zarr_conformance.corpus.encode import document
from zarr_conformance.corpus.metadata import array

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.case import Expectation


def _case(
    name: str,
    clause: str,
    summary: str,
    expect: Expectation,
    stored: bytes,
) -> Case:
    return Case(
        f"v3-core/array/{name}",
        (f"v3-core.{clause}",),
        summary,
        "open",
        expect,
        {"zarr.json": stored},
    )


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from table_cases("v3_array", "members", "optional")
    yield from _json()
    yield from table_cases("v3_array", "shapes")


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
