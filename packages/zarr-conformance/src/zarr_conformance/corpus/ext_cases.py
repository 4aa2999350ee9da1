"""Cases of extensions that are registered, each an array in one chunk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Node, Reject, Values
from zarr_conformance.corpus.documents import array, regular
from zarr_conformance.corpus.encode import document, raw

if TYPE_CHECKING:
    from zarr_conformance.corpus.case import Expectation

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
GZIP = {"name": "gzip", "configuration": {"level": 1}}
CRC32C = {"name": "crc32c"}
VALUES = np.arange(24, dtype="<i4").reshape(4, 6) * 1000 - 7


def named(name: str, **configuration: Any) -> dict[str, Any]:
    """The definition of an extension with its configuration."""
    return {"name": name, "configuration": configuration}


def sharded(inner: list[Any], *lengths: int) -> dict[str, Any]:
    """The codec that makes shards, with inner chunks of this shape."""
    return named(
        "sharding_indexed",
        chunk_shape=list(lengths),
        codecs=inner,
        index_codecs=[BYTES, CRC32C],
        index_location="end",
    )


def as_values(values: Any) -> Values:
    """Elements as a case has them: those of NumPy, or bytes as they are."""
    return Values(values) if isinstance(values, bytes) else Values(raw(values))


def one(values: Any, **members: Any) -> dict[str, Any]:
    """The document of an array in one chunk that has the data type of these elements."""
    plain = {
        "shape": list(values.shape),
        "chunk_grid": regular(*values.shape),
        "data_type": values.dtype.name,
    }
    return array(**(plain | members))


def read(
    case_id: str,
    clauses: tuple[str, ...],
    says: str,
    stored: bytes,
    expect: Expectation | None = None,
    *,
    values: Any = VALUES,
    needs: tuple[str, ...] = (),
    **members: Any,
) -> Case:
    """An array in one chunk, stored like this, is read."""
    key = "/".join(("c", *("0" for _ in values.shape)))
    return Case(
        case_id,
        clauses,
        says,
        "read",
        expect or Accept(Node(values=as_values(values))),
        {"zarr.json": document(one(values, **members)), key: stored},
        needs=needs,
    )


def created(
    case_id: str,
    clauses: tuple[str, ...],
    says: str,
    stored: bytes | None,
    *,
    values: Any = VALUES,
    needs: tuple[str, ...] = (),
    **members: Any,
) -> Case:
    """An array in one chunk is written; a chunk whose bytes are known is compared."""
    key = "/".join(("c", *("0" for _ in values.shape)))
    told = one(values, **members)
    return Case(
        case_id,
        clauses,
        says,
        "create",
        Accept(
            Node(
                values=as_values(values),
                stored=None if stored is None else {key: stored},
            )
        ),
        needs=needs,
        document=told,
    )


def refused(
    case_id: str,
    clauses: tuple[str, ...],
    says: str,
    expect: Expectation | None = None,
    *,
    values: Any = VALUES,
    needs: tuple[str, ...] = (),
    stored: bytes | None = None,
    **members: Any,
) -> Case:
    """A document like this is refused; with a chunk, when that is read at the latest."""
    key = "/".join(("c", *("0" for _ in values.shape)))
    return Case(
        case_id,
        clauses,
        says,
        "open" if stored is None else "read",
        expect or Reject("metadata", "extension"),
        {
            "zarr.json": document(one(values, **members)),
            **({} if stored is None else {key: stored}),
        },
        needs=needs,
    )
