"""Arrays of version 1."""

from __future__ import annotations

import zlib
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Values
from zarr_conformance.corpus.case_tables import table_cases
from zarr_conformance.corpus.encode import blocks, document
from zarr_conformance.corpus.metadata import array_1

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zarr_conformance.corpus.case import Expectation

_VALUES = np.arange(1, 36, dtype="<i4").reshape(5, 7)


def _chunks(dtype: str = "<i4", order: Any = "C", level: int | None = None) -> dict[str, bytes]:
    parts = blocks(_VALUES.astype(dtype), (2, 3), -1)
    encoded = {f"{row}.{column}": value.tobytes(order) for (row, column), value in parts.items()}
    if level is None:
        return encoded
    return {key: zlib.compress(value, level) for key, value in encoded.items()}


def _case(
    name: str,
    clauses: tuple[str, ...],
    summary: str,
    expect: Expectation,
    metadata: dict[str, Any],
    chunks: Mapping[str, bytes],
) -> Case:
    return Case(
        f"v1/{name}",
        tuple(f"v1.{clause}" for clause in clauses),
        summary,
        "read",
        expect,
        {"meta": document(metadata), **chunks, "attrs": document({})},
        zarr_format=1,
    )


def cases() -> Iterator[Case]:
    """Yield the cases."""
    for dtype, order in product(("<i4", ">i4", "<i8", ">f8"), "CF"):
        little = _VALUES.astype(dtype.replace(">", "<")).tobytes()
        for level in (None, 1):
            compression = {"compression": "zlib", "compression_opts": level} if level else {}
            named = f"{'big' if dtype[0] == '>' else 'little'}-{dtype[1:]}-{order.lower()}"
            yield _case(
                f"chunks/{named}-{'zlib' if level else 'none'}",
                ("chunks.compressed", "chunks.key", "chunks.order", "dtype.byte-order"),
                f"Chunks of {dtype} in the order {order}.",
                # The only writers of this version stored F order with blosc alone.
                Accept(Node("array", (5, 7), values=Values(little)))
                if order == "C"
                else Either(Node("array", (5, 7))),
                array_1(dtype=dtype, order=order, **compression),
                _chunks(dtype, order, level),
            )
    missing = _VALUES.copy()
    missing[:2, :3] = -1
    some = {key: value for key, value in _chunks().items() if key != "0.0"}
    yield _case(
        "chunks/missing",
        ("chunks.missing",),
        "The elements of a missing chunk are the fill value.",
        Accept(Node(values=Values(missing.tobytes()))),
        array_1(),
        some,
    )
    yield _case(
        "chunks/undefined",
        ("chunks.missing",),
        "Without a fill value the elements of a missing chunk are undefined.",
        Either(),
        array_1(fill_value=None),
        some,
    )
    constants = {"chunks": {**_chunks(), "attrs": document({})}}
    yield from table_cases("v1", constants=constants)
