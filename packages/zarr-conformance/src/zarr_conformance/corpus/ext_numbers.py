"""Registered data types of numbers: few bits, other floating point, complex pairs.

Elements are told by their bits, so nothing that computes with such numbers is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.documents import array, regular
from zarr_conformance.corpus.encode import document, gzip, raw
from zarr_conformance.corpus.ext_cases import BYTES, GZIP, named

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class _Kind:
    """A data type: bits of an element, some fill values with their bits, what is none."""

    bits: int
    fills: dict[Any, int]
    wrong: tuple[Any, ...] = ()

    @property
    def width(self) -> int:
        """Bytes of an element."""
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
    return tuple(f"ext-data-types.{name.replace('_', '-')}.{it}" for it in topics)


def _slug(value: Any) -> str:
    """What a value is called in the id of a case."""
    words = {"[]": "list", "{}": "object", "[0]": "list", "[1]": "list-of-one", "0x": "no-digits"}
    text = str(value).lower().replace("-", "minus-").replace(".", "-").replace("none", "null")
    number = "text-" if isinstance(value, str) and value.isdigit() else ""
    return number + words.get(text, text)


def _usual(name: str) -> Any:
    """A fill value that the data type has: not all of them have a zero."""
    return 1.0 if name.endswith("e8m0fnu") else 0


def _case(
    what: str,
    name: str,
    topics: tuple[str, ...],
    says: str,
    data: bytes,
    length: int,
    stored: bytes | None,
    **members: Any,
) -> Case:
    told = array(
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
        says,
        "read",
        Accept(Node(values=Values(data))),
        {"zarr.json": document(told), **({} if stored is None else {"c/0": stored})},
        needs=(f"data_type:{name}",),
    )


def _refused(what: str, name: str, topic: str, says: str, **members: Any) -> Case:
    told = array(**({"data_type": name, "fill_value": _usual(name)} | members))
    return Case(
        f"ext-data-types/{name.replace('_', '-')}/no-{what}",
        _clauses(name, topic),
        says,
        "open",
        Reject("metadata", "extension"),
        {"zarr.json": document(told)},
    )


def cases() -> Iterator[Case]:
    """All of them."""
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
                f"Elements are two bytes, {endian}-endian.",
                raw(values),
                5,
                raw(values, endian),
                codecs=[named("bytes", endian=endian)],
            )
        yield _refused(
            "byte-order",
            name,
            "name",
            "Two bytes need a byte order.",
            codecs=[{"name": "bytes"}],
        )
        return
    patterns = bytes(range(1 << kind.bits))
    for what, codecs in (
        ("no-endian", [{"name": "bytes"}]),
        ("little-endian", [BYTES]),
        ("big-endian", [named("bytes", endian="big")]),
    ):
        yield _case(
            what,
            name,
            ("bytes", "name"),
            "Every pattern of bits is one byte.",
            patterns,
            len(patterns),
            patterns,
            codecs=codecs,
        )
    yield _case(
        "gzip",
        name,
        ("bytes",),
        "Compressors follow.",
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
                "Bits above the number do not change it.",
                patterns,
                len(patterns),
                bytes(it | mask for it in patterns),
            )


def _fills(name: str, kind: _Kind) -> Iterator[Case]:
    for told, bits in kind.fills.items():
        topics: tuple[str, ...] = ("fill",)
        if told == "NaN":
            topics += ("nan",)
        if name in _FINITE:
            topics += ("no-infinity",)
        if name in _SMALL:
            topics += ("no-constants",)
        yield _case(
            f"fill-{_slug(told)}",
            name,
            topics,
            f"{told!r} is the pattern {bits:#x}.",
            bits.to_bytes(kind.width, "little") * 3,
            3,
            None,
            fill_value=told,
            codecs=[BYTES],
        )
    none = _NO_INTEGER if name in _INTEGERS else _NONE
    for wrong in (*none, *kind.wrong):
        word = wrong in ("NaN", *_WORDS) and name not in _INTEGERS
        topic = {True: "no-infinity" if name in _FINITE else "no-constants", False: "fill"}[word]
        refused = _refused(
            f"fill-{_slug(wrong)}",
            name,
            topic,
            f"{wrong!r} is no fill value of it.",
            fill_value=wrong,
        )
        # How many digits a pattern takes is not said.
        digits = wrong in kind.wrong and str(wrong).startswith("0x")
        yield replace(refused, expect=Either()) if digits else refused


def _named(name: str, fill: Any) -> Iterator[Case]:
    for what, definition in (
        ("object", {"name": name}),
        ("configured", {"name": name, "configuration": {}}),
    ):
        yield _opened(what, name, definition, fill)
    yield _refused(
        "configuration", name, "name", "It has no configuration.", data_type=named(name, bits=4)
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
        stored = b"".join(it.to_bytes(kind.width, order) for pair in some for it in pair)
        data = b"".join(it.to_bytes(kind.width, "little") for pair in some for it in pair)
        yield _case(
            f"{endian}-endian",
            name,
            ("bytes", "name"),
            "The real part comes first.",
            data,
            len(some),
            stored,
            fill_value=usual,
            codecs=[named("bytes", endian=endian)],
        )
    told = list(kind.fills)
    for what, pair in (("first", told[:2]), ("last", [told[0], told[-1]]), ("both", told[2:] * 2)):
        real, imaginary = pair[:2]
        data = b"".join(kind.fills[it].to_bytes(kind.width, "little") for it in (real, imaginary))
        yield _case(
            f"fill-{what}",
            name,
            ("fill",),
            f"[{real!r}, {imaginary!r}] is a fill value.",
            data * 3,
            3,
            None,
            fill_value=[real, imaginary],
            codecs=[BYTES],
        )
    for what, wrong in (
        ("number", 1.5),
        ("one-part", [told[0]]),
        ("three-parts", [told[0]] * 3),
        ("null", None),
        ("part-null", [told[0], None]),
        ("text", str(told[0])),
        ("object", {"real": told[0], "imag": told[0]}),
    ):
        yield _refused(
            f"fill-{what}", name, "fill", f"{wrong!r} is no fill value of it.", fill_value=wrong
        )
    yield _opened("object", name, {"name": name}, usual)
    yield _refused(
        "configuration",
        name,
        "name",
        "It has no configuration.",
        data_type=named(name, bits=4),
        fill_value=usual,
    )


def _aliases() -> Iterator[Case]:
    for name, dtype in (("complex_float32", "<c8"), ("complex_float64", "<c16")):
        values = np.array([1 - 2j, 0, 1.5j], dtype)
        yield _case(
            "elements",
            name,
            ("alias",),
            "It is what the core has under another name.",
            raw(values),
            3,
            raw(values, "big"),
            fill_value=[0.0, 0.0],
            codecs=[named("bytes", endian="big")],
        )
        yield _case(
            "fill",
            name,
            ("alias",),
            "Fill values are those of the core.",
            raw(np.full(3, complex(1.5, float("-inf")), dtype)),
            3,
            None,
            fill_value=[1.5, "-Infinity"],
            codecs=[BYTES],
        )
        yield _opened("object", name, {"name": name}, [0.0, 0.0], "alias")
        for what, wrong in (("number", 0.0), ("null", None), ("one-part", [0.0])):
            yield _refused(
                f"fill-{what}", name, "alias", f"{wrong!r} is no fill value.", fill_value=wrong
            )
