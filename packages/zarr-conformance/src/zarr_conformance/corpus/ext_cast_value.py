"""The registered codec cast_value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case_tables import table_cases
from zarr_conformance.corpus.encode import raw
from zarr_conformance.corpus.one_chunk import BYTES, extension, read_case, write_case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.case import Case

NEEDS = ("codec:cast_value",)
_NAN, _INF = float("nan"), float("inf")


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _exact()
    yield from table_cases("ext_cast_value", "rounded", "ranges", "special", "maps")


def clauses_of(*names: str) -> tuple[str, ...]:
    """Return the ids of clauses of this codec."""
    return tuple(f"ext-codecs.cast-value.{name}" for name in names)


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


def _exact() -> Iterator[Case]:
    names = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    floats = ("float16", "float32", "float64")
    some = [0, 1, 2, 100]
    for first, second in (
        *(("float64", item) for item in (*names, "float16", "float32")),
        *((item, "int8") for item in (*names[1:], *floats[:2])),
        *((item, "float64") for item in (*names, "float16", "float32")),
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
