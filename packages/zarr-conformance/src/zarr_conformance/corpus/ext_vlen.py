"""The registered codecs for variable-length elements: vlen-utf8, vlen-bytes."""

from __future__ import annotations

import base64
import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import (
    Accept,
    Case,
    Either,
    Node,
    Reject,
    Values,
    refused_fill_value,
)
from zarr_conformance.corpus.encode import document, gzip, json_text, shard
from zarr_conformance.corpus.ext_cases import BYTES, GZIP, extension, sharding_codec
from zarr_conformance.corpus.metadata import array, regular

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_conformance.corpus.case import Expectation

STRINGS = ["", "a", "Zarr", "é", "日本語", "🙂", 'a "quote"', " \n\t", "long " * 40]
OCTETS = [b"", b"a", b"\0", b"\xff\xfe", b"Zarr\0", bytes(range(256))]
_KINDS = {"vlen-utf8": ("string", ""), "vlen-bytes": ("bytes", "")}


def encoded(items: Sequence[bytes], count: int | None = None) -> bytes:
    """Return a chunk: the number of elements, then each element after its length."""
    number = len(items) if count is None else count
    return struct.pack("<I", number) + b"".join(struct.pack("<I", len(it)) + it for it in items)


def listed(items: Sequence[Any]) -> Values:
    """Return the elements as the values of a case."""
    plain = [base64.b64encode(it).decode() if isinstance(it, bytes) else it for it in items]
    return Values(json.dumps(plain, ensure_ascii=False).encode(), "json")


def _single_bytes(items: Sequence[Any]) -> list[bytes]:
    return [it if isinstance(it, bytes) else it.encode() for it in items]


def _metadata(codec: str, length: int, **members: Any) -> dict[str, Any]:
    data_type, fill = _KINDS[codec]
    plain = {
        "shape": [length],
        "chunk_grid": regular(max(1, length)),
        "data_type": data_type,
        "fill_value": fill,
        "codecs": [{"name": codec}],
    }
    return array(**(plain | members))


def _read_case(
    codec: str,
    what: str,
    clauses: Any,
    summary: str,
    items: Sequence[Any],
    stored: bytes | None,
    expect: Expectation | None = None,
    **members: Any,
) -> Case:
    """Return a case that reads an array of strings or bytes in one chunk."""
    data_type = _KINDS[codec][0]
    metadata = _metadata(codec, len(items), **members)
    return Case(
        f"ext-codecs/{codec}/{what}",
        tuple(it if "ext-" in it or "v3-" in it else f"ext-codecs.{codec}.{it}" for it in clauses),
        summary,
        "read",
        expect or Accept(Node(values=listed(items))),
        {"zarr.json": document(metadata), **({} if stored is None else {"c/0": stored})},
        needs=(f"codec:{codec}", f"data_type:{data_type}"),
    )


def cases() -> Iterator[Case]:
    """Yield the cases."""
    for codec, items in (("vlen-utf8", STRINGS), ("vlen-bytes", OCTETS)):
        yield from _elements(codec, items)
        yield from _chains(codec, items)
        yield from _corrupt(codec, items)
        yield from _reject_case(codec)
    yield from _utf8()
    yield from _fills()


def _elements(codec: str, items: Sequence[Any]) -> Iterator[Case]:
    type_clause = f"ext-data-types.{_KINDS[codec][0]}.elements"
    all_of_it = ("name", "data-type", "count", "elements", type_clause)
    stored = encoded(_single_bytes(items))
    yield _read_case(codec, "whole", all_of_it, "Elements of various lengths.", items, stored)
    for number, item in enumerate(items):
        yield _read_case(
            codec,
            f"element-{number}",
            ("elements", "count"),
            f"The single element {item[:8]!r}.",
            [item],
            encoded(_single_bytes([item])),
        )
    for form, definition in (
        ("short", codec),
        ("configured", {"name": codec, "configuration": {}}),
    ):
        yield _read_case(
            codec,
            f"form-{form}",
            ("name", "v3-core.extensions.short-hand" if form == "short" else "name"),
            "The codec has no configuration, so all forms are equivalent.",
            items,
            stored,
            codecs=[definition],
        )
    yield Case(
        f"ext-codecs/{codec}/created",
        tuple(f"ext-codecs.{codec}.{it}" for it in ("name", "count", "elements")),
        "The stored bytes are exact.",
        "create",
        Accept(Node(values=listed(items), stored={"c/0": stored})),
        needs=(f"codec:{codec}", f"data_type:{_KINDS[codec][0]}"),
        document=_metadata(codec, len(items)),
    )
    square = list(items[:4])
    yield Case(
        f"ext-codecs/{codec}/two-dimensions",
        (f"ext-codecs.{codec}.elements",),
        "Elements are stored in C order.",
        "read",
        Accept(Node(values=listed(square))),
        {
            "zarr.json": document(_metadata(codec, 4, shape=[2, 2], chunk_grid=regular(2, 2))),
            "c/0/0": encoded(_single_bytes(square)),
        },
        needs=(f"codec:{codec}", f"data_type:{_KINDS[codec][0]}"),
    )
    yield Case(
        f"ext-codecs/{codec}/border",
        (f"ext-codecs.{codec}.count", "v3-chunks.regular.border"),
        "A chunk at the edge contains all of its elements.",
        "read",
        Accept(Node(values=listed(items[:3]))),
        {
            "zarr.json": document(_metadata(codec, 3, chunk_grid=regular(2))),
            "c/0": encoded(_single_bytes(items[:2])),
            "c/1": encoded([*_single_bytes(items[2:3]), b"beyond"]),
        },
        needs=(f"codec:{codec}", f"data_type:{_KINDS[codec][0]}"),
    )


