"""Fill values that are halfway, or almost, between two values: numbers are rounded once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_conformance.corpus import draft_metadata
from zarr_conformance.corpus.case import Accept, Case, Node, Values
from zarr_conformance.corpus.encode import NUMBER, document_with
from zarr_conformance.corpus.metadata import array

if TYPE_CHECKING:
    from collections.abc import Iterator

_ABOVE, _BELOW = "1.00000005960464477539062501", "1.00000017881393432617187499"

_NUMBERS: dict[str, dict[str, tuple[str, int]]] = {
    "float16": {
        "half-down": ("2049.0", 0x6800),
        "half-up": ("2051.0", 0x6802),
        "halfway-above": ("2049.0000000000000000001", 0x6801),
        "halfway-below": ("2050.9999999999999999999", 0x6801),
        "halfway-negative": ("-2049.0000000000000000001", 0xE801),
        "halfway-exponent": ("2.0490000000000000000001e3", 0x6801),
        "halfway-infinity": ("65520.0", 0x7C00),
        "halfway-largest": ("65519.9999999999999999999", 0x7BFF),
        "halfway-zero": ("2.98023223876953125e-8", 0x0000),
        "halfway-minus-zero": ("-2.98023223876953125e-8", 0x8000),
        "halfway-smallest": ("2.9802322387695312500001e-8", 0x0001),
    },
    "float32": {
        "half-down": ("1.000000059604644775390625", 0x3F800000),
        "half-up": ("1.000000178813934326171875", 0x3F800002),
        "halfway-above": (_ABOVE, 0x3F800001),
        "halfway-below": (_BELOW, 0x3F800001),
        # The shortest text of the halfway float64 is above it.
        "halfway-shortest": ("1.0000000596046448", 0x3F800001),
        "halfway-infinity": ("3.40282356779733661637539395458142568448e38", 0x7F800000),
        "halfway-largest": ("3.40282356779733661637539395458142568447e38", 0x7F7FFFFF),
    },
    "bfloat16": {
        "half-down": ("257.0", 0x4380),
        "half-up": ("259.0", 0x4382),
        "halfway-above": ("257.0000000000000000001", 0x4381),
        "halfway-below": ("258.9999999999999999999", 0x4381),
    },
}
"""Texts of numbers by data type, each with the bits of the nearest value, ties to even."""


def cases() -> Iterator[Case]:
    """Yield the cases."""
    for name, numbers in _NUMBERS.items():
        for kind, (text, bits) in numbers.items():
            data = bits.to_bytes(4 if name == "float32" else 2, "little")
            yield _missing(name, kind, NUMBER, (text,), data)
    data = (0x3F800001).to_bytes(4, "little")
    yield _missing("complex64", "halfway", [NUMBER, NUMBER], (_ABOVE, _BELOW), 2 * data)
    yield draft_metadata.case(
        "data-types/fill/float32-halfway",
        ("uninitialised", "fill-required"),
        _summary("float32", _BELOW),
        Accept(Node("array", (4,), values=Values(data * 4))),
        {
            "meta/a.array.json": document_with(
                draft_metadata.array(data_type="float32", fill_value=NUMBER), _BELOW
            )
        },
        "read",
    )


def _missing(name: str, kind: str, value: object, texts: tuple[str, ...], data: bytes) -> Case:
    """Return a case without chunks: the elements are the fill value."""
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}]
    clause = {
        "bfloat16": "ext-data-types.bfloat16.fill",
        "complex64": "v3-data-types.fill-complex",
    }.get(name, "v3-data-types.fill-float-number")
    stored = array(data_type=name, fill_value=value, codecs=codecs)
    return Case(
        f"{clause.partition('.')[0]}/{name}/fill-{kind}",
        (clause, *(() if name == "bfloat16" else ("v3-core.array.fill-value",))),
        _summary(name, *texts),
        "read",
        Accept(Node(values=Values(data * 4))),
        {"zarr.json": document_with(stored, *texts)},
        needs=(f"data_type:{name}",) if name in ("float16", "bfloat16") else (),
    )


def _summary(name: str, *texts: str) -> str:
    return f"{' and '.join(texts)} is rounded once, to the nearest value of {name}."
