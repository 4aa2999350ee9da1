"""The registered data type fixed_length_utf32."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import (
    Accept,
    Case,
    Either,
    Node,
    Reject,
    Values,
)
from zarr_conformance.corpus.case_tables import table_cases
from zarr_conformance.corpus.encode import document, gzip, json_text
from zarr_conformance.corpus.metadata import array, regular
from zarr_conformance.corpus.one_chunk import BYTES, GZIP, extension

if TYPE_CHECKING:
    from collections.abc import Iterator

_NEEDS = ("data_type:fixed_length_utf32",)
_BIG = extension("bytes", endian="big")
_STRINGS = ["Hi", "", "éΩ🙂", "abc", "\U0010ffff"]


def _utf32(items: list[str], length: int = 3, endian: str = "little") -> bytes:
    """Return elements with this number of code points, padded with zeros."""
    form = f"utf-32-{'le' if endian == 'little' else 'be'}"
    return b"".join(item.encode(form).ljust(4 * length, b"\0") for item in items)


def _metadata(length: int = 3, **members: Any) -> dict[str, Any]:
    plain = {
        "shape": [5],
        "chunk_grid": regular(5),
        "data_type": extension("fixed_length_utf32", length_bytes=4 * length),
        "fill_value": "",
        "codecs": [BYTES],
    }
    return array(**(plain | members))


def _clauses(*names: str) -> tuple[str, ...]:
    return tuple(f"ext-data-types.fixed-length-utf32.{name}" for name in names)


def _read_case(
    what: str,
    names: tuple[str, ...],
    summary: str,
    data: bytes,
    stored: bytes | None,
    metadata: Any,
) -> Case:
    return Case(
        f"ext-data-types/fixed-length-utf32/{what}",
        _clauses(*names),
        summary,
        "read",
        Accept(Node(values=Values(data))),
        {"zarr.json": document(metadata), **({} if stored is None else {"c/0": stored})},
        needs=_NEEDS,
    )


def cases() -> Iterator[Case]:
    """Yield the cases."""
    always = ("configuration", "length", "bytes", "endian", "no-vlen")
    little = _utf32(_STRINGS)
    for what, stored, codecs in (
        ("little-endian", little, [BYTES]),
        ("big-endian", _utf32(_STRINGS, endian="big"), [_BIG]),
        ("gzip", gzip(little), [BYTES, GZIP]),
    ):
        names = (*always, "compressors") if what == "gzip" else always
        yield _read_case(
            what,
            names,
            "Each code point takes four bytes.",
            little,
            stored,
            _metadata(codecs=codecs),
        )
    for length in (1, 4, 100):
        items = ["a" * length, "", "b", "é", "Z"]
        data = _utf32(items, length)
        yield _read_case(
            f"length-{4 * length}",
            always,
            f"length_bytes is {4 * length}.",
            data,
            data,
            _metadata(length),
        )
    yield Case(
        "ext-data-types/fixed-length-utf32/created",
        _clauses(*always),
        "The stored bytes are exact.",
        "create",
        Accept(Node(values=Values(little), stored={"c/0": little})),
        needs=_NEEDS,
        document=_metadata(),
    )
    for what, fill in (("empty", ""), ("short", "a"), ("whole", "é🙂a")):
        yield _read_case(
            f"fill-{what}",
            ("fill", "scalar"),
            f"The fill value {json_text(fill)}.",
            _utf32([fill] * 5),
            None,
            _metadata(fill_value=fill),
        )
    yield from table_cases("ext_utf32", "invalid")
    yield from _corrupt()


def _corrupt() -> Iterator[Case]:
    for what, length in (("short", 59), ("long", 61)):
        yield Case(
            f"ext-data-types/fixed-length-utf32/damage-{what}",
            _clauses("bytes"),
            "A chunk with a wrong size is an error.",
            "read",
            Reject("chunk"),
            {"zarr.json": document(_metadata()), "c/0": bytes(length)},
            needs=_NEEDS,
        )
    beyond = np.array([0x110000, 0, 0], "<u4").tobytes() * 5
    yield Case(
        "ext-data-types/fixed-length-utf32/beyond-unicode",
        _clauses("bytes"),
        "Values that are not code points may be rejected.",
        "read",
        Either(Node("array")),
        {"zarr.json": document(_metadata()), "c/0": beyond},
        needs=_NEEDS,
    )
