"""Chunks of arrays of the draft of version 3: chunk grids, layouts, codecs, corrupt chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.draft_metadata import array, case, codec, regular
from zarr_conformance.corpus.encode import blocks, gzip, raw
from zarr_conformance.corpus.v3_blosc import compressed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.case import Expectation

VALUES = np.arange(1, 25, dtype="<i4").reshape(4, 6)
_GZIP = ("codec:gzip",)


def read(
    what: str,
    clauses: Any,
    summary: str,
    chunks: dict[str, bytes],
    values: Any = VALUES,
    *,
    expect: Expectation | None = None,
    needs: tuple[str, ...] = (),
    selection: Any = None,
    **members: Any,
) -> Case:
    """Return a case that reads an array, by default of shape (4, 6) in chunks of (2, 3)."""
    metadata = array(**({"shape": [4, 6], "chunk_grid": regular(2, 3)} | members))
    return case(
        f"chunks/{what}",
        clauses,
        summary,
        expect or Accept(Node("array", values=Values(raw(values)))),
        {
            "meta/a.array.json": metadata,
            **{f"data/a/{key}": value for key, value in chunks.items()},
        },
        "read",
        needs=needs,
        selection=selection,
    )


def _keys(parts: Any, separator: str = "/", encode: Any = raw) -> dict[str, bytes]:
    """Return the chunks by their keys."""
    return {f"c{separator.join(map(str, at))}": encode(part) for at, part in parts.items()}


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _grids()
    yield from _layouts()
    yield from _codecs()
    yield from _corrupt()


def _grids() -> Iterator[Case]:
    parts = blocks(VALUES, (2, 3))
    for kind, separator in (("slash", "/"), ("period", ".")):
        yield read(
            f"separator-{kind}",
            ("separator", "grid-separator", "grid-object", "grid-shape", "keys-chunks", "files"),
            f"Chunk indices are joined by {separator}; c precedes the first without a separator.",
            _keys(parts, separator),
            chunk_grid=regular(2, 3, separator=separator),
        )
    yield read(
        "key-of-version-3",
        ("keys-chunks", "uninitialised"),
        "c/0/0 is not a chunk key of the draft.",
        {"c/0/0": raw(parts[0, 0])},
        np.zeros((4, 6), "<i4"),
    )
    border = np.arange(1, 36, dtype="<i4").reshape(5, 7)
    yield read(
        "border",
        ("grid-border", "grid-origin", "grid-shape"),
        "Chunks at the edge have the full chunk shape; elements beyond the array are ignored.",
        _keys(blocks(border, (2, 3), 99)),
        border,
        shape=[5, 7],
    )
    yield read(
        "border-cut",
        "grid-border",
        "A chunk at the edge that contains only the elements within the array is too short.",
        {"c2/2": raw(border[4:, 6:])},
        shape=[5, 7],
        expect=Reject("chunk"),
    )
    yield read(
        "larger-than-the-array",
        ("grid-border", "grid-origin"),
        "A chunk may be larger than the array.",
        _keys(blocks(VALUES, (5, 8), -1)),
        chunk_grid=regular(5, 8),
    )
    for kind, missing in (("one", [(1, 0)]), ("all", list(parts))):
        values = VALUES.copy()
        for row, column in missing:
            values[2 * row : 2 * row + 2, 3 * column : 3 * column + 3] = -5
        yield read(
            f"missing-{kind}",
            "uninitialised",
            "Missing chunks read as the fill value.",
            _keys({at: part for at, part in parts.items() if at not in missing}),
            values,
            fill_value=-5,
        )
    yield read(
        "part",
        ("grid-origin",),
        "A selection across four chunks.",
        _keys(parts),
        VALUES[1:3, 2:5:2],
        selection=((1, 3, 1), (2, 5, 2)),
    )
    many = np.arange(24, dtype="<i4")
    yield read(
        "indices-of-two-digits",
        ("keys-chunks", "grid-origin"),
        "Chunk indices are decimal numbers.",
        {f"c{n}": raw(many[2 * n : 2 * n + 2]) for n in range(12)},
        many,
        shape=[24],
        chunk_grid=regular(2),
    )
    scalar = np.array(7, "<i4")
    yield read(
        "no-dimensions",
        ("scalar", "keys-chunks"),
        "The chunk key of a zero-dimensional array is c.",
        {"c": raw(scalar)},
        scalar,
        shape=[],
        chunk_grid=regular(),
    )
    yield read(
        "no-elements",
        ("shape", "non-zero-chunks"),
        "An array may have no elements.",
        {},
        np.zeros((0, 6), "<i4"),
        shape=[0, 6],
    )


def _layouts() -> Iterator[Case]:
    parts = blocks(VALUES, (2, 3))
    yield read("c", ("layout-c", "layout-value"), "Elements in row-major order.", _keys(parts))
    yield read(
        "f",
        ("layout-f", "layout-value"),
        "Elements in column-major order.",
        _keys(parts, encode=lambda part: raw(np.ascontiguousarray(part.T))),
        chunk_memory_layout="F",
    )
    cube = np.arange(1, 25, dtype="<i4").reshape(2, 3, 4)
    yield read(
        "f-three-dimensions",
        "layout-f",
        "Layout F reverses all dimensions.",
        {"c0/0/0": raw(np.ascontiguousarray(cube.T))},
        cube,
        shape=[2, 3, 4],
        chunk_grid=regular(2, 3, 4),
        chunk_memory_layout="F",
    )
    yield read(
        "f-big-gzip",
        ("layout-f", "codec-order", "endian-format"),
        "The layout is applied before the codecs.",
        _keys(parts, encode=lambda part: gzip(raw(np.ascontiguousarray(part.T), "big"))),
        chunk_memory_layout="F",
        codecs=[codec("endian", endian="big"), codec("gzip", level=1)],
        needs=("codec:endian", "codec:gzip"),
    )


def _codecs() -> Iterator[Case]:
    parts = blocks(VALUES, (2, 3))
    yield read(
        "codecs-none",
        ("codecs-none", "codec-list", "codecs-optional"),
        "An empty list means no codecs.",
        _keys(parts),
        codecs=[],
    )
    for level in (0, 1, 9):
        yield read(
            f"gzip-{level}",
            (
                "gzip-level",
                "gzip-format",
                "array-to-bytes",
                "codecs-configuration",
                "codec-configuration",
                "codec-uri",
            )
            + (("gzip-level-zero",) if level == 0 else ()),
            "Chunks are gzip files.",
            _keys(parts, encode=lambda part, level=level: gzip(raw(part), level)),
            codecs=[codec("gzip", level=level)],
            needs=_GZIP,
        )
    for cname in ("lz4", "lz4hc", "blosclz", "zstd", "zlib"):
        yield read(
            f"blosc-{cname}",
            ("blosc-members", "blosc-format", "codecs-configuration"),
            f"Chunks are Blosc containers with the compressor {cname}.",
            _keys(parts, encode=lambda part, cname=cname: compressed(raw(part), cname=cname)),
            codecs=[codec("blosc", cname=cname, clevel=5, shuffle=1, blocksize=0)],
            needs=("codec:blosc",),
        )
    for number, shuffle in ((0, "noshuffle"), (1, "shuffle"), (2, "bitshuffle"), (-1, "shuffle")):
        yield read(
            f"blosc-shuffle-{str(number).replace('-', 'minus-')}",
            ("blosc-members", "blosc-format"),
            f"shuffle may be {number}.",
            _keys(parts, encode=lambda part, item=shuffle: compressed(raw(part), shuffle=item)),
            codecs=[codec("blosc", cname="lz4", clevel=5, shuffle=number, blocksize=0)],
            needs=("codec:blosc",),
        )
    little, twice = codec("endian", endian="little"), codec("gzip", level=5)
    for kind, codecs, encode in (
        ("little-gzip", [little, twice], lambda part: gzip(raw(part))),
        ("gzip-gzip", [twice, twice], lambda part: gzip(gzip(raw(part)))),
    ):
        yield read(
            f"chain-{kind}",
            ("codec-order", "codec-list", "array-to-bytes", "endian-default"),
            "Codecs are decoded in reverse order.",
            _keys(parts, encode=encode),
            codecs=codecs,
            needs=("codec:endian", "codec:gzip"),
        )
    yield read(
        "chain-gzip-endian",
        ("codec-order", "incompatible"),
        "A codec for arrays after a codec for bytes may receive the decoded array or be an error.",
        {},
        np.zeros((4, 6), "<i4"),
        expect=Either(Node("array")),
        codecs=[twice, codec("endian", endian="big")],
        needs=("codec:endian", "codec:gzip"),
    )


_FORMATS = {"gzip": "gzip-format", "blosc": "blosc-format", "endian": "endian-format"}


def _corrupt() -> Iterator[Case]:
    data = raw(VALUES[:2, :3])
    members: dict[str, Any] = {"codecs": [codec("gzip", level=5)], "needs": _GZIP}
    configured = codec("blosc", cname="lz4", clevel=5, shuffle=1, blocksize=0)
    blosc = {"codecs": [configured], "needs": ("codec:blosc",)}
    big = {"codecs": [codec("endian", endian="big")], "needs": ("codec:endian",)}
    for kind, stored, more in (
        ("short", data[:-1], {}),
        ("long", data + b"\0", {}),
        ("empty", b"", {}),
        ("gzip-cut", gzip(data)[:-9], members),
        ("gzip-text", b"not compressed at all", members),
        ("gzip-checksum", gzip(data)[:-8] + b"\1\2\3\4" + gzip(data)[-4:], members),
        ("gzip-short-content", gzip(data[:-4]), members),
        ("gzip-long-content", gzip(data + data), members),
        ("blosc-cut", compressed(data)[:-3], blosc),
        ("blosc-text", b"not a container at all", blosc),
        ("blosc-short-content", compressed(data[:-4]), blosc),
        ("endian-short", data[:-1], big),
        ("endian-long", data + b"\0", big),
    ):
        yield read(
            f"damage-{kind}",
            (_FORMATS.get(kind.partition("-")[0], "codecs-none"), "codec-order"),
            "A chunk with a wrong decoded size is an error.",
            {"c0/0": stored},
            expect=Reject("chunk"),
            **more,
        )
