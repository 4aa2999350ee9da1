"""Registered numeric data types: small integers, floating-point and complex numbers.

Elements are given by their bits, so that no library for these data types is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import (
    Accept,
    Case,
    Either,
    Node,
    Values,
    refused_fill_value,
)
from zarr_conformance.corpus.encode import document, gzip, json_text, raw
from zarr_conformance.corpus.metadata import array, regular
from zarr_conformance.corpus.one_chunk import BYTES, GZIP, extension

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class _Kind:
    """A data type: bits per element, fill values with their bits, invalid fill values."""

    bits: int
    fills: dict[Any, int]
    wrong: tuple[Any, ...] = ()

    @property
    def width(self) -> int:
        """Bytes per element."""
        return -(-self.bits // 8)


_WORDS = ("Infinity", "-Infinity")
_NONE: tuple[Any, ...] = (None, "zero", [0], {}, True, "0x", "0x0g")
_IEEE = {
    "bfloat16": _Kind(
        16,
        {
            1.5: 0x3FC0,
            -2: 0xC000,
            "NaN": 0x7FC0,
            "Infinity": 0x7F80,
            "-Infinity": 0xFF80,
            "0x7fc1": 0x7FC1,
        },
        ("0x7f", "0x0007fc0"),
    ),
    "float8_e3m4": _Kind(
        8,
        {1.5: 0x38, -2: 0xC0, "NaN": 0x78, "Infinity": 0x70, "-Infinity": 0xF0, "0x79": 0x79},
        ("0x7", "0x0078"),
    ),
    "float8_e4m3": _Kind(
        8,
        {1.5: 0x3C, -2: 0xC0, "NaN": 0x7C, "Infinity": 0x78, "-Infinity": 0xF8, "0x7d": 0x7D},
        ("0x7", "0x007c"),
    ),
    "float8_e5m2": _Kind(
        8,
        {1.5: 0x3E, -2: 0xC0, "NaN": 0x7E, "Infinity": 0x7C, "-Infinity": 0xFC, "0x7d": 0x7D},
        ("0x7", "0x007e"),
    ),
}
_FINITE = {
    "float8_e4m3b11fnuz": _Kind(8, {1.5: 0x5C, -2: 0xE0, "NaN": 0x80, "0x01": 1}, _WORDS),
    "float8_e4m3fnuz": _Kind(8, {1.5: 0x44, -2: 0xC8, "NaN": 0x80, "0x01": 1}, _WORDS),
    "float8_e5m2fnuz": _Kind(8, {1.5: 0x42, -2: 0xC4, "NaN": 0x80, "0x01": 1}, _WORDS),
    "float8_e8m0fnu": _Kind(8, {2: 0x80, 0.5: 0x7E, 1.0: 0x7F, "NaN": 0xFF, "0x01": 1}, _WORDS),
}
_SMALL = {
    "float6_e2m3fn": _Kind(6, {1.5: 0x0C, -2: 0x30, 0: 0}, ("NaN", *_WORDS)),
    "float6_e3m2fn": _Kind(6, {1.5: 0x0E, -2: 0x30, 0: 0}, ("NaN", *_WORDS)),
    "float4_e2m1fn": _Kind(4, {1.5: 0x03, -2: 0x0C, 0: 0}, ("NaN", *_WORDS)),
}
_INTEGERS = {
    "int2": _Kind(2, {0: 0, 1: 1, -2: 2, -1: 3}, (2, -3)),
    "uint2": _Kind(2, {0: 0, 3: 3}, (4, -1)),
    "int4": _Kind(4, {0: 0, 7: 7, -8: 8, -1: 15}, (8, -9)),
    "uint4": _Kind(4, {0: 0, 15: 15}, (16, -1)),
}
_FLOATS = _IEEE | _FINITE | _SMALL
_NO_INTEGER: tuple[Any, ...] = (1.5, "1", "NaN", None, True, [1])


def _clauses(name: str, *topics: str) -> tuple[str, ...]:
    return tuple(f"ext-data-types.{name.replace('_', '-')}.{topic}" for topic in topics)


def _slug(value: Any) -> str:
    """Return the part of a case id that denotes a value."""
    words = {"[]": "list", "{}": "object", "[0]": "list", "[1]": "list-of-one", "0x": "no-digits"}
    text = str(value).lower().replace("-", "minus-").replace(".", "-").replace("none", "null")
    number = "text-" if isinstance(value, str) and value.isdigit() else ""
    return number + words.get(text, text)


def _usual(name: str) -> Any:
    """Return a valid fill value of the data type: some have no zero."""
    return 1.0 if name.endswith("e8m0fnu") else 0


def _case(
    what: str,
    name: str,
    topics: tuple[str, ...],
    summary: str,
    data: bytes,
    length: int,
    stored: bytes | None,
    **members: Any,
) -> Case:
    metadata = array(
        **(
            {
                "shape": [length],
                "chunk_grid": regular(length),
                "data_type": name,
                "fill_value": _usual(name),
                "codecs": [{"name": "bytes"}],
            }
            | members
        )
    )
    return Case(
        f"ext-data-types/{name.replace('_', '-')}/{what}",
        _clauses(name, *topics),
        summary,
        "read",
        Accept(Node(values=Values(data))),
        {"zarr.json": document(metadata), **({} if stored is None else {"c/0": stored})},
        needs=(f"data_type:{name}",),
    )


def _reject_case(what: str, name: str, topic: str, summary: str, **members: Any) -> Case:
    metadata = array(**({"data_type": name, "fill_value": _usual(name)} | members))
    return Case(
        f"ext-data-types/{name.replace('_', '-')}/no-{what}",
        _clauses(name, topic),
        summary,
        "open",
        refused_fill_value(metadata["fill_value"], "metadata", "extension"),
        {"zarr.json": document(metadata)},
    )


def cases() -> Iterator[Case]:
    """Yield the cases."""
    for name, kind in (_FLOATS | _INTEGERS).items():
        yield from _elements(name, kind)
        yield from _fills(name, kind)
        yield from _named(name, _usual(name))
    halves = _Kind(16, {1.5: 0x3E00, -2: 0xC000, "NaN": 0x7E00})
    for name, kind in ({"float16": halves} | _FLOATS).items():
        yield from _pairs(name, kind)
    yield from _aliases()


def _elements(name: str, kind: _Kind) -> Iterator[Case]:
    if kind.width == 2:
        values = np.array([0x3FC0, 0xC000, 0x7FC0, 0xFF80, 0x0001], "<u2")
        for endian in ("little", "big"):
            yield _case(
                f"{endian}-endian",
                name,
                ("bytes", "name"),
                f"Elements have two bytes, {endian}-endian.",
                raw(values),
                5,
                raw(values, endian),
                codecs=[extension("bytes", endian=endian)],
            )
        yield _reject_case(
            "byte-order",
            name,
            "name",
            "Data types of two bytes need a byte order.",
            codecs=[{"name": "bytes"}],
        )
        return
    patterns = bytes(range(1 << kind.bits))
    for what, codecs in (
        ("no-endian", [{"name": "bytes"}]),
        ("little-endian", [BYTES]),
        ("big-endian", [extension("bytes", endian="big")]),
    ):
        yield _case(
            what,
            name,
            ("bytes", "name"),
            "Each bit pattern is stored as one byte.",
            patterns,
            len(patterns),
            patterns,
            codecs=codecs,
        )
    yield _case(
        "gzip",
        name,
        ("bytes",),
        "Compressors may follow the bytes codec.",
        patterns,
        len(patterns),
        gzip(patterns),
        codecs=[{"name": "bytes"}, GZIP],
    )
    if kind.bits < 8:
        above = (0xFF << kind.bits & 0xFF, 1 << kind.bits, 0x80)
        for number, mask in enumerate(above):
            yield _case(
                f"ignored-bits-{number}",
                name,
                ("ignored", "bytes"),
                "The unused high bits do not change the value.",
                patterns,
                len(patterns),
                bytes(pattern | mask for pattern in patterns),
            )


def _fills(name: str, kind: _Kind) -> Iterator[Case]:
    for value, bits in kind.fills.items():
        topics: tuple[str, ...] = ("fill",)
        if value == "NaN":
            topics += ("nan",)
        if name in _FINITE:
            topics += ("no-infinity",)
        if name in _SMALL:
            topics += ("no-constants",)
        yield _case(
            f"fill-{_slug(value)}",
            name,
            topics,
            f"{json_text(value)} is the bit pattern {bits:#x}.",
            bits.to_bytes(kind.width, "little") * 3,
            3,
            None,
            fill_value=value,
            codecs=[BYTES],
        )
    none = _NO_INTEGER if name in _INTEGERS else _NONE
    for wrong in (*none, *kind.wrong):
        word = wrong in ("NaN", *_WORDS) and name not in _INTEGERS
        topic = {True: "no-infinity" if name in _FINITE else "no-constants", False: "fill"}[word]
        refused = _reject_case(
            f"fill-{_slug(wrong)}",
            name,
            topic,
            f"{json_text(wrong)} is not a valid fill value.",
            fill_value=wrong,
        )
        # The specification does not define the number of digits.
        digits = wrong in kind.wrong and str(wrong).startswith("0x")
        yield replace(refused, expect=Either()) if digits else refused


def _named(name: str, fill: Any) -> Iterator[Case]:
    for what, definition in (
        ("object", {"name": name}),
        ("configured", {"name": name, "configuration": {}}),
    ):
        yield _opened(what, name, definition, fill)
    yield _reject_case(
        "configuration",
        name,
        "name",
        "The data type has no configuration.",
        data_type=extension(name, bits=4),
    )


def _opened(what: str, name: str, definition: Any, fill: Any, topic: str = "name") -> Case:
    return Case(
        f"ext-data-types/{name.replace('_', '-')}/form-{what}",
        _clauses(name, topic),
        "A data type without configuration may be an object.",
        "open",
        Either(Node("array", (4,))),
        {"zarr.json": document(array(data_type=definition, fill_value=fill))},
        needs=(f"data_type:{name}",),
    )


def _pairs(part: str, kind: _Kind) -> Iterator[Case]:
    name = f"complex_{part}"
    patterns = [*kind.fills.values()][:3]
    some = [(a, b) for a in patterns for b in patterns]
    usual = [_usual(part), _usual(part)]
    for endian in ("little", "big"):
        order: Any = endian
        stored = b"".join(part.to_bytes(kind.width, order) for pair in some for part in pair)
        data = b"".join(part.to_bytes(kind.width, "little") for pair in some for part in pair)
        yield _case(
            f"{endian}-endian",
            name,
            ("bytes", "name"),
            "The real part comes first.",
            data,
            len(some),
            stored,
            fill_value=usual,
            codecs=[extension("bytes", endian=endian)],
        )
    fills = list(kind.fills)
    for what, pair in (
        ("first", fills[:2]),
        ("last", [fills[0], fills[-1]]),
        ("both", fills[2:] * 2),
    ):
        real, imaginary = pair[:2]
        data = b"".join(
            kind.fills[item].to_bytes(kind.width, "little") for item in (real, imaginary)
        )
        yield _case(
            f"fill-{what}",
            name,
            ("fill",),
            f"[{json_text(real)}, {json_text(imaginary)}] is a fill value.",
            data * 3,
            3,
            None,
            fill_value=[real, imaginary],
            codecs=[BYTES],
        )
    for what, wrong in (
        ("number", 1.5),
        ("one-part", [fills[0]]),
        ("three-parts", [fills[0]] * 3),
        ("null", None),
        ("part-null", [fills[0], None]),
        ("text", str(fills[0])),
        ("object", {"real": fills[0], "imag": fills[0]}),
    ):
        yield _reject_case(
            f"fill-{what}",
            name,
            "fill",
            f"{json_text(wrong)} is not a valid fill value.",
            fill_value=wrong,
        )
    yield _opened("object", name, {"name": name}, usual)
    yield _reject_case(
        "configuration",
        name,
        "name",
        "The data type has no configuration.",
        data_type=extension(name, bits=4),
        fill_value=usual,
    )


def _aliases() -> Iterator[Case]:
    for name, dtype in (("complex_float32", "<c8"), ("complex_float64", "<c16")):
        values = np.array([1 - 2j, 0, 1.5j], dtype)
        yield _case(
            "elements",
            name,
            ("alias",),
            "The data type is an alias of a core data type.",
            raw(values),
            3,
            raw(values, "big"),
            fill_value=[0.0, 0.0],
            codecs=[extension("bytes", endian="big")],
        )
        yield _case(
            "fill",
            name,
            ("alias",),
            "Fill values are those of the core data type.",
            raw(np.full(3, complex(1.5, float("-inf")), dtype)),
            3,
            None,
            fill_value=[1.5, "-Infinity"],
            codecs=[BYTES],
        )
        yield _opened("object", name, {"name": name}, [0.0, 0.0], "alias")
        for what, wrong in (("number", 0.0), ("null", None), ("one-part", [0.0])):
            yield _reject_case(
                f"fill-{what}",
                name,
                "alias",
                f"{json_text(wrong)} is not a valid fill value.",
                fill_value=wrong,
            )
