"""The registered chunk grid rectilinear, with chunk key encodings."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.encode import blocks, crc32c, document, gzip, json_text, raw, shard
from zarr_conformance.corpus.metadata import array
from zarr_conformance.corpus.one_chunk import BYTES, CRC32C, GZIP, extension, sharding_codec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_conformance.corpus.case import Expectation

_NEEDS = ("chunk_grid:rectilinear",)
_LINE = np.arange(1, 11, dtype="<i4")
_TABLE = np.arange(1, 61, dtype="<i4").reshape(6, 10)


def grid(*shapes: Any, **more: Any) -> dict[str, Any]:
    """Return a rectilinear grid with these chunk lengths."""
    return extension("rectilinear", **({"kind": "inline", "chunk_shapes": list(shapes)} | more))


def parts(
    values: Any, lengths: Sequence[Sequence[int]], fill: int = 99
) -> dict[tuple[int, ...], Any]:
    """Return the chunks by their coordinates, with full chunks beyond the array."""
    starts = [[0, *accumulate(of)] for of in lengths]
    chunks = {}
    for at in np.ndindex(*(len(of) for of in lengths)):
        whole = np.full([of[n] for of, n in zip(lengths, at, strict=True)], fill, values.dtype)
        index = tuple(
            slice(of[n], min(of[n + 1], size))
            for of, n, size in zip(starts, at, values.shape, strict=True)
        )
        inner = values[index]
        whole[tuple(slice(0, size) for size in inner.shape)] = inner
        chunks[at] = whole
    return chunks


def _keys(chunks: dict[tuple[int, ...], Any], encode: Any = raw) -> dict[str, bytes]:
    return {"/".join(("c", *map(str, at))): encode(part) for at, part in chunks.items()}


def clauses_of(*names: str) -> tuple[str, ...]:
    """Return ids of clauses of the chunk grids; complete ids are kept."""
    return tuple(
        name if name.startswith(("ext-", "v3-")) else f"ext-grids.{name}" for name in names
    )


def read(
    what: str,
    names: Sequence[str],
    summary: str,
    shapes: Sequence[Any],
    chunks: dict[str, bytes],
    values: Any = _LINE,
    *,
    expect: Expectation | None = None,
    selection: Any = None,
    shape: Any = None,
    needs: tuple[str, ...] = (),
    **members: Any,
) -> Case:
    """Return a case that reads an array with this grid."""
    metadata = array(
        **({"shape": list(shape or values.shape), "chunk_grid": grid(*shapes)} | members)
    )
    return Case(
        f"ext-grids/rectilinear/{what}",
        clauses_of(
            *(name if name.startswith(("ext-", "v3-")) else f"rectilinear.{name}" for name in names)
        ),
        summary,
        "read",
        expect or Accept(Node(values=Values(raw(values)))),
        {"zarr.json": document(metadata), **chunks},
        needs=(*_NEEDS, *needs),
        selection=selection,
    )


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _lengths()
    yield from _example()
    yield from _tables()
    yield from _codecs()
    yield from _keys_of_chunks()


_FORMS: tuple[tuple[str, Any, list[int], tuple[str, ...]], ...] = (
    ("integer", 4, [4, 4, 4], ("integer",)),
    ("integer-whole", 10, [10], ("integer",)),
    ("integer-larger", 16, [16], ("integer", "overflow")),
    ("integer-one", 1, [1] * 10, ("integer",)),
    ("list", [1, 2, 3, 4], [1, 2, 3, 4], ("list",)),
    ("list-of-one", [10], [10], ("list",)),
    ("list-larger", [3, 9], [3, 9], ("list", "overflow")),
    ("list-chunks-beyond", [5, 5, 5, 5], [5, 5, 5, 5], ("list", "overflow")),
    ("runs", [[2, 5]], [2] * 5, ("runs",)),
    ("runs-mixed", [[1, 3], 3, [2, 2]], [1, 1, 1, 3, 2, 2], ("runs", "list")),
    ("runs-of-one", [[4, 1], [6, 1]], [4, 6], ("runs",)),
    ("runs-beyond", [[4, 1000]], [4, 4, 4], ("runs", "overflow")),
    ("runs-far-beyond", [[4, 1000000000]], [4, 4, 4], ("runs", "overflow")),
    ("runs-two", [[3, 2], [2, 2]], [3, 3, 2, 2], ("runs",)),
    ("descending", [7, 2, 1], [7, 2, 1], ("list",)),
)


def _lengths() -> Iterator[Case]:
    for what, value, lengths, names in _FORMS:
        chunks = {
            at: part for at, part in parts(_LINE, [lengths]).items() if sum(lengths[: at[0]]) < 10
        }
        always = ("name", "kind", "chunk-shapes", "positive", "sum", "indexing", *names)
        yield read(
            what,
            always,
            f"{json_text(value)} denotes the lengths {lengths}.",
            [value],
            _keys(chunks),
        )
        yield read(
            f"{what}-part",
            ("indexing", *names),
            "A partial selection.",
            [value],
            _keys(chunks),
            _LINE[2:9:3],
            selection=((2, 9, 3),),
            shape=(10,),
        )
    yield read(
        "missing",
        ("indexing", "list"),
        "Missing chunks read as the fill value.",
        [[1, 2, 3, 4]],
        {"c/1": raw(_LINE[1:3])},
        np.array([-1, 2, 3] + [-1] * 7, "<i4"),
        fill_value=-1,
    )
    yield read(
        "no-elements",
        ("sum", "integer"),
        "A dimension without elements has no chunks.",
        [4],
        {},
        np.zeros(0, "<i4"),
    )
    yield read(
        "no-elements-no-lengths",
        ("sum", "list"),
        "A dimension of length 0: the specification does not define whether a list may be empty.",
        [[]],
        {},
        np.zeros(0, "<i4"),
        expect=Either(Node("array")),
    )
    yield read(
        "no-dimensions",
        ("chunk-shapes",),
        "A zero-dimensional array has one chunk.",
        [],
        {"c": raw(np.array(7, "<i4"))},
        np.array(7, "<i4"),
    )


def _example() -> Iterator[Case]:
    """Yield the example of the specification: five dimensions of 6 elements."""
    values = np.arange(6**5, dtype="<i2").reshape((6,) * 5)
    shapes: list[Any] = [4, [1, 2, 3], [[4, 2]], [[1, 3], 3], [4, 4, 4]]
    lengths = [[4, 4], [1, 2, 3], [4, 4], [1, 1, 1, 3], [4, 4]]
    yield read(
        "example",
        ("chunk-shapes", "integer", "list", "runs", "overflow", "indexing"),
        "The example of the specification.",
        shapes,
        _keys(parts(values, lengths)),
        values,
        data_type="int16",
    )
    yield read(
        "example-part",
        ("indexing",),
        "A partial selection of the example of the specification.",
        shapes,
        _keys(parts(values, lengths)),
        values[1:6:2, 2:4, 5:6, 0:6, 3:5],
        selection=((1, 6, 2), (2, 4, 1), (5, 6, 1), (0, 6, 1), (3, 5, 1)),
        shape=values.shape,
        data_type="int16",
    )


def _tables() -> Iterator[Case]:
    lengths = [[1, 2, 3], [7, 3]]
    stored = _keys(parts(_TABLE, lengths))
    always = ("indexing", "list", "chunk-shapes")
    yield read("table", always, "Two dimensions.", lengths, stored, _TABLE)
    for what, selection in (
        ("corner", ((5, 6, 1), (9, 10, 1))),
        ("row", ((2, 3, 1), (0, 10, 1))),
        ("steps", ((0, 6, 2), (1, 10, 4))),
        ("chunk", ((1, 3, 1), (7, 10, 1))),
    ):
        yield read(
            f"table-{what}",
            ("indexing",),
            "A partial selection.",
            lengths,
            stored,
            _TABLE[tuple(slice(*item) for item in selection)],
            selection=selection,
            shape=_TABLE.shape,
        )
    yield read(
        "table-regular",
        ("regular", "integer"),
        "chunk_shape of a regular grid has the same meaning.",
        [4, 6],
        _keys(blocks(_TABLE, (4, 6), 99)),
        _TABLE,
    )
    metadata = array(shape=[6, 10], chunk_grid=grid(*lengths))
    yield Case(
        "ext-grids/rectilinear/created",
        clauses_of("rectilinear.indexing", "rectilinear.list"),
        "The stored bytes are exact.",
        "create",
        Accept(Node(values=Values(raw(_TABLE)), stored=stored)),
        needs=_NEEDS,
        document=metadata,
    )
    yield Case(
        "ext-grids/rectilinear/kept",
        clauses_of("rectilinear.runs", "rectilinear.overflow"),
        "Setting an attribute keeps the metadata of the grid.",
        "update",
        Accept(Node(documents={"zarr.json": {"chunk_grid": grid([[1, 3], 3], 16)}})),
        {"zarr.json": document(array(shape=[6, 10], chunk_grid=grid([[1, 3], 3], 16)))},
        needs=_NEEDS,
    )


def _codecs() -> Iterator[Case]:
    lengths = [[1, 2, 3], [7, 3]]
    chunks = parts(_TABLE, lengths)
    turn = extension("transpose", order=[1, 0])
    for what, codecs, encode in (
        ("gzip", [BYTES, GZIP], lambda part: gzip(raw(part))),
        ("crc32c", [BYTES, CRC32C], lambda part: crc32c(raw(part))),
        ("transpose", [turn, BYTES], lambda part: raw(np.ascontiguousarray(part.T))),
    ):
        yield read(
            f"codecs-{what}",
            ("indexing",),
            "Each chunk is encoded with its own shape.",
            lengths,
            _keys(chunks, encode),
            _TABLE,
            codecs=codecs,
        )
    yield read(
        "codecs-reshape",
        ("indexing", "ext-codecs.reshape.dimensions"),
        "reshape with lists of dimensions supports all chunk shapes.",
        lengths,
        _keys(chunks),
        _TABLE,
        needs=("codec:reshape",),
        codecs=[extension("reshape", shape=[[0, 1]]), BYTES],
    )
    wide = [[2, 4], [6, 4]]

    def sharded_part(part: Any) -> bytes:
        inner = blocks(part, (2, 2))
        return shard({n: raw(chunk) for n, chunk in enumerate(inner.values())}, len(inner))

    shards = _keys(parts(_TABLE, wide), sharded_part)
    yield read(
        "shards",
        ("indexing", "list"),
        "Shards of several sizes with one inner chunk shape.",
        wide,
        shards,
        _TABLE,
        codecs=[sharding_codec([BYTES], 2, 2)],
    )
    yield read(
        "shards-part",
        ("indexing",),
        "A selection across shards of several sizes.",
        wide,
        shards,
        _TABLE[1:5, 3:9],
        selection=((1, 5, 1), (3, 9, 1)),
        shape=_TABLE.shape,
        codecs=[sharding_codec([BYTES], 2, 2)],
    )
    metadata = array(
        shape=[6, 10], chunk_grid=grid(*lengths), codecs=[sharding_codec([BYTES], 2, 2)]
    )
    yield Case(
        "ext-grids/rectilinear/no-shards-that-do-not-fit",
        clauses_of("rectilinear.chunk-shapes"),
        "The inner chunk shape (2, 2) does not divide the chunk shape (1, 7).",
        "read",
        Reject("metadata", "extension"),
        {"zarr.json": document(metadata), "c/0/0": raw(_TABLE[:1, :7])},
    )


def _keys_of_chunks() -> Iterator[Case]:
    lengths = [[1, 2, 3], [7, 3]]
    chunks = parts(_TABLE, lengths)
    for name, separator, first in (
        ("default", "/", "c/"),
        ("default", ".", "c."),
        ("v2", ".", ""),
        ("v2", "/", ""),
    ):
        what = f"{name}-{'slash' if separator == '/' else 'period'}"
        encoding = extension(name, separator=separator)
        clauses = (f"ext-key-encodings.{name}.linked", "ext-key-encodings.any-grid", "indexing")
        stored = {first + separator.join(map(str, at)): raw(part) for at, part in chunks.items()}
        yield read(
            f"keys-{what}",
            clauses,
            "Chunk keys consist of the coordinates in the grid.",
            lengths,
            stored,
            _TABLE,
            chunk_key_encoding=encoding,
        )
        yield Case(
            f"ext-key-encodings/{name}/{what}",
            (*clauses[:2], "ext-grids.regular.linked", "ext-data-types.core.linked"),
            "The same with a regular grid.",
            "read",
            Accept(Node(values=Values(raw(_TABLE)))),
            {
                "zarr.json": document(
                    array(
                        shape=[6, 10],
                        chunk_grid=extension("regular", chunk_shape=[4, 6]),
                        chunk_key_encoding=encoding,
                    )
                ),
                **{
                    first + separator.join(map(str, at)): raw(part)
                    for at, part in blocks(_TABLE, (4, 6), 99).items()
                },
            },
        )
