"""Cases that read, write or reject an array in one chunk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Node, Values, refused_fill_value
from zarr_conformance.corpus.encode import document, raw
from zarr_conformance.corpus.metadata import array, regular

if TYPE_CHECKING:
    from zarr_conformance.corpus.case import Expectation

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
GZIP = {"name": "gzip", "configuration": {"level": 1}}
CRC32C = {"name": "crc32c"}
VALUES = np.arange(24, dtype="<i4").reshape(4, 6) * 1000 - 7


def extension(name: str, **configuration: Any) -> dict[str, Any]:
    """Return the definition of an extension with its configuration."""
    return {"name": name, "configuration": configuration}


def sharding_codec(inner: list[Any], *lengths: int) -> dict[str, Any]:
    """Return the sharding codec with this inner chunk shape."""
    return extension(
        "sharding_indexed",
        chunk_shape=list(lengths),
        codecs=inner,
        index_codecs=[BYTES, CRC32C],
        index_location="end",
    )


def as_values(values: Any) -> Values:
    """Return the elements as the values of a case: from NumPy, or raw bytes."""
    return Values(values) if isinstance(values, bytes) else Values(raw(values))


def single_chunk(values: Any, **members: Any) -> dict[str, Any]:
    """Return the metadata of an array in one chunk with the data type of these elements."""
    plain = {
        "shape": list(values.shape),
        "chunk_grid": regular(*values.shape),
        "data_type": values.dtype.name,
    }
    return array(**(plain | members))


def key_of(values: Any) -> str:
    """Return the key of the only chunk of an array."""
    return "/".join(("c", *("0" for _ in values.shape)))


def read_case(
    case_id: str,
    clauses: tuple[str, ...],
    summary: str,
    stored: bytes,
    expect: Expectation | None = None,
    *,
    values: Any = VALUES,
    needs: tuple[str, ...] = (),
    **members: Any,
) -> Case:
    """Return a case that reads an array in one chunk, stored as these bytes."""
    return Case(
        case_id,
        clauses,
        summary,
        "read",
        expect or Accept(Node(values=as_values(values))),
        {"zarr.json": document(single_chunk(values, **members)), key_of(values): stored},
        needs=needs,
    )


def write_case(
    case_id: str,
    clauses: tuple[str, ...],
    summary: str,
    stored: bytes | None,
    *,
    values: Any = VALUES,
    needs: tuple[str, ...] = (),
    **members: Any,
) -> Case:
    """Return a case that writes an array in one chunk; a given chunk is compared."""
    metadata = single_chunk(values, **members)
    return Case(
        case_id,
        clauses,
        summary,
        "create",
        Accept(
            Node(
                values=as_values(values),
                stored=None if stored is None else {key_of(values): stored},
            )
        ),
        needs=needs,
        document=metadata,
    )


def reject_case(
    case_id: str,
    clauses: tuple[str, ...],
    summary: str,
    expect: Expectation | None = None,
    *,
    values: Any = VALUES,
    needs: tuple[str, ...] = (),
    stored: bytes | None = None,
    **members: Any,
) -> Case:
    """Return a case that rejects this metadata, at the latest when the chunk is read."""
    return Case(
        case_id,
        clauses,
        summary,
        "open" if stored is None else "read",
        expect or refused_fill_value(members.get("fill_value", 0), "metadata", "extension"),
        {
            "zarr.json": document(single_chunk(values, **members)),
            **({} if stored is None else {key_of(values): stored}),
        },
        needs=needs,
    )
