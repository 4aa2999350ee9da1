"""The registered codecs bitround, scale_offset and numcodecs.fixedscaleoffset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Case, Either, Node, Values
from zarr_conformance.corpus.case_tables import table_cases
from zarr_conformance.corpus.encode import raw
from zarr_conformance.corpus.one_chunk import (
    BYTES,
    extension,
    read_case,
    write_case,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROUND = ("codec:bitround",)
_SCALE = ("codec:scale_offset",)

_FLOATS = [0.0, 0.1, 1.2, 12.3, 123.4, 1234.5, float("nan"), float("inf"), float("-inf")]
_ROUNDED = [0.0, 0.1015625, 1.25, 12.0, 120.0, 1280.0, float("nan"), float("inf"), float("-inf")]
"""The example of the registry, keepbits 3."""

_INTEGERS = [0, 1, 10, 11, 100, 123, 200, 208, 209, 255]
_INTEGERS_ROUNDED = [0, 1, 10, 12, 96, 128, 192, 192, 224, 224]


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _bitround()
    yield from table_cases(
        "ext_bitround_scale_offset", "bitround_chains", "bitround_configurations"
    )
    yield from _scale_offset()
    yield from table_cases(
        "ext_bitround_scale_offset", "scale_offset_chains", "scale_offset_invalid", "fixed"
    )


def _clauses(codec: str, *names: str) -> tuple[str, ...]:
    return tuple(f"ext-codecs.{codec}.{name}" for name in names)


def _bitround() -> Iterator[Case]:
    wide = (np.arange(1, 9) * 0.1).astype("<f8")
    nine = np.array([1.0, 1.25, 1.5, 1.75, 2.5, 3.0, 3.5, 4.0], "<f8")
    for name, some, kept, keepbits in (
        ("float32", np.array(_FLOATS, "<f4"), np.array(_ROUNDED, "<f4"), 3),
        ("uint8", np.array(_INTEGERS, "u1"), np.array(_INTEGERS_ROUNDED, "u1"), 3),
        ("float32-whole", np.array(_FLOATS, "<f4"), np.array(_FLOATS, "<f4"), 23),
        ("float64-whole", wide, wide, 52),
        ("float64-exact", nine, nine, 2),
        ("float64-negative", -nine, -nine, 2),
        (
            "float16",
            np.array([1.0, 1.1, 1.9, 65504.0], "<f2"),
            np.array([1.0, 1.0, 2.0, np.inf], "<f2"),
            1,
        ),
        ("uint16", np.array([0, 5, 1000, 65535], "<u2"), np.array([0, 5, 1000, 65535], "<u2"), 16),
        ("uint32", np.array([1000, 1001], "<u4"), np.array([1024, 1024], "<u4"), 2),
        ("int32-positive", np.array([1000, 1001], "<i4"), np.array([1024, 1024], "<i4"), 2),
    ):
        kind = "float" if some.dtype.kind == "f" else "integer"
        codecs = [extension("bitround", keepbits=keepbits), BYTES]
        clauses = _clauses("bitround", "name", "keepbits", kind, "data-types")
        if kind == "float":
            clauses += _clauses("bitround", "numcodecs")
        yield read_case(
            f"ext-codecs/bitround/{name}-read",
            clauses,
            "Stored values are read without change.",
            raw(kept),
            values=kept,
            needs=_ROUND,
            codecs=codecs,
        )
        if name != "float16":  # the result of rounding beyond the largest value is not defined
            yield write_case(
                f"ext-codecs/bitround/{name}-created",
                clauses,
                f"{keepbits} bits of each element are kept, rounded to nearest.",
                raw(kept),
                values=some,
                needs=_ROUND,
                codecs=codecs,
            )


_SCALED: tuple[tuple[str, str, dict[str, Any], list[Any], list[Any]], ...] = (
    ("float64", "<f8", {"offset": 5, "scale": 0.5}, [5, 7, 15, -3], [0, 1, 5, -4]),
    ("float32", "<f4", {"offset": -10, "scale": 0.25}, [-10, -6, 30, 90], [0, 1, 10, 25]),
    ("offset-alone", "<u2", {"offset": 1000}, [1000, 1001, 1255, 2000], [0, 1, 255, 1000]),
    ("scale-alone", "<i4", {"scale": 3}, [0, 1, -7, 100], [0, 3, -21, 300]),
    ("negative", "<i2", {"offset": -4, "scale": -2}, [-4, 0, 6, -9], [0, -8, -20, 10]),
    ("nothing", "<i4", {}, [1, 2, 3, 4], [1, 2, 3, 4]),
    ("hexadecimal", "<f4", {"offset": "0x40a00000"}, [5, 6, 7, 8], [0, 1, 2, 3]),
    ("int64", "<i8", {"offset": 2**53 + 1}, [2**53 + 1, 2**53 + 2, 2**62, 0], []),
)


def _scale_offset() -> Iterator[Case]:
    for name, dtype, configuration, some, stored in _SCALED:
        values = np.array(some, dtype)
        kept = np.array(stored, dtype) if stored else values - np.int64(configuration["offset"])
        clauses = _clauses(
            "scale-offset",
            "name",
            "arithmetic",
            "additional",
            *(item for item in ("offset", "scale") if item in configuration),
        )
        summary = "The stored value is the element minus offset, times scale."
        codecs = [{"name": "scale_offset", "configuration": configuration}, BYTES]
        fill = int(configuration["offset"]) if isinstance(configuration.get("offset"), int) else 0
        for operation, make in (("decode", read_case), ("encode", write_case)):
            yield make(
                f"ext-codecs/scale-offset/{name}-{operation}d",
                (*clauses, *_clauses("scale-offset", operation, "data-types")),
                summary,
                raw(kept),
                values=values,
                needs=_SCALE,
                fill_value=fill,
                codecs=codecs,
            )
    values = np.array([3, 1, 4, 1], "<i4")
    for kind, codec in (("name", "scale_offset"), ("object", {"name": "scale_offset"})):
        yield read_case(
            f"ext-codecs/scale-offset/no-configuration-{kind}",
            _clauses("scale-offset", "optional", "offset", "scale"),
            "Without configuration the codec has no effect.",
            raw(values),
            Either(Node(values=Values(raw(values)))) if kind == "name" else None,
            values=values,
            needs=_SCALE,
            codecs=[codec, BYTES],
        )
