"""The registered codec packbits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Case, Either, Node, Reject, Values
from zarr_conformance.corpus.encode import gzip, json_text, raw
from zarr_conformance.corpus.ext_cases import GZIP, read_case, reject_case, write_case

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NEEDS = ("codec:packbits",)


def packed(parts: Sequence[int], bits: int, padding: str = "none") -> bytes:
    """Return the encoded form of components with this number of bits, least significant bit first."""
    whole = 0
    for place, part in enumerate(parts):
        whole |= part << place * bits
    length = -(-len(parts) * bits // 8)
    data = whole.to_bytes(length, "little")
    padding_bits = bytes([length * 8 - len(parts) * bits])
    return {"none": data, "first_byte": padding_bits + data, "last_byte": data + padding_bits}[
        padding
    ]


def _clauses(*names: str) -> tuple[str, ...]:
    return tuple(f"ext-codecs.packbits.{it}" for it in names)


def _codec(**configuration: Any) -> list[Any]:
    return [{"name": "packbits", "configuration": configuration}]


def _round_trip(
    what: str,
    clauses: tuple[str, ...],
    summary: str,
    values: Any,
    stored: bytes,
    codecs: list[Any],
    **members: Any,
) -> Iterator[Case]:
    needs = (*_NEEDS, *members.pop("needs", ()))
    for kind, make in (("read", read_case), ("created", write_case)):
        yield make(
            f"ext-codecs/packbits/{what}-{kind}",
            clauses,
            summary,
            stored,
            values=values,
            needs=needs,
            codecs=codecs,
            **members,
        )


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _booleans()
    yield from _numbers()
    yield from _bits()
    yield from _small()
    yield from _reject_case()
    yield from _corrupt()


def _booleans() -> Iterator[Case]:
    # A palindrome, so that the example is valid for either bit order.
    even = np.array([1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1][:8], bool)
    mirror = np.array([1, 0, 1, 0, 0, 1, 0, 1], bool)
    some = np.array([1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1], bool)
    for kind, values in (("one-byte", even), ("mirrored", mirror), ("eleven", some)):
        for padding in ("none", "last_byte", *(("first_byte",) if kind != "eleven" else ())):
            yield from _round_trip(
                f"bool-{kind}-{padding.replace('_', '-')}",
                _clauses("name", "elements", "padding-encoding", "data-types")
                + (_clauses(padding.replace("_", "-")) if padding != "none" else ()),
                "bool elements take one bit each.",
                values,
                packed(values.astype(int).tolist(), 1, padding),
                _codec(padding_encoding=padding),
                fill_value=False,
            )
    for kind, codecs in (
        ("name", ["packbits"]),
        ("object", [{"name": "packbits"}]),
        ("empty", _codec()),
        ("null", _codec(first_bit=None, last_bit=None)),
    ):
        yield read_case(
            f"ext-codecs/packbits/default-{kind}",
            _clauses("padding-default", "first-bit", "last-bit"),
            "By default all bits are kept and the padding is not stored.",
            packed(some.astype(int).tolist(), 1),
            Either(Node(values=Values(raw(some)))) if kind == "name" else None,
            values=some,
            needs=_NEEDS,
            fill_value=False,
            codecs=codecs,
        )
    yield read_case(
        "ext-codecs/packbits/bool-eleven-first-byte",
        _clauses("first-byte"),
        "The specification refers to numcodecs, which stores the highest bit first: either is accepted.",
        packed(some.astype(int).tolist(), 1, "first_byte"),
        Either(Node("array")),
        values=some,
        needs=_NEEDS,
        fill_value=False,
        codecs=_codec(padding_encoding="first_byte"),
    )


def _numbers() -> Iterator[Case]:
    for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        values = np.array([0, 1, 100, 77, 3], np.dtype(name).newbyteorder("<"))
        if name.startswith("i"):
            values = -values
        yield from _round_trip(
            f"whole-{name}",
            _clauses("elements", "data-types"),
            "With all bits, the result is the little-endian form.",
            values,
            raw(values),
            _codec(),
        )
    for name in ("float32", "float64"):
        values = np.array([0, -1.5, 3e30], np.dtype(name).newbyteorder("<"))
        yield from _round_trip(
            f"whole-{name}",
            _clauses("elements", "data-types"),
            "With all bits, the result is the little-endian form.",
            values,
            raw(values),
            _codec(),
        )


def _bits() -> Iterator[Case]:
    three = np.array([0, 1, 5, 7, 2, 6, 3], "u1")
    yield from _round_trip(
        "last-bit",
        _clauses("last-bit", "elements"),
        "Three bits of each element.",
        three,
        packed(three.tolist(), 3),
        _codec(last_bit=2),
    )
    yield from _round_trip(
        "last-bit-first-byte",
        _clauses("last-bit", "first-byte", "padding-encoding"),
        "The number of padding bits is stored first.",
        three,
        packed(three.tolist(), 3, "first_byte"),
        _codec(last_bit=2, padding_encoding="first_byte"),
    )
    yield from _round_trip(
        "last-bit-last-byte",
        _clauses("last-bit", "last-byte", "padding-encoding"),
        "The number of padding bits is stored last.",
        three,
        packed(three.tolist(), 3, "last_byte"),
        _codec(last_bit=2, padding_encoding="last_byte"),
    )
    high = np.array([0x000, 0x120, 0xFF0, 0x340], "<u2")
    yield from _round_trip(
        "first-bit",
        _clauses("first-bit", "last-bit", "elements", "extended", "bit-order"),
        "Eight bits from the middle.",
        high,
        packed([it >> 4 for it in high.tolist()], 8),
        _codec(first_bit=4, last_bit=11),
    )
    yield write_case(
        "ext-codecs/packbits/bits-lost",
        _clauses("first-bit", "last-bit"),
        "Bits outside the range are lost.",
        packed([0xA, 0xC], 4),
        values=np.array([0x1AF, 0x2C1], "<u2"),
        needs=_NEEDS,
        codecs=_codec(first_bit=4, last_bit=7),
    )
    signed = np.array([-1, -8, 7, 0, 3, -4], "<i4")
    yield from _round_trip(
        "signed",
        _clauses("extended", "last-bit"),
        "Signed integers are sign-extended.",
        signed,
        packed([it & 15 for it in signed.tolist()], 4),
        _codec(last_bit=3),
    )
    shifted = np.array([-16, 16, -64, 48], "i1")
    yield from _round_trip(
        "signed-first-bit",
        _clauses("extended", "first-bit"),
        "Signed integers are sign-extended from the highest stored bit.",
        shifted,
        packed([it >> 4 & 15 for it in shifted.tolist()], 4),
        _codec(first_bit=4),
    )
    yield from _round_trip(
        "sixty-four-bits",
        _clauses("last-bit", "elements"),
        "Sixty-three bits of each element.",
        np.array([2**62 + 1, 5, 2**63 - 1], "<u8"),
        packed([2**62 + 1, 5, 2**63 - 1], 63),
        _codec(last_bit=62),
    )
    yield read_case(
        "ext-codecs/packbits/gzip",
        _clauses("elements"),
        "Compressors may follow.",
        gzip(packed(three.tolist(), 3)),
        values=three,
        needs=_NEEDS,
        codecs=[*_codec(last_bit=2), GZIP],
    )
    table = np.arange(12, dtype="u1").reshape(3, 4)
    yield from _round_trip(
        "two-dimensions",
        _clauses("elements", "last-bit"),
        "Elements are stored in C order.",
        table,
        packed(table.reshape(-1).tolist(), 4),
        _codec(last_bit=3),
    )


_SMALL = {
    "int2": (2, [0, 1, 2, 3, 1]),
    "uint2": (2, [0, 1, 2, 3, 3]),
    "int4": (4, [0, 7, 8, 15, 3]),
    "uint4": (4, [0, 7, 8, 15, 3]),
    "float4_e2m1fn": (4, [0, 2, 10, 15, 1]),
    "float6_e2m3fn": (6, [0, 8, 40, 63, 1]),
    "float6_e3m2fn": (6, [0, 8, 40, 63, 1]),
}


def _small() -> Iterator[Case]:
    for name, (bits, parts) in _SMALL.items():
        whole = np.array(parts, "u1")
        yield read_case(
            f"ext-codecs/packbits/{name.replace('_', '-')}",
            _clauses("elements", "data-types"),
            f"Elements of {name} take {bits} bits each.",
            packed(parts, bits),
            values=whole,
            needs=(*_NEEDS, f"data_type:{name}"),
            data_type=name,
            codecs=_codec(),
        )
        if name.startswith("float"):
            pairs = np.array([parts[:2], parts[2:4]], "u1")
            yield read_case(
                f"ext-codecs/packbits/complex-{name.replace('_', '-')}",
                _clauses("components", "data-types"),
                f"A complex number is two components of {bits} bits.",
                packed(parts[:4], bits),
                values=np.frombuffer(pairs.tobytes(), "V2"),
                needs=(*_NEEDS, f"data_type:complex_{name}"),
                data_type=f"complex_{name}",
                fill_value=[0.0, 0.0],
                codecs=_codec(),
            )
    bfloat = np.array([0x3FC0, 0xC000, 0x0000], "<u2")
    yield read_case(
        "ext-codecs/packbits/bfloat16",
        _clauses("elements", "data-types"),
        "All bits of bfloat16.",
        raw(bfloat),
        values=bfloat,
        needs=(*_NEEDS, "data_type:bfloat16"),
        data_type="bfloat16",
        codecs=_codec(),
    )
    pair = np.array([1 + 2j, -3.5j], "<c8")
    yield read_case(
        "ext-codecs/packbits/complex-float32",
        _clauses("components", "data-types"),
        "All bits of both parts.",
        raw(pair),
        values=pair,
        needs=(*_NEEDS, "data_type:complex_float32"),
        data_type="complex_float32",
        fill_value=[0.0, 0.0],
        codecs=_codec(),
    )
    upper = [it >> 16 for it in pair.view("<u4").tolist()]
    yield read_case(
        "ext-codecs/packbits/complex-float32-bits",
        _clauses("components", "first-bit", "extended"),
        "first_bit and last_bit apply to each part.",
        packed(upper, 16),
        values=pair,
        needs=(*_NEEDS, "data_type:complex_float32"),
        data_type="complex_float32",
        fill_value=[0.0, 0.0],
        codecs=_codec(first_bit=16),
    )


def _reject_case() -> Iterator[Case]:
    values = np.zeros(4, "u1")
    for kind, configuration, clause in (
        ("padding-other", {"padding_encoding": "middle"}, "padding-encoding"),
        ("padding-null", {"padding_encoding": None}, "padding-encoding"),
        ("padding-number", {"padding_encoding": 1}, "padding-encoding"),
        ("first-bit-negative", {"first_bit": -1}, "first-bit"),
        ("first-bit-text", {"first_bit": "0"}, "first-bit"),
        ("first-bit-fraction", {"first_bit": 0.5}, "first-bit"),
        ("first-bit-beyond", {"first_bit": 8}, "first-bit"),
        ("last-bit-beyond", {"last_bit": 8}, "last-bit"),
        ("last-bit-text", {"last_bit": "7"}, "last-bit"),
        ("last-bit-below-first", {"first_bit": 5, "last_bit": 4}, "bit-order"),
        ("further-member", {"unknown": 1}, "padding-encoding"),
    ):
        yield reject_case(
            f"ext-codecs/packbits/no-{kind}",
            _clauses(clause),
            f"{json_text(configuration)} is not a valid configuration of packbits for uint8.",
            values=values,
            codecs=_codec(**configuration),
        )
    yield reject_case(
        "ext-codecs/packbits/no-strings",
        _clauses("data-types"),
        "Strings have no fixed number of bits.",
        values=values,
        data_type="string",
        fill_value="",
        codecs=_codec(),
    )
    yield reject_case(
        "ext-codecs/packbits/names-of-the-schema",
        _clauses("first-bit", "last-bit"),
        "The schema has other names than the specification.",
        Either(Node("array")),
        values=values,
        codecs=_codec(start_bit=0, end_bit=3, padding_encoding="start_byte"),
    )


def _corrupt() -> Iterator[Case]:
    values = np.array([0, 1, 5, 7, 2, 6, 3], "u1")
    good = packed(values.tolist(), 3)
    for kind, stored, options in (
        ("short", good[:-1], {}),
        ("long", good + b"\0", {}),
        ("empty", b"", {}),
        ("first-byte-left-out", good, {"padding_encoding": "first_byte"}),
        ("last-byte-left-out", good, {"padding_encoding": "last_byte"}),
    ):
        yield read_case(
            f"ext-codecs/packbits/damage-{kind}",
            _clauses("elements"),
            "A chunk with a wrong size is an error.",
            stored,
            Reject("chunk"),
            values=values,
            needs=_NEEDS,
            codecs=_codec(last_bit=2, **options),
        )
    for padding in ("first_byte", "last_byte"):
        stored = packed(values.tolist(), 3, padding)
        wrong = b"\2" + stored[1:] if padding == "first_byte" else stored[:-1] + b"\2"
        yield read_case(
            f"ext-codecs/packbits/damage-{padding.replace('_', '-')}-wrong",
            _clauses(padding.replace("_", "-")),
            "Readers may check the number of padding bits.",
            wrong,
            Either(Node(values=Values(raw(values)))),
            values=values,
            needs=_NEEDS,
            codecs=_codec(last_bit=2, padding_encoding=padding),
        )
    yield read_case(
        "ext-codecs/packbits/padding-not-zero",
        _clauses("elements"),
        "Padding bits are written as zeros; readers may accept or reject ones.",
        good[:-1] + bytes([good[-1] | 0x80]),
        Either(Node(values=Values(raw(values)))),
        values=values,
        needs=_NEEDS,
        codecs=_codec(last_bit=2),
    )
