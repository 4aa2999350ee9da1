"""Arrays of version 1."""

from __future__ import annotations

import zlib
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.encode import blocks, document
from zarr_conformance.corpus.metadata import OMITTED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zarr_conformance.corpus.case import Expectation

_VALUES = np.arange(1, 36, dtype="<i4").reshape(5, 7)
_MEMBERS = (
    *("zarr_format", "shape", "chunks", "dtype", "compression", "compression_opts"),
    *("fill_value", "order"),
)


def _array(**members: Any) -> dict[str, Any]:
    plain = {
        "zarr_format": 1,
        "shape": [5, 7],
        "chunks": [2, 3],
        "dtype": "<i4",
        "compression": "none",
        "compression_opts": None,
        "fill_value": -1,
        "order": "C",
    }
    return {name: it for name, it in (plain | members).items() if it is not OMITTED}


def _chunks(dtype: str = "<i4", order: Any = "C", level: int | None = None) -> dict[str, bytes]:
    parts = blocks(_VALUES.astype(dtype), (2, 3), -1)
    encoded = {f"{row}.{column}": it.tobytes(order) for (row, column), it in parts.items()}
    if level is None:
        return encoded
    return {key: zlib.compress(it, level) for key, it in encoded.items()}


def _case(
    name: str,
    clauses: tuple[str, ...],
    summary: str,
    expect: Expectation,
    metadata: dict[str, Any] | bytes,
    chunks: Mapping[str, bytes] | None = None,
    attributes: Any = None,
    operation: Any = "read",
) -> Case:
    meta = metadata if isinstance(metadata, bytes) else document(metadata)
    store = {"meta": meta, **(chunks or {})}
    if attributes is not OMITTED:
        store["attrs"] = document({} if attributes is None else attributes)
    return Case(
        f"v1/{name}",
        tuple(f"v1.{it}" for it in clauses),
        summary,
        operation,
        expect,
        store,
        zarr_format=1,
    )


def cases() -> Iterator[Case]:
    """Yield the cases."""
    whole = Accept(Node("array", (5, 7), values=Values(_VALUES.tobytes())))
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
                _array(dtype=dtype, order=order, **compression),
                _chunks(dtype, order, level),
            )
    missing = _VALUES.copy()
    missing[:2, :3] = -1
    some = {key: it for key, it in _chunks().items() if key != "0.0"}
    yield _case(
        "chunks/missing",
        ("chunks.missing",),
        "The elements of a missing chunk are the fill value.",
        Accept(Node(values=Values(missing.tobytes()))),
        _array(),
        some,
    )
    yield _case(
        "chunks/undefined",
        ("chunks.missing",),
        "Without a fill value the elements of a missing chunk are undefined.",
        Either(),
        _array(fill_value=None),
        some,
    )
    for member in _MEMBERS:
        yield _case(
            f"metadata/without-{member.replace('_', '-')}",
            ("metadata.members",),
            f"The document meta must have {member}.",
            Reject("metadata", "missing"),
            _array(**{member: OMITTED}),
            _chunks(),
            operation="open",
        )
    for kind, data in (("list", b"[]"), ("cut", b'{"zarr_format": 1'), ("empty", b"")):
        yield _case(
            f"metadata/json-{kind}",
            ("metadata.members",),
            "The document meta is a JSON object.",
            Reject("metadata", "missing"),
            data,
            operation="open",
        )
    yield _case(
        "metadata/other",
        ("metadata.other", "metadata.other-meaning", "metadata.members"),
        "Other members have no meaning.",
        whole,
        _array(filters=[{"id": "delta"}], dimension_separator="/", node_type="group"),
        _chunks(),
    )
    for dtype in ("i4", "int32", "f8"):
        yield _case(
            f"dtype/no-order-{dtype}",
            ("dtype.byte-order",),
            f"The data type {dtype!r} has no byte order.",
            Reject("metadata", "extension"),
            _array(dtype=dtype),
            operation="open",
        )
    for kind, attributes in (("some", {"a": 1, "b": [0.5, None]}), ("none", {})):
        yield _case(
            f"attributes/{kind}",
            ("attributes.document",),
            "Attributes are read from attrs.",
            Accept(Node(attributes=attributes)),
            _array(),
            attributes=attributes,
            operation="open",
        )
    yield _case(
        "attributes/absent",
        ("attributes.document",),
        "Writers must write attrs; the specification does not define what readers do without it.",
        Either(),
        _array(),
        attributes=OMITTED,
        operation="open",
    )
