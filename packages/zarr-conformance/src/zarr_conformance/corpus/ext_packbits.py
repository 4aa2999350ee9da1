"""The registered codec packbits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Case, Either, Node, Values
from zarr_conformance.corpus.case_tables import table_cases
from zarr_conformance.corpus.encode import raw
from zarr_conformance.corpus.one_chunk import read_case, write_case

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NEEDS = ("codec:packbits",)


def packed(parts: Sequence[int], bits: int, padding: str = "none") -> bytes:
    """Return the encoded form of components with this number of bits, least significant bit first."""
    whole = 0
    for position, part in enumerate(parts):
        whole |= part << position * bits
    length = -(-len(parts) * bits // 8)
    data = whole.to_bytes(length, "little")
    padding_bits = bytes([length * 8 - len(parts) * bits])
    return {"none": data, "first_byte": padding_bits + data, "last_byte": data + padding_bits}[
        padding
    ]


def _clauses(*names: str) -> tuple[str, ...]:
    return tuple(f"ext-codecs.packbits.{name}" for name in names)


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
    yield from table_cases("ext_packbits", "bits")
    yield from _small()
    yield from table_cases("ext_packbits", "invalid", "corrupt")


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
    upper = [item >> 16 for item in pair.view("<u4").tolist()]
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
