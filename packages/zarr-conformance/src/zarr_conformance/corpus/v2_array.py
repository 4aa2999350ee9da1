"""Array metadata, chunk keys and chunk layouts of version 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Node, Reject, Values
from zarr_conformance.corpus.case_tables import table_cases
from zarr_conformance.corpus.encode import blocks, document
from zarr_conformance.corpus.metadata import array_2

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.case import Expectation

VALUES = np.arange(1, 25, dtype="<i4").reshape(4, 6)


def stored(values: Any, lengths: tuple[int, ...], encode: Any = None, order: Any = "C") -> Any:
    """Return the chunks of an array by their keys."""
    return {
        ".".join(map(str, at)) or "0": (encode or bytes)(part.tobytes(order))
        for at, part in blocks(values, lengths).items()
    }


def case(
    name: str,
    clauses: str | tuple[str, ...],
    summary: str,
    expect: Expectation,
    members: dict[str, Any] | bytes,
    chunks: dict[str, bytes] | None = None,
    operation: Any = "open",
    **more: Any,
) -> Case:
    """Return a case with an array at the root."""
    names = (clauses,) if isinstance(clauses, str) else clauses
    data = members if isinstance(members, bytes) else document(members)
    return Case(
        f"v2/{name}",
        tuple(f"v2.{item}" for item in names),
        summary,
        operation,
        expect,
        {".zarray": data, **(chunks or {})},
        zarr_format=2,
        **more,
    )


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from table_cases("v2_array", "members")
    yield from _chunks()


def _chunks() -> Iterator[Case]:
    for name, shape, lengths in (
        ("border", (5,), (2,)),
        ("larger", (3,), (10,)),
        ("two", (5, 4), (2, 3)),
        ("three", (3, 2, 5), (2, 2, 2)),
        ("ten", (12,), (1,)),
    ):
        values = np.arange(1, 1 + int(np.prod(shape)), dtype="<i4").reshape(shape)
        for order in "CF":
            yield case(
                f"chunks/{name}-{order.lower()}",
                ("chunks.shape", "chunks.key", "array.order-layout", "array.order"),
                f"An array of shape {shape} in chunks of {lengths}, order {order}.",
                Accept(Node(values=Values(values.tobytes()))),
                array_2(shape=list(shape), chunks=list(lengths), order=order),
                stored(values, lengths, order=order),
                "read",
            )
            yield Case(
                f"v2/chunks/{name}-{order.lower()}-created",
                ("v2.chunks.shape", "v2.chunks.key", "v2.array.order-layout"),
                f"An array of shape {shape} is written in chunks of {lengths}, order {order}.",
                "create",
                Accept(
                    Node(
                        values=Values(values.tobytes()), stored=stored(values, lengths, order=order)
                    )
                ),
                zarr_format=2,
                document=array_2(shape=list(shape), chunks=list(lengths), order=order),
            )
    values = np.arange(5, dtype="<i4")
    chunks = stored(values, (2,))
    chunks["2"] = chunks["2"][:4] + b"\xff\xff\xff\x7f"
    yield case(
        "chunks/beyond",
        "chunks.beyond",
        "Elements beyond the array are ignored.",
        Accept(Node(values=Values(values.tobytes()))),
        array_2(shape=[5], chunks=[2]),
        chunks,
        "read",
    )
    yield case(
        "chunks/no-dimensions",
        "chunks.key",
        "The only chunk of a zero-dimensional array has the key 0.",
        Accept(Node("array", (), values=Values(b"\7\0\0\0"))),
        array_2(shape=[], chunks=[]),
        {"0": b"\7\0\0\0"},
        "read",
    )
    yield case(
        "chunks/empty-array",
        "array.shape",
        "An array may have no elements.",
        Accept(Node("array", (0, 6), values=Values(b""))),
        array_2(shape=[0, 6]),
        {},
        "read",
    )
    for kind, data in (("short", bytes(20)), ("long", bytes(28)), ("empty", b"")):
        yield case(
            f"chunks/damage-{kind}",
            "chunks.shape",
            "A chunk with a wrong size is an error.",
            Reject("chunk"),
            array_2(),
            {"0.0": data},
            "read",
        )
