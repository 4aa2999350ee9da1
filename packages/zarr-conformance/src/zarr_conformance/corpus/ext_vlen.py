"""The registered codecs for variable-length elements: vlen-utf8, vlen-bytes."""

from __future__ import annotations

import base64
import json
import struct
from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.case_tables import table_cases
from zarr_conformance.corpus.encode import document
from zarr_conformance.corpus.metadata import array, regular

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_conformance.corpus.case import Expectation

STRINGS = ["", "a", "Zarr", "é", "日本語", "🙂", 'a "quote"', " \n\t", "long " * 40]
OCTETS = [b"", b"a", b"\0", b"\xff\xfe", b"Zarr\0", bytes(range(256))]
_DATA_TYPES = {"vlen-utf8": "string", "vlen-bytes": "bytes"}


def encoded(items: Sequence[bytes], count: int | None = None) -> bytes:
    """Return a chunk: the number of elements, then each element after its length."""
    number = len(items) if count is None else count
    return struct.pack("<I", number) + b"".join(
        struct.pack("<I", len(item)) + item for item in items
    )


_ENCODERS = {
    "vlen-utf8": lambda items: encoded([element.encode() for element in items]),
    "vlen-bytes": lambda items: encoded([base64.b64decode(element) for element in items]),
}


def _plain(items: Sequence[Any]) -> list[str]:
    """Return the elements in JSON: bytes in base64."""
    return [base64.b64encode(item).decode() if isinstance(item, bytes) else item for item in items]


def _single_bytes(items: Sequence[Any]) -> list[bytes]:
    return [item if isinstance(item, bytes) else item.encode() for item in items]


def _read_case(
    codec: str,
    what: str,
    clauses: tuple[str, ...],
    summary: str,
    length: int,
    stored: bytes,
    expect: Expectation,
) -> Case:
    """Return a case that reads an array of strings or bytes in one chunk."""
    metadata = array(
        shape=[length],
        chunk_grid=regular(length),
        data_type=_DATA_TYPES[codec],
        fill_value="",
        codecs=[{"name": codec}],
    )
    return Case(
        f"ext-codecs/{codec}/{what}",
        tuple(f"ext-codecs.{codec}.{clause}" for clause in clauses),
        summary,
        "read",
        expect,
        {"zarr.json": document(metadata), "c/0": stored},
        needs=(f"codec:{codec}", f"data_type:{_DATA_TYPES[codec]}"),
    )


def _node(items: Sequence[Any]) -> Node:
    return Node(values=Values(json.dumps(_plain(items), ensure_ascii=False).encode(), "json"))


def cases() -> Iterator[Case]:
    """Yield the cases."""
    items: Sequence[Any]
    for codec, items in (("vlen-utf8", STRINGS), ("vlen-bytes", OCTETS)):
        plain = _plain(items)
        cells = {
            "codec": codec,
            "data_type": _DATA_TYPES[codec],
            "other": _DATA_TYPES["vlen-bytes" if codec == "vlen-utf8" else "vlen-utf8"],
            "count": len(items),
            "items": plain,
            "first": plain[:4],
            **dict(zip("abcd", plain, strict=False)),
            "beyond": _plain(["beyond" if codec == "vlen-utf8" else b"beyond"])[0],
        }
        yield from table_cases("ext_vlen", "elements", cells=cells, encoders=_ENCODERS)
        yield from _single(codec, items)
        yield from table_cases("ext_vlen", "arrays", "chains", cells=cells, encoders=_ENCODERS)
        yield from _corrupt(codec, items)
        yield from table_cases("ext_vlen", "invalid", cells=cells, encoders=_ENCODERS)
    yield from _utf8()
    yield from table_cases("ext_vlen", "fills")
    for codec, data_type in _DATA_TYPES.items():
        cells = {"codec": codec, "data_type": data_type}
        yield from table_cases("ext_vlen", "data_types", cells=cells)


def _single(codec: str, items: Sequence[Any]) -> Iterator[Case]:
    for number, item in enumerate(items):
        yield _read_case(
            codec,
            f"element-{number}",
            ("elements", "count"),
            f"The single element {item[:8]!r}.",
            1,
            encoded(_single_bytes([item])),
            Accept(_node([item])),
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
            3,
            stored,
            Reject("chunk"),
        )
    yield _read_case(
        codec,
        "damage-trailing",
        ("elements",),
        "The specification does not define bytes after the last element.",
        3,
        good + b"what is this",
        Either(_node(items[1:4])),
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
            2,
            encoded([b"a", data]),
            Reject("chunk"),
        )
    yield from table_cases("ext_vlen", "utf8", encoders=_ENCODERS)
