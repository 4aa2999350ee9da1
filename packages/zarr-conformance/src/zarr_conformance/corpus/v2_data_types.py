"""Data types of version 2 and their fill values."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.encode import json_text
from zarr_conformance.corpus.metadata import array_2
from zarr_conformance.corpus.v2_array import case

if TYPE_CHECKING:
    from collections.abc import Iterator

_SIMPLE = (
    "|b1", "|i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8", "|u1", "<u2", ">u2", "<u4", ">u4",
    "<u8", ">u8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "<c8", ">c8", "<c16", ">c16",
    "|S3", "<U2", ">U2", "|V5", "<M8[ns]", ">M8[D]", "<m8[s]", "<M8[25s]",
)  # fmt: skip


_LENIENT = (
    # Some writers store these; readers may accept them.
    *("huge", "no-unit", "no-byte-order", "no-byte-order-float", "name"),
    # Support depends on NumPy; the specification does not mention them.
    *("empty-list", "field-twice"),
)


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _data_types()
    yield from _fill_values()


def _data_types() -> Iterator[Case]:
    for name in _SIMPLE:
        dtype = np.dtype(name)
        octets = np.arange(1, 1 + 6 * dtype.itemsize, dtype="u1") % 100
        if dtype.kind == "b":
            values = np.array([1, 0, 0, 1, 1, 0], bool)
        elif dtype.kind == "U":
            values = np.array(["a", "é", "🌍", "bc", "", "zz"], dtype)
        else:
            values = octets.view(dtype)
        slug = _slug(name)
        clauses: tuple[str, ...] = ("dtype.kinds", "dtype.byte-order", "array.dtype")
        if dtype.kind in "mM":
            clauses += ("dtype.units",)
        little = values.astype(dtype.newbyteorder("<")) if dtype.kind not in "SV" else values
        yield case(
            f"dtype/{slug}",
            clauses,
            f"Elements of {name} are read.",
            Accept(Node(values=Values(little.tobytes()))),
            array_2(shape=[6], chunks=[4], dtype=name, fill_value=None),
            {
                "0": values[:4].tobytes(),
                "1": np.concatenate([values[4:], values[:2]]).astype(dtype).tobytes(),
            },
            "read",
            needs=needed(name),
        )
    wrongs: tuple[tuple[str, Any, str], ...] = (
        ("no-byte-order", "i4", "dtype.byte-order"),
        ("no-byte-order-float", "f8", "dtype.byte-order"),
        ("name", "int32", "dtype.kinds"),
        ("size", "<i3", "dtype.kinds"),
        ("no-size", "<i", "dtype.kinds"),
        ("no-unit", "<M8", "dtype.units"),
        ("unknown-unit", "<M8[weeks]", "dtype.units"),
        ("empty-unit", "<M8[]", "dtype.units"),
        ("unit-of-integer", "<i4[ns]", "dtype.kinds"),
        ("several", "<i4,<f8", "dtype.kinds"),
        ("empty-list", [], "dtype.fields"),
        ("field-without-type", [["a"]], "dtype.fields"),
        ("field-number", [[1, "<i4"]], "dtype.fields"),
        ("field-twice", [["a", "<i4"], ["a", "<i4"]], "dtype.fields"),
        ("field-wrong-type", [["a", "<q4"]], "dtype.fields"),
        ("field-shape-text", [["a", "<i4", "2"]], "dtype.fields"),
        ("huge", "|V2000000000000", "dtype.kinds"),
    )
    for kind, wrong, clause in wrongs:
        loose = kind in _LENIENT
        yield case(
            f"dtype/no-{kind}",
            clause,
            f"{json_text(wrong)} is not a valid data type.",
            Either() if loose else Reject("metadata", "extension"),
            array_2(shape=[6], chunks=[4], dtype=wrong, fill_value=None),
        )
    records: tuple[tuple[str, Any], ...] = (
        ("fields", [["r", "|u1"], ["g", "<i2"], ["b", ">f4"]]),
        ("nested", [["foo", "<f4"], ["bar", [["baz", "<f4"], ["qux", "<i4"]]]]),
        ("subarray", [["x", "<f4"], ["z", "<i2", [2, 2]]]),
        ("strings", [["name", "|S4"], ["when", "<M8[s]"]]),
    )
    for kind, descr in records:
        dtype = np.dtype([_field(item) for item in descr])
        values = (np.arange(6 * dtype.itemsize, dtype="u1") % 50).view(dtype)
        little = values.astype(dtype.newbyteorder("<"))
        yield case(
            f"dtype/{kind}",
            ("dtype.fields", "array.dtype") + (("dtype.nested",) if kind == "nested" else ()),
            f"Elements of {json_text(descr)} are read.",
            Accept(Node(values=Values(little.tobytes()))),
            array_2(shape=[6], chunks=[6], dtype=descr, fill_value=None),
            {"0": values.tobytes()},
            "read",
            needs=needed(descr),
        )


def needed(dtype: Any) -> tuple[str, ...]:
    """Return the optional extensions of a data type.

    The specification defines how data types are encoded, not which of them are required.
    Support of bool, integers and floating-point numbers of 4 or 8 bytes is expected.
    """
    if isinstance(dtype, str):
        kind = dtype[1:3] if dtype[1:3] == "f2" else dtype[1]
        return (f"data_type:v2.{kind}",) if kind not in "biuf" else ()
    names = ["data_type:v2.fields"]
    for _, inner, *shape in dtype:
        names += [*needed(inner), *(["data_type:v2.subarray"] if shape else [])]
        names += ["data_type:v2.nested"] if isinstance(inner, list) else []
    return tuple(dict.fromkeys(names))


def _slug(name: str) -> str:
    """Return a data type as a part of a case id."""
    words = {"<": "little-", ">": "big-", "|": "", "[": "-", "]": "", "D": "day"}
    words |= {"M": "datetime", "S": "bytes", "U": "unicode", "V": "void"}
    return "".join(words.get(letter, letter) for letter in name)


def _field(entry: Any) -> Any:
    name, kind, *shape = entry
    if isinstance(kind, list):
        kind = [_field(item) for item in kind]
    return (name, kind, *(tuple(item) for item in shape))


def _fill_values() -> Iterator[Case]:
    def missing(kind: str, dtype: Any, value: Any, data: bytes, clause: str) -> Case:
        return case(
            f"fill/{kind}",
            (clause, "chunks.missing", "array.fill-value"),
            f"Missing chunks of {json_text(dtype)} read as the fill value {json_text(value)}.",
            Accept(Node(values=Values(data * 3))),
            array_2(shape=[3], chunks=[2], dtype=dtype, fill_value=value),
            {},
            "read",
            needs=needed(dtype),
        )

    for name in ("<f2", "<f4", "<f8", ">f4", ">f8"):
        little = np.dtype(name).newbyteorder("<")
        slug = _slug(name)
        for kind, text in (("nan", "NaN"), ("inf", "Infinity"), ("minus-inf", "-Infinity")):
            number = np.array(float(text.replace("Infinity", "inf")), little)
            yield missing(f"{slug}-{kind}", name, text, number.tobytes(), "fill.float")
        yield missing(f"{slug}-number", name, 1.5, np.array(1.5, little).tobytes(), "fill.float")
    numbers: tuple[tuple[str, Any, bytes], ...] = (
        ("|b1", True, b"\1"),
        ("|b1", False, b"\0"),
        ("<i4", -7, (-7).to_bytes(4, "little", signed=True)),
        (">i4", -7, (-7).to_bytes(4, "little", signed=True)),
        ("<u8", 2**64 - 1, b"\xff" * 8),
        ("<i8", -(2**63), bytes(7) + b"\x80"),
    )
    for dtype, value, data in numbers:
        slug = _slug(dtype)
        yield missing(f"{slug}-{str(value).lower()}", dtype, value, data, "array.fill-value")
    record = [["a", "<i4"], ["b", "|u1"]]
    base64s: tuple[tuple[str, Any, bytes], ...] = (
        ("bytes", "|S4", b"ab\0\0"),
        ("opaque", "|V3", b"\xff\0\x80"),
        ("record", record, b"\7\0\0\0\xfe"),
    )
    for kind, dtype, data in base64s:
        text = base64.b64encode(data).decode()
        yield missing(kind, dtype, text, data, "fill.bytes")
        texts: dict[str, Any] = {
            "not-base64": "not base64!",
            "url-safe": base64.urlsafe_b64encode(b"\xfb\xff" * 9).decode(),
            "number": 7,
            "list": [7, 8],
        }
        for wrong, value in texts.items():
            lenient = wrong == "number"
            yield case(
                f"fill/{kind}-{wrong}",
                "fill.bytes",
                f"{json_text(value)} is not a valid fill value of {json_text(dtype)}.",
                # zarr-python 2 writes 0 for an empty value, and reads it as that.
                Either() if lenient else Reject("metadata"),
                array_2(shape=[3], chunks=[2], dtype=dtype, fill_value=value),
                needs=needed(dtype),
            )
    others: tuple[tuple[str, str, Any], ...] = (
        ("integer-text", "<i4", "abc"),
        ("integer-too-large", "|u1", 300),
        ("integer-too-small", "|u1", -1),
        ("integer-fraction", "<i4", 1.5),
        ("integer-list", "<i4", [1]),
        ("bool-text", "|b1", "abc"),
        ("float-text", "<f4", "abc"),
        ("float-list", "<f4", [1.0]),
    )
    for kind, dtype, value in others:
        yield case(
            f"fill/no-{kind}",
            "array.fill-value",
            f"{json_text(value)} is not a valid fill value of {dtype}.",
            Reject("metadata"),
            array_2(shape=[3], chunks=[2], dtype=dtype, fill_value=value),
        )
    yield case(
        "fill/null",
        ("chunks.undefined", "array.fill-value"),
        "Without a fill value, missing chunks are undefined; the array can be opened.",
        Accept(Node("array", (3,))),
        array_2(shape=[3], chunks=[2], fill_value=None),
    )
