"""The registered codec conditional."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Case, Either, Node, Reject, Values
from zarr_conformance.corpus.encode import crc32c, gzip, raw
from zarr_conformance.corpus.ext_cases import (
    BYTES,
    CRC32C,
    GZIP,
    VALUES,
    created,
    named,
    read,
    refused,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_NEEDS = ("codec:conditional",)
_DATA = raw(VALUES)


def _clauses(*names: str) -> tuple[str, ...]:
    return tuple(f"ext-codecs.conditional.{it}" for it in names)


def _chain(codecs: Any, *behind: Any, **more: Any) -> list[Any]:
    return [BYTES, named("conditional", codecs=codecs, **more), *behind]


def cases() -> Iterator[Case]:
    """All of them."""
    yield from _decoded()
    yield from _encoded()
    yield from _refused()
    yield from _damage()


def _decoded() -> Iterator[Case]:
    both = [CRC32C, GZIP]
    always = ("codecs", "header", "bits", "decode")
    for what, mask, stored in (
        ("none", 0, _DATA),
        ("first", 1, crc32c(_DATA)),
        ("second", 2, gzip(_DATA)),
        ("both", 3, gzip(crc32c(_DATA))),
    ):
        yield read(
            f"ext-codecs/conditional/applied-{what}",
            _clauses(*always, "header-bits-default"),
            "The mask says which codecs have been applied.",
            bytes([mask]) + stored,
            needs=_NEEDS,
            codecs=_chain(both),
        )
        yield read(
            f"ext-codecs/conditional/sixteen-bits-{what}",
            _clauses(*always, "header-bits", "header-bits-enough"),
            "The header takes header_bits / 8 bytes, the lowest first.",
            bytes([mask, 0]) + stored,
            needs=_NEEDS,
            codecs=_chain(both, header_bits=16),
        )
    yield read(
        "ext-codecs/conditional/names",
        _clauses("codecs", "bits"),
        "A codec within may be given by its name.",
        b"\1" + crc32c(_DATA),
        needs=_NEEDS,
        codecs=_chain(["crc32c"]),
    )
    nine = [CRC32C] * 8 + [GZIP]
    for what, mask, stored in (
        ("none", 0, _DATA),
        ("ninth", 1 << 8, gzip(_DATA)),
        ("first-and-ninth", 1 << 8 | 1, gzip(crc32c(_DATA))),
        ("eighth", 1 << 7, crc32c(_DATA)),
    ):
        yield read(
            f"ext-codecs/conditional/nine-{what}",
            _clauses(*always, "header-bits-default"),
            "Nine codecs take a header of two bytes.",
            mask.to_bytes(2, "little") + stored,
            needs=_NEEDS,
            codecs=_chain(nine),
        )
    yield read(
        "ext-codecs/conditional/behind",
        _clauses("header", "decode"),
        "Codecs behind it get header and data.",
        crc32c(b"\1" + gzip(_DATA)),
        needs=_NEEDS,
        codecs=_chain([GZIP], CRC32C),
    )
    yield read(
        "ext-codecs/conditional/before",
        _clauses("header", "decode"),
        "Codecs before it are undone behind it.",
        b"\0" + crc32c(_DATA),
        needs=_NEEDS,
        codecs=[BYTES, CRC32C, named("conditional", codecs=[GZIP])],
    )
    inner = named("conditional", codecs=[GZIP])
    yield read(
        "ext-codecs/conditional/nested",
        _clauses("codecs", "decode"),
        "It may stand within itself.",
        b"\1\1" + gzip(_DATA),
        needs=_NEEDS,
        codecs=_chain([inner]),
    )
    yield read(
        "ext-codecs/conditional/no-codecs",
        _clauses("codecs"),
        "A list without codecs: eight bits, or none, is the smallest multiple.",
        b"\0" + _DATA,
        Either(Node("array")),
        needs=_NEEDS,
        codecs=_chain([], header_bits=8),
    )


def _encoded() -> Iterator[Case]:
    for what, codecs, more, header in (
        ("one", [GZIP], {}, 1),
        ("two", [CRC32C, GZIP], {}, 1),
        ("nine", [CRC32C] * 9, {}, 2),
        ("wide", [GZIP], {"header_bits": 32}, 4),
    ):
        yield created(
            f"ext-codecs/conditional/created-{what}",
            _clauses("default", "reserved", "header", "header-bits-default"),
            "Without a decision nothing is applied.",
            bytes(header) + _DATA,
            needs=_NEEDS,
            codecs=_chain(codecs, **more),
        )


def _refused() -> Iterator[Case]:
    order = named("transpose", order=[1, 0])
    for what, told, clause in (
        ("codecs-left-out", {}, "codecs"),
        ("codecs-null", {"codecs": None}, "codecs"),
        ("codecs-object", {"codecs": GZIP}, "codecs"),
        ("codecs-array-to-bytes", {"codecs": [BYTES]}, "codecs"),
        ("codecs-array-to-array", {"codecs": [order]}, "codecs"),
        ("codecs-bad-configuration", {"codecs": [named("gzip", level=99)]}, "codecs"),
        ("bits-seven", {"codecs": [GZIP], "header_bits": 7}, "header-bits"),
        ("bits-twelve", {"codecs": [GZIP], "header_bits": 12}, "header-bits"),
        ("bits-negative", {"codecs": [GZIP], "header_bits": -8}, "header-bits"),
        ("bits-text", {"codecs": [GZIP], "header_bits": "8"}, "header-bits"),
        ("bits-fraction", {"codecs": [GZIP], "header_bits": 8.5}, "header-bits"),
        ("bits-zero", {"codecs": [GZIP], "header_bits": 0}, "header-bits-enough"),
        ("bits-too-few", {"codecs": [CRC32C] * 9, "header_bits": 8}, "header-bits-enough"),
        ("further-member", {"codecs": [GZIP], "nobodys": 1}, "codecs"),
    ):
        yield refused(
            f"ext-codecs/conditional/no-{what}",
            _clauses(clause),
            f"The codec conditional has no configuration {told!r}.",
            codecs=[BYTES, {"name": "conditional", "configuration": told}],
        )
    yield refused(
        "ext-codecs/conditional/no-unknown-codec",
        _clauses("codecs"),
        "What nobody knows cannot be undone.",
        Reject("extension", "metadata"),
        codecs=_chain([{"name": "nobody.this"}]),
    )


def _damage() -> Iterator[Case]:
    for what, stored, codecs in (
        ("empty", b"", [GZIP]),
        ("half-header", b"\0", [CRC32C] * 9),
        ("header-alone", b"\0", [GZIP]),
        ("short", b"\0" + _DATA[:-1], [GZIP]),
        ("not-applied", b"\1" + _DATA, [GZIP]),
        ("checksum", b"\1" + crc32c(_DATA)[:-1] + b"?", [CRC32C]),
        ("applied-twice", b"\1" + gzip(gzip(_DATA)), [GZIP]),
    ):
        yield read(
            f"ext-codecs/conditional/damage-{what}",
            _clauses("header"),
            "A chunk that is not what its mask says is refused.",
            stored,
            Reject("chunk"),
            needs=_NEEDS,
            codecs=_chain(codecs),
        )
    yield read(
        "ext-codecs/conditional/reserved-bits",
        _clauses("reserved"),
        "Bits that stand for no codec are written as 0; of those that are not, nothing is said.",
        b"\x80" + _DATA,
        Either(Node(values=Values(_DATA))),
        needs=_NEEDS,
        codecs=_chain([GZIP]),
    )