def _chains(codec: str, items: Sequence[Any]) -> Iterator[Case]:
    stored = encoded(_single_bytes(items))
    plain = {"name": codec}
    yield _read_case(
        codec,
        "gzip",
        ("elements",),
        "Compressors may follow.",
        items,
        gzip(stored),
        codecs=[plain, GZIP],
    )
    yield _read_case(
        codec,
        "shards",
        ("elements", "count"),
        "Inner chunks have their own number of elements.",
        items[:4],
        shard({n: encoded(_single_bytes(items[2 * n : 2 * n + 2])) for n in range(2)}, 2),
        codecs=[sharding_codec([plain], 2)],
    )
    turned = [items[n] for n in (0, 2, 1, 3)]
    yield Case(
        f"ext-codecs/{codec}/transpose",
        (f"ext-codecs.{codec}.elements", "v3-core.codecs.order"),
        "array -> array codecs may precede it.",
        "read",
        Accept(Node(values=listed(items[:4]))),
        {
            "zarr.json": document(
                _metadata(
                    codec,
                    4,
                    shape=[2, 2],
                    chunk_grid=regular(2, 2),
                    codecs=[extension("transpose", order=[1, 0]), plain],
                )
            ),
            "c/0/0": encoded(_single_bytes(turned)),
        },
        needs=(f"codec:{codec}", f"data_type:{_KINDS[codec][0]}"),
    )


def _corrupt(codec: str, items: Sequence[Any]) -> Iterator[Case]:
    some = _single_bytes(items[1:4])
    good = encoded(some)
    for what, stored, clause in (
        ("empty", b"", "count"),
        ("cut-count", good[:3], "count"),
        ("count-alone", good[:4], "elements"),
        ("fewer", encoded(some[:2]), "count"),
        ("more", encoded([*some, b"x"]), "count"),
        ("count-less", encoded(some, 2), "count"),
        ("count-more", encoded(some, 4), "count"),
        ("count-huge", encoded(some, 2**32 - 1), "count"),
        ("count-of-8-gigabytes", encoded(some, 2**31), "count"),
        ("cut", good[:-1], "elements"),
        ("cut-length", good[:6], "elements"),
        ("length-beyond", good[:4] + struct.pack("<I", 1000) + good[8:], "elements"),
        ("length-huge", good[:4] + struct.pack("<I", 2**32 - 1) + good[8:], "elements"),
    ):
        yield _read_case(
            codec,
            f"damage-{what}",
            (clause,),
            "A chunk that does not match its lengths is an error.",
            ["", "", ""],
            stored,
            Reject("chunk"),
        )
    yield _read_case(
        codec,
        "damage-trailing",
        ("elements",),
        "The specification does not define bytes after the last element.",
        ["", "", ""],
        good + b"what is this",
        Either(Node(values=listed(items[1:4]))),
    )


