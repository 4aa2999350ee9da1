"""The registered codec conditional."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Case, Either, Node, Reject, Values
from zarr_conformance.corpus.encode import crc32c, gzip, json_text, raw
from zarr_conformance.corpus.ext_cases import (
    BYTES,
    CRC32C,
    GZIP,
    VALUES,
    extension,
    read_case,
    reject_case,
    write_case,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_NEEDS = ("codec:conditional",)
_DATA = raw(VALUES)


def _clauses(*names: str) -> tuple[str, ...]:
    return tuple(f"ext-codecs.conditional.{it}" for it in names)


def _chain(codecs: Any, *behind: Any, **more: Any) -> list[Any]:
    return [BYTES, extension("conditional", codecs=codecs, **more), *behind]


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _decoded()
    yield from _encoded()
    yield from _reject_case()
    yield from _corrupt()


def _decoded() -> Iterator[Case]:
    both = [CRC32C, GZIP]
    always = ("codecs", "header", "bits", "decode")
    for what, mask, stored in (
        ("none", 0, _DATA),
        ("first", 1, crc32c(_DATA)),
        ("second", 2, gzip(_DATA)),
        ("both", 3, gzip(crc32c(_DATA))),
    ):
        yield read_case(
            f"ext-codecs/conditional/applied-{what}",
            _clauses(*always, "header-bits-default"),
            "The mask marks the applied codecs.",
            bytes([mask]) + stored,
            needs=_NEEDS,
            codecs=_chain(both),
        )
        yield read_case(
            f"ext-codecs/conditional/sixteen-bits-{what}",
            _clauses(*always, "header-bits", "header-bits-enough"),
            "The header has header_bits / 8 bytes, least significant first.",
            bytes([mask, 0]) + stored,
            needs=_NEEDS,
            codecs=_chain(both, header_bits=16),
        )
    yield read_case(
        "ext-codecs/conditional/names",
        _clauses("codecs", "bits"),
        "An inner codec may be given by its name.",
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
        yield read_case(
            f"ext-codecs/conditional/nine-{what}",
            _clauses(*always, "header-bits-default"),
            "Nine codecs need a header of two bytes.",
            mask.to_bytes(2, "little") + stored,
            needs=_NEEDS,
            codecs=_chain(nine),
        )
    yield read_case(
        "ext-codecs/conditional/behind",
        _clauses("header", "decode"),
        "Codecs after it receive the header and the data.",
        crc32c(b"\1" + gzip(_DATA)),
        needs=_NEEDS,
        codecs=_chain([GZIP], CRC32C),
    )
    yield read_case(
        "ext-codecs/conditional/before",
        _clauses("header", "decode"),
        "Codecs before it are decoded after it.",
        b"\0" + crc32c(_DATA),
        needs=_NEEDS,
        codecs=[BYTES, CRC32C, extension("conditional", codecs=[GZIP])],
    )
    inner = extension("conditional", codecs=[GZIP])
    yield read_case(
        "ext-codecs/conditional/nested",
        _clauses("codecs", "decode"),
        "It may be nested.",
        b"\1\1" + gzip(_DATA),
        needs=_NEEDS,
        codecs=_chain([inner]),
    )
    yield read_case(
        "ext-codecs/conditional/no-codecs",
        _clauses("codecs"),
        "An empty list of codecs: the smallest multiple is eight bits or zero.",
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
        yield write_case(
            f"ext-codecs/conditional/created-{what}",
            _clauses("default", "reserved", "header", "header-bits-default"),
            "Without a decision function no codec is applied.",
            bytes(header) + _DATA,
            needs=_NEEDS,
            codecs=_chain(codecs, **more),
        )


def _reject_case() -> Iterator[Case]:
    order = extension("transpose", order=[1, 0])
    for what, configuration, clause in (
        ("codecs-left-out", {}, "codecs"),
        ("codecs-null", {"codecs": None}, "codecs"),
        ("codecs-object", {"codecs": GZIP}, "codecs"),
        ("codecs-array-to-bytes", {"codecs": [BYTES]}, "codecs"),
        ("codecs-array-to-array", {"codecs": [order]}, "codecs"),
        ("codecs-bad-configuration", {"codecs": [extension("gzip", level=99)]}, "codecs"),
        ("bits-seven", {"codecs": [GZIP], "header_bits": 7}, "header-bits"),
        ("bits-twelve", {"codecs": [GZIP], "header_bits": 12}, "header-bits"),
        ("bits-negative", {"codecs": [GZIP], "header_bits": -8}, "header-bits"),
        ("bits-text", {"codecs": [GZIP], "header_bits": "8"}, "header-bits"),
        ("bits-fraction", {"codecs": [GZIP], "header_bits": 8.5}, "header-bits"),
        ("bits-zero", {"codecs": [GZIP], "header_bits": 0}, "header-bits-enough"),
        ("bits-too-few", {"codecs": [CRC32C] * 9, "header_bits": 8}, "header-bits-enough"),
        ("further-member", {"codecs": [GZIP], "unknown": 1}, "codecs"),
    ):
        yield reject_case(
            f"ext-codecs/conditional/no-{what}",
            _clauses(clause),
            f"{json_text(configuration)} is not a valid configuration of conditional.",
            codecs=[BYTES, {"name": "conditional", "configuration": configuration}],
        )
    yield reject_case(
        "ext-codecs/conditional/no-unknown-codec",
        _clauses("codecs"),
        "An unknown inner codec is an error.",
        Reject("extension", "metadata"),
        codecs=_chain([{"name": "example.new"}]),
    )


def _corrupt() -> Iterator[Case]:
    for what, stored, codecs in (
        ("empty", b"", [GZIP]),
        ("half-header", b"\0", [CRC32C] * 9),
        ("header-alone", b"\0", [GZIP]),
        ("short", b"\0" + _DATA[:-1], [GZIP]),
        ("not-applied", b"\1" + _DATA, [GZIP]),
        ("checksum", b"\1" + crc32c(_DATA)[:-1] + b"?", [CRC32C]),
        ("applied-twice", b"\1" + gzip(gzip(_DATA)), [GZIP]),
    ):
        yield read_case(
            f"ext-codecs/conditional/damage-{what}",
            _clauses("header"),
            "A chunk that does not match its mask is an error.",
            stored,
            Reject("chunk"),
            needs=_NEEDS,
            codecs=_chain(codecs),
        )
    yield read_case(
        "ext-codecs/conditional/reserved-bits",
        _clauses("reserved"),
        "Bits without a codec are written as 0; the specification does not define other values.",
        b"\x80" + _DATA,
        Either(Node(values=Values(_DATA))),
        needs=_NEEDS,
        codecs=_chain([GZIP]),
    )
