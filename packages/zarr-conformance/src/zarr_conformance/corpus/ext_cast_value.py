"""The registered codec cast_value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.encode import raw
from zarr_conformance.corpus.ext_cases import BYTES, extension, read_case, write_case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.case import Case

NEEDS = ("codec:cast_value",)
_NAN, _INF = float("nan"), float("inf")


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _exact()
    yield from _rounded()
    yield from _ranges()
    yield from _special()
    yield from _maps()


def clauses_of(*names: str) -> tuple[str, ...]:
    """Return the ids of clauses of this codec."""
    return tuple(f"ext-codecs.cast-value.{it}" for it in names)


def chain(data_type: str, **more: Any) -> list[Any]:
    """Return codecs that store elements as this data type."""
    return [extension("cast_value", data_type=data_type, **more), BYTES]


def _round_trip(
    what: str, clauses: tuple[str, ...], summary: str, values: Any, stored: Any, **more: Any
) -> Iterator[Case]:
    """Yield cases that read and write elements without loss."""
    for operation, make in (("read", read_case), ("created", write_case)):
        yield make(
            f"ext-codecs/cast-value/{what}-{operation}",
            clauses,
            summary,
            raw(stored),
            values=values,
            needs=NEEDS,
            codecs=chain(stored.dtype.name, **more),
            fill_value="NaN" if "scalar_map" in more else 0,
        )


def _written(
    what: str, clauses: tuple[str, ...], summary: str, values: Any, stored: Any, **more: Any
) -> Case:
    """Yield cases that convert elements on writing."""
    return write_case(
        f"ext-codecs/cast-value/{what}",
        clauses_of(*clauses),
        summary,
        raw(stored),
        values=values,
        needs=NEEDS,
        codecs=chain(stored.dtype.name, **more),
    )


def _exact() -> Iterator[Case]:
    names = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    floats = ("float16", "float32", "float64")
    some = [0, 1, 2, 100]
    for first, second in (
        *(("float64", it) for it in (*names, "float16", "float32")),
        *((it, "int8") for it in (*names[1:], *floats[:2])),
        *((it, "float64") for it in (*names, "float16", "float32")),
    ):
        values = np.array(some, np.dtype(first).newbyteorder("<"))
        yield from _round_trip(
            f"exact-{first}-{second}",
            clauses_of("name", "data-type", "exact", "order", "real", "additional"),
            f"Values that both {first} and {second} can represent are preserved.",
            values,
            values.astype(np.dtype(second).newbyteorder("<")),
        )
    limits = np.array([-128, 127, -1, 0], "<i8")
    yield from _round_trip(
        "exact-limits",
        clauses_of("exact", "none-holds", "out-of-range-default"),
        "The limits of int8.",
        limits,
        limits.astype("i1"),
    )
    large = np.array([2**53, -(2**53), 2**62, 0], "<i8")
    yield from _round_trip(
        "exact-large",
        clauses_of("exact"),
        "Large integers that float64 can represent.",
        large,
        large.astype("<f8"),
    )


_HALVES = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.25, -0.75, 3.0]
_MODES = {
    "nearest-even": [-2, -2, 0, 0, 2, 2, 0, -1, 3],
    "towards-zero": [-2, -1, 0, 0, 1, 2, 0, 0, 3],
    "towards-positive": [-2, -1, 0, 1, 2, 3, 1, 0, 3],
    "towards-negative": [-3, -2, -1, 0, 1, 2, 0, -1, 3],
    "nearest-away": [-3, -2, -1, 1, 2, 3, 0, -1, 3],
}


def _rounded() -> Iterator[Case]:
    values = np.array(_HALVES, "<f8")
    for mode, kept in _MODES.items():
        for name in ("int8", "int64"):
            yield _written(
                f"rounding-{mode}-{name}",
                ("rounding", mode),
                f"{mode}: elements between two integers.",
                values,
                np.array(kept, np.dtype(name).newbyteorder("<")),
                rounding=mode,
            )
    yield _written(
        "rounding-left-out",
        ("rounding-default", "nearest-even"),
        "The default of rounding is nearest-even.",
        values,
        np.array(_MODES["nearest-even"], "i1"),
    )
    between = np.array([2**24 + 1, -(2**24) - 1, 2**24 + 3], "<i4")
    for mode, near in (
        ("nearest-even", [2**24, -(2**24), 2**24 + 4]),
        ("towards-zero", [2**24, -(2**24), 2**24 + 2]),
        ("towards-positive", [2**24 + 2, -(2**24), 2**24 + 4]),
        ("towards-negative", [2**24, -(2**24) - 2, 2**24 + 2]),
        ("nearest-away", [2**24 + 2, -(2**24) - 2, 2**24 + 4]),
    ):
        yield _written(
            f"rounding-{mode}-int32-float32",
            ("rounding", mode),
            f"{mode}: integers that float32 cannot represent.",
            between,
            np.array(near, "<f4"),
            rounding=mode,
        )
    tenth = np.array([0.1, -0.1], "<f8")
    below, above = np.float32(0.1), np.nextafter(np.float32(0.1), np.float32(0))
    for mode, pair in (
        ("nearest-even", (below, -below)),
        ("towards-zero", (above, -above)),
        ("towards-positive", (below, -above)),
        ("towards-negative", (above, -below)),
    ):
        yield _written(
            f"rounding-{mode}-float64-float32",
            ("rounding", mode),
            f"{mode}: a number that float32 cannot represent.",
            tenth,
            np.array(pair, "<f4"),
            rounding=mode,
        )


def _ranges() -> Iterator[Case]:
    wide = np.array([-1000, -129, -128, 127, 128, 1000], "<i4")
    yield _written(
        "clamp-int8",
        ("out-of-range", "clamp"),
        "Values out of range become the smallest or largest value.",
        wide,
        np.array([-128, -128, -128, 127, 127, 127], "i1"),
        out_of_range="clamp",
    )
    yield _written(
        "clamp-uint8",
        ("out-of-range", "clamp"),
        "Values out of range become the smallest or largest value.",
        wide,
        np.array([0, 0, 0, 127, 128, 255], "u1"),
        out_of_range="clamp",
    )
    yield _written(
        "clamp-infinity",
        ("out-of-range", "clamp", "clamp-infinity"),
        "Values out of range become infinity, which float32 can represent.",
        np.array([1e300, -1e300, 1.0], "<f8"),
        np.array([_INF, -_INF, 1.0], "<f4"),
        out_of_range="clamp",
    )
    yield _written(
        "wrap-int16",
        ("out-of-range", "wrap", "wrap-integers"),
        "The examples of the specification.",
        np.array([32768, 32769, -32769, 65536], "<i4"),
        np.array([-32768, -32767, 32767, 0], "<i2"),
        out_of_range="wrap",
    )
    yield _written(
        "wrap-uint8",
        ("out-of-range", "wrap"),
        "Values are taken modulo 256.",
        wide,
        np.array([24, 127, 128, 127, 128, 232], "u1"),
        out_of_range="wrap",
    )
    yield _written(
        "wrap-float",
        ("out-of-range", "wrap", "rounded-first"),
        "128.0 as int8, the example of the specification; rounding is applied first.",
        np.array([128.0, 127.5, -128.5, 255.0], "<f8"),
        np.array([-128, -128, -128, -1], "i1"),
        out_of_range="wrap",
    )
    yield _written(
        "clamp-rounded-first",
        ("out-of-range", "clamp", "rounded-first"),
        "A value that rounds into the range is not out of range.",
        np.array([127.4, 127.5, -128.4, 300.0], "<f8"),
        np.array([127, 127, -128, 127], "i1"),
        out_of_range="clamp",
    )


def _special() -> Iterator[Case]:
    values = np.array([_NAN, _INF, -_INF, -0.0, 0.0], "<f8")
    yield from _round_trip(
        "special-float32",
        clauses_of("nan", "zero"),
        "NaN, infinities and the sign of zero are preserved.",
        values,
        values.astype("<f4"),
    )
    yield _written(
        "special-zero",
        ("zero", "rounding"),
        "A value that rounds to zero keeps its sign.",
        np.array([-1e-300, 1e-300], "<f8"),
        np.array([-0.0, 0.0], "<f4"),
    )


def _maps() -> Iterator[Case]:
    both = {"encode": [["NaN", 0]], "decode": [[0, "NaN"]]}
    values = np.array([1.0, 2.0, 255.0, _NAN], "<f8")
    yield from _round_trip(
        "map-nan",
        clauses_of("map", "map-json", "map-first"),
        "NaN is stored as 0, and 0 is read as NaN.",
        values,
        np.array([1, 2, 255, 0], "u1"),
        scalar_map=both,
    )
    all_three = [["NaN", 0], ["Infinity", 255], ["-Infinity", 1]]
    yield _written(
        "map-infinities",
        ("map", "map-first", "nan-refused"),
        "Values that integers cannot represent are mapped.",
        np.array([_NAN, _INF, -_INF, 7.0], "<f8"),
        np.array([0, 255, 1, 7], "u1"),
        scalar_map={"encode": all_three},
    )
    yield _written(
        "map-before-exact",
        ("map-first", "order"),
        "The map also applies to values that could be converted.",
        np.array([1, 2, 3], "<i4"),
        np.array([9, 2, 3], "i1"),
        scalar_map={"encode": [[1, 9]]},
    )
    yield _written(
        "map-before-range",
        ("map-first", "order"),
        "The map applies to values out of range.",
        np.array([1000, 2, 3], "<i4"),
        np.array([-1, 2, 3], "i1"),
        scalar_map={"encode": [[1000, -1]]},
    )
    yield _written(
        "map-first-of-two",
        ("map-unique",),
        "The first of two pairs with the same key is used.",
        np.array([1, 2, 3], "<i4"),
        np.array([9, 2, 3], "i1"),
        scalar_map={"encode": [[1, 9], [1, 8]]},
    )
    yield read_case(
        "ext-codecs/cast-value/map-decode",
        clauses_of("map", "map-first", "map-unique"),
        "Decoding applies the map before the cast, and uses the first of two pairs.",
        bytes([0, 1, 2]),
        values=np.array([-99, 1, 2], "<i4"),
        needs=NEEDS,
        fill_value=5,
        codecs=chain("uint8", scalar_map={"decode": [[0, -99], [0, 7]]}),
    )
