"""The registered codec n5_default."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.case_tables import table_cases
from zarr_conformance.corpus.encode import blocks, document, gzip, raw
from zarr_conformance.corpus.metadata import array, regular
from zarr_conformance.corpus.one_chunk import GZIP, extension

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_conformance.corpus.case import Expectation

_NEEDS = ("codec:n5_default",)
_BIG = extension("bytes", endian="big")
_VALUES = np.arange(1, 36, dtype="<i4").reshape(5, 7)


def block(values: Any, *, mode: int = 0, shape: Sequence[int] | None = None) -> bytes:
    """Return a block: its header, then its elements, first dimension fastest, big-endian."""
    lengths = [*values.shape] if shape is None else [*shape]
    header = struct.pack(f">HH{len(lengths)}I", mode, len(lengths), *lengths)
    return header + raw(np.ascontiguousarray(values.T), "big")


def _header_and(encode: Any, stored: bytes, dimensions: int = 2) -> bytes:
    size = 4 + 4 * dimensions
    return stored[:size] + bytes(encode(stored[size:]))


def _codec(*more: Any, dimensions: int = 2) -> dict[str, Any]:
    order = [*reversed(range(dimensions))]
    return extension("n5_default", codecs=[extension("transpose", order=order), _BIG, *more])


def _metadata(values: Any, chunk: Sequence[int], codec: Any, **more: Any) -> dict[str, Any]:
    plain = {
        "shape": list(values.shape),
        "data_type": values.dtype.name,
        "chunk_grid": regular(*chunk),
        "chunk_key_encoding": extension("v2", separator="/"),
        "codecs": [codec],
    }
    return array(**(plain | more))


def _clauses(*names: str) -> tuple[str, ...]:
    return tuple(f"ext-codecs.n5-default.{name}" for name in names)


def _read_case(
    what: str,
    names: Sequence[str],
    summary: str,
    chunks: dict[str, bytes],
    values: Any = _VALUES,
    *,
    chunk: Sequence[int] = (2, 3),
    codec: Any = None,
    expect: Expectation | None = None,
    **more: Any,
) -> Case:
    metadata = _metadata(values, chunk, codec or _codec(dimensions=values.ndim), **more)
    return Case(
        f"ext-codecs/n5-default/{what}",
        _clauses(*names),
        summary,
        "read",
        expect or Accept(Node(values=Values(raw(values)))),
        {"zarr.json": document(metadata), **chunks},
        needs=_NEEDS,
    )


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _blocks()
    yield from _created()
    yield from table_cases("ext_n5_default", "configurations")
    yield from _corrupt()


def _blocks() -> Iterator[Case]:
    always = ("name", "codecs", "transpose", "bytes", "endian", "header", "mode", "keys")
    whole = {at: block(part) for at, part in blocks(_VALUES, (2, 3)).items()}
    cut: dict[tuple[int, ...], bytes] = {
        (row, column): block(_VALUES[2 * row : 2 * row + 2, 3 * column : 3 * column + 3])
        for row, column in whole
    }
    mixed = {at: cut[at] if sum(at) % 2 else whole[at] for at in whole}
    for what, parts in (("whole", whole), ("cut", cut), ("mixed", mixed)):
        yield _read_case(
            f"border-{what}",
            (*always, "dimensions", "shape", "border", "grid"),
            "Blocks at the edge are full, truncated, or both in one array.",
            {"/".join(map(str, at)): value for at, value in parts.items()},
        )
    small = {"0/0": block(_VALUES[:1, :2])}
    padded = np.zeros((2, 3), "<i4")
    padded[:1, :2] = _VALUES[:1, :2]
    yield _read_case(
        "shape-smaller",
        ("shape",),
        "A block smaller than the chunk is padded; the specification does not define the value.",
        small,
        padded,
        expect=Either(Node("array")),
    )
    yield _read_case(
        "shape-larger",
        ("shape",),
        "A block larger than the chunk is truncated.",
        {"0/0": block(_VALUES)},
        _VALUES[:2, :3],
    )
    one = np.array([258, -1, 7], "<i2")
    yield _read_case(
        "one-dimension",
        always,
        "A one-dimensional array.",
        {"0": struct.pack(">HHI3h", 0, 1, 3, 258, -1, 7)},
        one,
        chunk=(3,),
    )
    for name in ("int8", "uint8", "uint16", "int64", "uint64", "float32", "float64"):
        values = np.array([[0, 1, 100], [7, 8, 9]], np.dtype(name).newbyteorder("<"))
        yield _read_case(
            f"data-type-{name}",
            (*always, "data-types"),
            f"Elements of {name}.",
            {"0/0": block(values)},
            values,
        )
    octets = np.array([[1, 2, 3], [4, 5, 6]], "u1")
    no_endian = extension(
        "n5_default", codecs=[extension("transpose", order=[1, 0]), {"name": "bytes"}]
    )
    yield _read_case(
        "endian-omitted",
        ("endian-omitted",),
        "Data types of one byte need no byte order.",
        {"0/0": block(octets)},
        octets,
        codec=no_endian,
    )
    compressed = {"/".join(map(str, at)): _header_and(gzip, value) for at, value in cut.items()}
    yield _read_case(
        "gzip",
        (*always, "further", "border"),
        "The header is not compressed, the data are.",
        compressed,
        codec=_codec(GZIP),
    )
    yield _read_case(
        "key-encoding-default",
        ("keys",),
        "N5 uses other chunk keys; the specification does not require an error.",
        {"c/0/0": whole[0, 0]},
        _VALUES[:2, :3],
        expect=Either(Node("array")),
        chunk_key_encoding=extension("default", separator="/"),
    )


def _created() -> Iterator[Case]:
    values = np.arange(1, 7, dtype="<i4").reshape(2, 3)
    yield Case(
        "ext-codecs/n5-default/created",
        _clauses("header", "mode", "transpose", "endian"),
        "The stored bytes are exact.",
        "create",
        Accept(Node(values=Values(raw(values)), stored={"0/0": block(values)})),
        needs=_NEEDS,
        document=_metadata(values, (2, 3), _codec()),
    )


def _corrupt() -> Iterator[Case]:
    values = np.arange(1, 7, dtype="<i4").reshape(2, 3)
    good = block(values)
    for what, stored, clause in (
        ("varlength", block(values, mode=1), "mode"),
        ("object", block(values, mode=2), "mode"),
        ("unknown-mode", block(values, mode=7), "mode"),
        ("one-dimension", block(values, shape=[6]), "dimensions"),
        ("three-dimensions", block(values, shape=[2, 3, 1]), "dimensions"),
        ("empty", b"", "header"),
        ("cut-header", good[:7], "header"),
        ("cut", good[:-1], "header"),
        ("shape-beyond", block(values, shape=[4, 2]), "header"),
        ("shape-huge", block(values, shape=[2**31, 2**31]), "header"),
    ):
        yield _read_case(
            f"damage-{what}",
            (clause,),
            "A block that does not match its header is an error.",
            {"0/0": stored},
            values,
            expect=Reject("chunk"),
        )
    yield _read_case(
        "damage-gzip",
        ("further", "header"),
        "The data after the header are corrupt.",
        {"0/0": good},
        values,
        codec=_codec(GZIP),
        expect=Reject("chunk"),
    )