def _reject_case(codec: str) -> Iterator[Case]:
    other = {"vlen-utf8": "bytes", "vlen-bytes": "string"}[codec]
    long = {"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}}
    for name, data_type, fill in (
        ("int32", "int32", 0),
        ("float64", "float64", 0.0),
        ("bool", "bool", False),
        (other, other, ""),
        ("fixed-length", long, ""),
    ):
        yield Case(
            f"ext-codecs/{codec}/no-{name}",
            (f"ext-codecs.{codec}.data-type",),
            f"{codec} is not compatible with {name}.",
            "read",
            Reject("metadata", "extension"),
            {
                "zarr.json": document(_metadata(codec, 2, data_type=data_type, fill_value=fill)),
                "c/0": encoded([b"\xff\0\0\0", b"\1\0\0\0"]),
            },
        )
    for what, codecs in (
        ("configuration", [extension(codec, level=1)]),
        ("behind-bytes", [BYTES, {"name": codec}]),
    ):
        yield Case(
            f"ext-codecs/{codec}/no-{what}",
            (f"ext-codecs.{codec}.name" if what == "configuration" else "v3-core.codecs.kinds",),
            "The configuration or the position of the codec is invalid.",
            "open",
            Reject("metadata", "extension"),
            {"zarr.json": document(_metadata(codec, 2, codecs=codecs))},
        )


def _utf8() -> Iterator[Case]:
    for what, data in (
        ("latin-1", b"\xe9"),
        ("cut", "é".encode()[:1]),
        ("surrogate", b"\xed\xa0\x80"),
        ("too-long", b"\xc0\x80"),
        ("beyond", b"\xf4\x90\x80\x80"),
    ):
        yield _read_case(
            "vlen-utf8",
            f"damage-utf-8-{what}",
            ("utf-8",),
            "Bytes that are not valid UTF-8 are an error.",
            ["", ""],
            encoded([b"a", data]),
            Reject("chunk"),
        )
    text = ["Ω", "e\u0301", "\ufeffa", "a\0b", "\0", "\U0010ffff"]
    yield _read_case(
        "vlen-utf8",
        "characters",
        ("utf-8", "elements", "ext-data-types.string.elements"),
        "Strings are not normalized, keep byte order marks and do not end at a zero.",
        text,
        encoded([it.encode() for it in text]),
    )


def _fills() -> Iterator[Case]:
    fill: Any
    for what, codec, fill, value in (
        ("empty", "vlen-utf8", "", ""),
        ("text", "vlen-utf8", "foo", "foo"),
        ("characters", "vlen-utf8", "é🙂\n", "é🙂\n"),
        ("list", "vlen-bytes", [1, 2, 255], b"\1\2\xff"),
        ("list-empty", "vlen-bytes", [], b""),
        ("base64", "vlen-bytes", "AQID", b"\1\2\3"),
        ("base64-empty", "vlen-bytes", "", b""),
        ("base64-padded", "vlen-bytes", "/w==", b"\xff"),
    ):
        clause = f"ext-data-types.{_KINDS[codec][0]}.fill"
        yield _read_case(
            codec,
            f"fill-{what}",
            (clause,),
            f"The fill value {json_text(fill)}.",
            [value] * 2,
            None,
            fill_value=fill,
        )
    for what, codec, fill in (
        ("null", "vlen-utf8", None),
        ("number", "vlen-utf8", 0),
        ("list", "vlen-utf8", [1]),
        ("true", "vlen-utf8", True),
        ("null", "vlen-bytes", None),
        ("number", "vlen-bytes", 0),
        ("too-large", "vlen-bytes", [256]),
        ("negative", "vlen-bytes", [-1]),
        ("fraction", "vlen-bytes", [1.5]),
        ("text-in-list", "vlen-bytes", ["a"]),
        ("no-base64", "vlen-bytes", "A"),
        ("other-characters", "vlen-bytes", "é==="),
    ):
        data_type = _KINDS[codec][0]
        yield Case(
            f"ext-data-types/{data_type}/no-fill-{what}",
            (f"ext-data-types.{data_type}.fill",),
            f"{json_text(fill)} is not a valid fill value of {data_type}.",
            "open",
            refused_fill_value(fill, "metadata", "extension"),
            {"zarr.json": document(_metadata(codec, 2, fill_value=fill))},
        )
    values = np.zeros(2, "<i4")
    for data_type, codec in (("string", "vlen-utf8"), ("bytes", "vlen-bytes")):
        for form, definition in (
            ("object", {"name": data_type}),
            ("configured", {"name": data_type, "configuration": {}}),
        ):
            yield _read_case(
                codec,
                f"data-type-{form}",
                (f"ext-data-types.{data_type}.name",),
                "A data type without configuration may be an object.",
                ["", ""] if data_type == "string" else [b"", b""],
                None,
                Either(Node("array")),
                data_type=definition,
            )
        yield Case(
            f"ext-data-types/{data_type}/no-configuration",
            (f"ext-data-types.{data_type}.name",),
            "The data type has no configuration.",
            "open",
            Reject("metadata", "extension"),
            {
                "zarr.json": document(
                    _metadata(codec, len(values), data_type=extension(data_type, length_bytes=4))
                )
            },
        )
