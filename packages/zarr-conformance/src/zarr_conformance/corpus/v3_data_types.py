"""Core data types of version 3: bytes, ranges and fill values."""

from __future__ import annotations

import struct
from dataclasses import replace
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
from zarr_conformance.corpus.case_tables import table_cases
from zarr_conformance.corpus.encode import document, json_text, raw
from zarr_conformance.corpus.metadata import array, regular

if TYPE_CHECKING:
    from collections.abc import Iterator

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")

_BITS = {"float16": (16, 0x7C00, 0x0200), "float32": (32, 0x7F800000, 0x00400000)} | {
    "float64": (64, 0x7FF0000000000000, 0x0008000000000000)
}


def examples(name: str) -> Any:
    """Return four elements of a data type, including its extremes."""
    if name == "bool":
        return np.array([True, False, False, True])
    dtype = np.dtype(name)
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        return np.array([ends.min, ends.max, 1, ends.max // 3], dtype)
    if dtype.kind == "f":
        return np.array([-0.0, np.finfo(dtype).max, np.inf, 1 / 3], dtype)
    part = np.dtype(f"f{dtype.itemsize // 2}")
    parts = [1, -2, np.inf, 0.5, -0.0, np.finfo(part).tiny, 1 / 3, -1e9]
    return np.array(parts, part).view(dtype)


def _codecs(endian: str | None) -> list[Any]:
    if endian is None:
        return [{"name": "bytes"}]
    return [{"name": "bytes", "configuration": {"endian": endian}}]


def _needs(name: str) -> tuple[str, ...]:
    """Return the optional extensions of a core data type."""
    return ("data_type:float16",) if name == "float16" else ()


def _default_fill(name: str) -> Any:
    return False if name == "bool" else [0.0, 0.0] if name in COMPLEX else 0


def cases() -> Iterator[Case]:
    """Yield the cases."""
    for name in ("bool", *INTEGERS, *FLOATS, *COMPLEX):
        yield from _stored(name)
    yield from table_cases("v3_data_types", "booleans")
    yield from _integers()
    yield from _floats()
    yield from table_cases("v3_data_types", "complex")
    yield from _raw()
    for name in ("int31", "uint24", "float80", "float128", "complex256", "i4", "<i4", "Int32"):
        yield Case(
            f"v3-data-types/unknown/{name.replace('<', 'lt-').replace('Int', 'capital-int')}",
            ("v3-core.extensions.unknown-array",),
            f"{name} is not a data type.",
            "open",
            Reject("extension", "metadata"),
            {"zarr.json": document(array(data_type=name))},
        )


def _stored(name: str) -> Iterator[Case]:
    values = examples(name)
    single = values.dtype.itemsize == 1
    extra: tuple[str, ...] = ("v3-codecs.bytes.bool",) if name == "bool" else ()
    extra += ("v3-codecs.bytes.complex",) if name in COMPLEX else ()
    extra += ("v3-data-types.range",) if name in INTEGERS else ()
    for endian in ("little", "big", *((None,) if single else ())):
        stored = array(data_type=name, codecs=_codecs(endian), fill_value=_default_fill(name))
        data = [raw(part, endian or "little") for part in (values[:2], values[2:])]
        clauses = (f"v3-data-types.{name}", "v3-codecs.bytes.representation", *extra)
        if endian is None:
            clauses += ("v3-codecs.bytes.endian-not-required",)
        for operation in ("read", "create"):
            chunks = {"c/0": data[0], "c/1": data[1]} if operation == "read" else {}
            there = {"zarr.json": document(stored), **chunks} if operation == "read" else {}
            yield Case(
                f"v3-data-types/{name}/{endian or 'no-endian'}-{operation}",
                clauses,
                f"Elements of {name} are {operation}, {endian or 'in bytes'} as stored.".replace(
                    "create", "written"
                ),
                operation,
                Accept(
                    Node(
                        values=Values(raw(values)),
                        stored=None if operation == "read" else {"c/0": data[0], "c/1": data[1]},
                    )
                ),
                there,
                needs=_needs(name),
                document=None if operation == "read" else stored,
            )
    if not single:
        yield Case(
            f"v3-data-types/{name}/no-endian",
            ("v3-codecs.bytes.endian-required",),
            f"The bytes codec needs endian for {name}.",
            "open",
            Reject("metadata", "extension"),
            {
                "zarr.json": document(
                    array(data_type=name, codecs=_codecs(None), fill_value=_default_fill(name))
                )
            },
        )


def _fill_value(
    name: str, kind: str, value: Any, data: bytes, clause: str, count: int = 4
) -> Iterator[Case]:
    """Yield cases of a fill value: missing chunks, and metadata that is kept."""
    single = len(data) == 1
    stored = array(data_type=name, fill_value=value, codecs=_codecs(None if single else "little"))
    yield Case(
        f"v3-data-types/{name}/fill-{kind}",
        (f"v3-data-types.{clause}", "v3-core.array.fill-value"),
        f"Missing chunks of {name} read as the fill value {json_text(value)}.",
        "read",
        Accept(Node(values=Values(data * count))),
        {"zarr.json": document(stored)},
        needs=_needs(name),
    )


def _invalid_fill_value(name: str, kind: str, value: Any, clause: str) -> Case:
    single = name in ("bool", "int8", "uint8", "r8")
    stored = array(data_type=name, fill_value=value, codecs=_codecs(None if single else "little"))
    return Case(
        f"v3-data-types/{name}/no-fill-{kind}",
        (f"v3-data-types.{clause}", "v3-core.array.fill-value"),
        f"{json_text(value)} is not a valid fill value of {name}.",
        "open",
        refused_fill_value(value, "metadata"),
        {"zarr.json": document(stored)},
    )


def _integers() -> Iterator[Case]:
    for name in INTEGERS:
        ends = np.iinfo(name)
        size = np.dtype(name).itemsize
        for kind, number in (("smallest", ends.min), ("largest", ends.max), ("one", 1)):
            data = int(number).to_bytes(size, "little", signed=ends.min < 0)
            yield from _fill_value(name, kind, int(number), data, "fill-integer")
        for kind, wrong in (
            ("too-small", int(ends.min) - 1),
            ("too-large", int(ends.max) + 1),
            ("fraction", 0.5),
            ("text", "0"),
            ("true", True),
            ("null", None),
            ("list", [0]),
            ("nan", "NaN"),
            ("hexadecimal", "0x00"),
        ):
            yield _invalid_fill_value(name, kind, wrong, "fill-integer")
        for kind, token in (("point", b"1.0"), ("exponent", b"1e0")):
            stored = array(data_type=name, fill_value=424242, codecs=_codecs("little"))
            yield Case(
                f"v3-data-types/{name}/fill-with-{kind}",
                ("v3-data-types.fill-integer",),
                f"{token.decode()} has a fraction or an exponent, but is an integer.",
                "open",
                # Parsers that do not distinguish 1.0 from 1 cannot detect it.
                Either(Node("array")),
                {"zarr.json": document(stored).replace(b"424242", token)},
            )


def _floats() -> Iterator[Case]:
    for name in FLOATS:
        bits, infinity, quiet = _BITS[name]
        size, sign = bits // 8, 1 << (bits - 1)

        def data(pattern: int, size: int = size) -> bytes:
            return pattern.to_bytes(size, "little")

        yield from _fill_value(name, "infinity", "Infinity", data(infinity), "fill-float-infinity")
        yield from _fill_value(name, "zero", 0, data(0), "fill-float-other")
        yield from _fill_value(
            name, "minus-infinity", "-Infinity", data(sign | infinity), "fill-float-infinity"
        )
        yield from _fill_value(name, "nan", "NaN", data(infinity | quiet), "fill-float-nan")
        digits = bits // 4
        for kind, pattern in (
            ("one", {16: 0x3C00, 32: 0x3F800000, 64: 0x3FF0000000000000}[bits]),
            ("minus-zero", sign),
            ("payload", infinity | quiet | 1),
            ("minus-nan", sign | infinity | quiet),
            ("signalling", infinity | 1),
            ("smallest", 1),
        ):
            yield from _fill_value(
                name, f"hex-{kind}", f"0x{pattern:0{digits}x}", data(pattern), "fill-float-hex"
            )
        code = {16: "<e", 32: "<f", 64: "<d"}[bits]
        for kind, number in (
            ("integer", 3),
            ("fraction", 0.25),
            ("negative", -2.5),
            ("rounded", 0.1),
            ("large-integer", 1024),
        ):
            yield from _fill_value(
                name, kind, number, struct.pack(code, number), "fill-float-number"
            )
        yield from _fill_value(name, "minus-zero", -0.0, data(sign), "fill-float-number")
        for kind, value in (
            ("text", "1.5"),
            ("lower-case-nan", "nan"),
            ("lower-case-infinity", "infinity"),
            ("plus-infinity", "+Infinity"),
            ("minus-nan", "-NaN"),
            ("inf", "inf"),
            ("hex-not", "0x" + "g" * digits),
            ("hex-without-x", "0" * digits),
            ("true", True),
            ("null", None),
            ("list", [0.0]),
            ("empty", ""),
        ):
            yield _invalid_fill_value(name, kind, value, "fill-float-other")
        for kind, value in (("short", "0x7f"), ("long", "0x" + "0" * (digits + 2))):
            # "As an unsigned integer": the specification does not define the number of digits.
            yield replace(
                _invalid_fill_value(name, f"hex-too-{kind}", value, "fill-float-hex"),
                summary=f"{json_text(value)} has another number of digits than {name}, but is a number.",
                expect=Either(Node("array")),
            )


def _raw() -> Iterator[Case]:
    for bits in (8, 16, 24, 128):
        size = bits // 8
        name = f"r{bits}"
        data = bytes(range(1, 4 * size + 1))
        stored = array(data_type=name, fill_value=[0] * size, codecs=[{"name": "bytes"}])
        yield Case(
            f"v3-data-types/raw/{name}",
            ("v3-core.data-types.raw", "v3-data-types.raw", "v3-codecs.bytes.raw"),
            f"{name} is stored as {size} bytes without change.",
            "read",
            Accept(Node(values=Values(data))),
            {"zarr.json": document(stored), "c/0": data[: 2 * size], "c/1": data[2 * size :]},
        )
        fill = list(range(255, 255 - size, -1))
        yield Case(
            f"v3-data-types/raw/{name}-fill",
            ("v3-core.data-types.raw", "v3-data-types.fill-raw"),
            f"The fill value of {name} is a list of its bytes.",
            "read",
            Accept(Node(values=Values(bytes(fill) * 4))),
            {"zarr.json": document(stored | {"fill_value": fill})},
        )
        for kind, value in (
            ("short", fill[1:]),
            ("long", [*fill, 0]),
            ("large", [256] * size),
            ("negative", [-1] * size),
            ("fraction", [0.5] * size),
            ("number", 0),
            ("null", None),
        ):
            yield Case(
                f"v3-data-types/raw/{name}-no-fill-{kind}",
                ("v3-data-types.fill-raw",),
                f"{json_text(value)} is not a list of {size} bytes.",
                "open",
                refused_fill_value(value, "metadata"),
                {"zarr.json": document(stored | {"fill_value": value})},
            )
    for name in ("r", "r0", "r7", "r12", "r-8", "r08", "r8.0", "R8"):
        yield Case(
            f"v3-data-types/raw/no-{name.replace('R', 'capital-r')}",
            ("v3-core.data-types.raw-multiple", "v3-core.data-types.raw", "v3-data-types.raw"),
            f"{name!r} is not r followed by a multiple of 8.",
            "open",
            # The specification does not mention leading zeros.
            Reject("extension", "metadata") if name != "r08" else Either(Node("array")),
            {
                "zarr.json": document(
                    array(
                        data_type=name,
                        shape=[2],
                        chunk_grid=regular(2),
                        fill_value=[0],
                        codecs=[{"name": "bytes"}],
                    )
                )
            },
        )
