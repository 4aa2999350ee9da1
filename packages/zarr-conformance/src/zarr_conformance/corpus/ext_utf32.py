"""The registered data type fixed_length_utf32."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.documents import array, regular
from zarr_conformance.corpus.encode import document, gzip
from zarr_conformance.corpus.ext_cases import BYTES, GZIP, named

if TYPE_CHECKING:
    from collections.abc import Iterator

_NEEDS = ("data_type:fixed_length_utf32",)
_BIG = named("bytes", endian="big")
_STRINGS = ["Hi", "", "éΩ🙂", "abc", "\U0010ffff"]


def _utf32(items: list[str], length: int = 3, endian: str = "little") -> bytes:
    """Elements of so many code points, filled up with zeros."""
    form = f"utf-32-{'le' if endian == 'little' else 'be'}"
    return b"".join(it.encode(form).ljust(4 * length, b"\0") for it in items)


def _told(length: int = 3, **members: Any) -> dict[str, Any]:
    plain = {
        "shape": [5],
        "chunk_grid": regular(5),
        "data_type": named("fixed_length_utf32", length_bytes=4 * length),
        "fill_value": "",
        "codecs": [BYTES],
    }
    return array(**(plain | members))


def _clauses(*names: str) -> tuple[str, ...]:
    return tuple(f"ext-data-types.fixed-length-utf32.{it}" for it in names)


def _read(
    what: str, names: tuple[str, ...], says: str, data: bytes, stored: bytes | None, told: Any
) -> Case:
    return Case(
        f"ext-data-types/fixed-length-utf32/{what}",
        _clauses(*names),
        says,
        "read",
        Accept(Node(values=Values(data))),
        {"zarr.json": document(told), **({} if stored is None else {"c/0": stored})},
        needs=_NEEDS,
    )


def _refused(what: str, name: str, says: str, told: Any) -> Case:
    return Case(
        f"ext-data-types/fixed-length-utf32/no-{what}",
        _clauses(name),
        says,
        "open",
        Reject("metadata", "extension"),
        {"zarr.json": document(told)},
    )


def cases() -> Iterator[Case]:
    """All of them."""
    always = ("configuration", "length", "bytes", "endian", "no-vlen")
    little = _utf32(_STRINGS)
    for what, stored, codecs in (
        ("little-endian", little, [BYTES]),
        ("big-endian", _utf32(_STRINGS, endian="big"), [_BIG]),
        ("gzip", gzip(little), [BYTES, GZIP]),
    ):
        names = (*always, "compressors") if what == "gzip" else always
        yield _read(
            what, names, "Each code point takes four bytes.", little, stored, _told(codecs=codecs)
        )
    for length in (1, 4, 100):
        items = ["a" * length, "", "b", "é", "Z"]
        data = _utf32(items, length)
        yield _read(
            f"length-{4 * length}", always, f"{length} code points.", data, data, _told(length)
        )
    yield Case(
        "ext-data-types/fixed-length-utf32/created",
        _clauses(*always),
        "What is written, byte for byte.",
        "create",
        Accept(Node(values=Values(little), stored={"c/0": little})),
        needs=_NEEDS,
        document=_told(),
    )
    for what, fill in (("empty", ""), ("short", "a"), ("whole", "é🙂a")):
        yield _read(
            f"fill-{what}",
            ("fill", "scalar"),
            f"The fill value {fill!r}.",
            _utf32([fill] * 5),
            None,
            _told(fill_value=fill),
        )
    for what, wrong, name in (
        ("fill-too-long", "abcd", "scalar"),
        ("fill-too-long-beyond-16-bits", "🙂🙂🙂🙂", "scalar"),
        ("fill-number", 0, "fill"),
        ("fill-null", None, "fill"),
        ("fill-list", ["a"], "fill"),
        ("fill-true", True, "fill"),
    ):
        yield _refused(what, name, f"{wrong!r} is no fill value of it.", _told(fill_value=wrong))
    for what, told, name in (
        ("length-left-out", {}, "configuration"),
        ("further-member", {"length_bytes": 12, "endian": "big"}, "configuration"),
        ("length-zero", {"length_bytes": 0}, "length"),
        ("length-negative", {"length_bytes": -4}, "length"),
        ("length-odd", {"length_bytes": 10}, "length"),
        ("length-fraction", {"length_bytes": 4.5}, "length"),
        ("length-text", {"length_bytes": "12"}, "length"),
        ("length-null", {"length_bytes": None}, "length"),
        ("length-true", {"length_bytes": True}, "length"),
    ):
        kind = {"name": "fixed_length_utf32", "configuration": told}
        yield _refused(what, name, f"It has no configuration {told!r}.", _told(data_type=kind))
    yield _refused(
        "name-alone",
        "configuration",
        "A length is required.",
        _told(data_type="fixed_length_utf32"),
    )
    yield _refused(
        "endian", "endian", "Four bytes need a byte order.", _told(codecs=[{"name": "bytes"}])
    )
    for codec in ("vlen-utf8", "vlen-bytes"):
        yield _refused(
            codec, "no-vlen", "Elements have a fixed size.", _told(codecs=[{"name": codec}])
        )
    for what, length in (("short", 59), ("long", 61)):
        yield Case(
            f"ext-data-types/fixed-length-utf32/damage-{what}",
            _clauses("bytes"),
            "A chunk of another size is refused.",
            "read",
            Reject("chunk"),
            {"zarr.json": document(_told()), "c/0": bytes(length)},
            needs=_NEEDS,
        )
    beyond = np.array([0x110000, 0, 0], "<u4").tobytes() * 5
    yield Case(
        "ext-data-types/fixed-length-utf32/beyond-unicode",
        _clauses("bytes"),
        "What is no code point may be refused.",
        "read",
        Either(Node("array")),
        {"zarr.json": document(_told()), "c/0": beyond},
        needs=_NEEDS,
    )
