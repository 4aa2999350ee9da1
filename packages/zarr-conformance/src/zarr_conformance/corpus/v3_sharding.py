"""The codec sharding_indexed: configurations, shapes, shards."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Values
from zarr_conformance.corpus.encode import blocks, crc32c, document, gzip, raw, shard
from zarr_conformance.corpus.metadata import array, regular
from zarr_conformance.corpus.one_chunk import BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.case import Expectation

GZIP = {"name": "gzip", "configuration": {"level": 5}}
CHECKED = [BYTES, {"name": "crc32c"}]
VALUES = np.arange(1, 17, dtype="<i4").reshape(4, 4)
_ALL = tuple(
    f"v3-codecs.sharding.{item}"
    for item in (
        "name",
        "index",
        "many",
        "chunk-shape",
        "chunk-shape-divides",
        "codecs",
        "index-codecs",
        "index-codecs-fixed",
    )
)


def sharding(**members: Any) -> dict[str, Any]:
    """Return the codec with inner chunks of (2, 2), uncompressed; members override the defaults."""
    plain = {"chunk_shape": [2, 2], "codecs": [BYTES], "index_codecs": CHECKED}
    chosen = {name: value for name, value in (plain | members).items() if value is not ...}
    return {"name": "sharding_indexed", "configuration": chosen}


def stored(codec: Any, shape: tuple[int, ...] = (4, 4), **members: Any) -> dict[str, Any]:
    """Return the metadata of an array in shards of (4, 4) with fill value -1."""
    return array(
        shape=list(shape), chunk_grid=regular(4, 4), codecs=[codec], fill_value=-1, **members
    )


def inner(values: Any = VALUES, encode: Any = raw) -> dict[int, bytes]:
    """Return the encoded inner chunks of one shard by their indices."""
    return {n: encode(part) for n, part in enumerate(blocks(values, (2, 2), -1).values())}


def read_case(
    name: str,
    clauses: tuple[str, ...],
    summary: str,
    data: bytes,
    codec: Any = None,
    values: Any = VALUES,
    expect: Expectation | None = None,
    selection: Any = None,
) -> Case:
    """Return a case that reads an array in one shard, stored as these bytes."""
    return Case(
        f"v3-codecs/sharding/{name}",
        clauses,
        summary,
        "read",
        expect or Accept(Node(values=Values(raw(values)))),
        {"zarr.json": document(stored(codec or sharding())), "c/0/0": data},
        selection=selection,
    )


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _shards()
    yield from _parts()
    yield from _written()
    yield from _nested()


def _shards() -> Iterator[Case]:
    whole = inner()
    order = "v3-codecs.sharding.order"
    yield read_case("whole", (*_ALL, "v3-core.codecs.core"), "All inner chunks.", shard(whole, 4))
    for kind, places in (
        ("reversed", (3, 2, 1, 0)),
        ("shuffled", (2, 0, 3, 1)),
        ("morton", (0, 2, 1, 3)),
    ):
        yield read_case(
            f"order-{kind}",
            (order, "v3-codecs.sharding.order-not-assumed", "v3-codecs.sharding.offset"),
            "Inner chunks may be stored in any order.",
            shard(whole, 4, order=places),
        )
    yield read_case(
        "gaps",
        ("v3-codecs.sharding.gaps", "v3-codecs.sharding.offset"),
        "Gaps between inner chunks may contain any bytes.",
        shard(whole, 4, gap=b"what is this"),
    )
    for location in ("end", "start"):
        yield read_case(
            f"index-at-the-{location}",
            ("v3-codecs.sharding.index-location", "v3-codecs.sharding.offset"),
            f"The index is at the {location}; offsets count from the beginning of the shard.",
            shard(whole, 4, index_location=location),
            sharding(index_location=location),
        )
    yield read_case(
        "index-location-left-out",
        ("v3-codecs.sharding.index-location-default",),
        "The default of index_location is end.",
        shard(whole, 4),
        sharding(index_location=...),
    )
    unchecked = sharding(index_codecs=[BYTES])
    yield read_case(
        "index-without-checksum",
        ("v3-codecs.sharding.index-codecs", "v3-codecs.sharding.index-codecs-usual"),
        "The index may have no checksum.",
        shard(whole, 4, checked=False),
        unchecked,
    )
    big = [{"name": "bytes", "configuration": {"endian": "big"}}, {"name": "crc32c"}]
    yield read_case(
        "index-big-endian",
        ("v3-codecs.sharding.index-codecs",),
        "The index may be big-endian.",
        shard(whole, 4, endian="big"),
        sharding(index_codecs=big),
    )
    twice = [BYTES, {"name": "crc32c"}, {"name": "crc32c"}]
    body = shard(whole, 4, checked=False)
    yield read_case(
        "index-with-two-checksums",
        ("v3-codecs.sharding.index-codecs",),
        "The index may use any codecs with a fixed encoded size.",
        body[:-64] + crc32c(crc32c(body[-64:])),
        sharding(index_codecs=twice),
    )
    for kind, missing in (("one", (2,)), ("several", (0, 3)), ("all", (0, 1, 2, 3))):
        values = VALUES.copy()
        for number in missing:
            row, column = divmod(number, 2)
            values[2 * row : 2 * row + 2, 2 * column : 2 * column + 2] = -1
        yield read_case(
            f"empty-{kind}",
            ("v3-codecs.sharding.empty",),
            "An empty inner chunk reads as the fill value.",
            shard({n: value for n, value in whole.items() if n not in missing}, 4),
            values=values,
        )
    yield read_case(
        "compressed",
        _ALL,
        "Inner chunks are encoded by the inner codecs.",
        shard(inner(encode=lambda part: gzip(raw(part))), 4),
        sharding(codecs=[BYTES, GZIP]),
    )
    yield read_case(
        "inner-checksums",
        _ALL,
        "Each inner chunk may have a checksum.",
        shard(inner(encode=lambda part: crc32c(raw(part))), 4),
        sharding(codecs=[BYTES, {"name": "crc32c"}]),
    )
    turn = {"name": "transpose", "configuration": {"order": [1, 0]}}
    yield read_case(
        "inner-transpose",
        _ALL,
        "Inner chunks may be transposed.",
        shard(inner(encode=lambda part: raw(np.ascontiguousarray(part.T))), 4),
        sharding(codecs=[turn, BYTES]),
    )
    # Two equal inner chunks may share one value.
    same = raw(np.full((2, 2), 5, "<i4"))
    entries = struct.pack("<8Q", *([0, 16] * 4))
    yield read_case(
        "shared-bytes",
        ("v3-codecs.sharding.offset",),
        "Two entries may refer to the same bytes; the specification does not forbid it.",
        same + crc32c(entries),
        values=np.full((4, 4), 5, "<i4"),
    )


def _parts() -> Iterator[Case]:
    data = shard(inner(encode=lambda part: gzip(raw(part))), 4, order=(3, 0, 2, 1))
    codec = sharding(codecs=[BYTES, GZIP])
    for kind, selection in (
        ("one-element", ((3, 4, 1), (0, 1, 1))),
        ("one-inner-chunk", ((2, 4, 1), (2, 4, 1))),
        ("row", ((1, 2, 1), (0, 4, 1))),
        ("middle", ((1, 3, 1), (1, 3, 1))),
        ("steps", ((0, 4, 3), (1, 4, 2))),
    ):
        chosen = VALUES[tuple(slice(*part) for part in selection)]
        yield read_case(
            f"part-{kind}",
            ("v3-core.codecs.partial", "v3-codecs.sharding.index"),
            "A partial selection of a shard.",
            data,
            codec,
            values=chosen,
            selection=selection,
        )
    # Only the first inner chunk is corrupt.
    broken = shard(inner(encode=lambda part: crc32c(raw(part))), 4)
    broken = bytes([broken[0] ^ 1]) + broken[1:]
    checked = sharding(codecs=[BYTES, {"name": "crc32c"}])
    yield read_case(
        "part-beside-damage",
        ("v3-core.codecs.partial", "v3-codecs.crc32c.format"),
        "Reading the whole shard may detect the corrupt chunk; reading other chunks need not.",
        broken,
        checked,
        VALUES[2:, 2:],
        Either(Node(values=Values(raw(VALUES[2:, 2:])))),
        ((2, 4, 1), (2, 4, 1)),
    )
    yield read_case(
        "part-with-damage",
        ("v3-codecs.crc32c.format",),
        "Reading a part of an inner chunk need not verify its checksum.",
        broken,
        checked,
        expect=Either(),
        selection=((0, 2, 1), (0, 2, 1)),
    )


def _written() -> Iterator[Case]:
    for kind, codec in (
        ("plain", sharding()),
        ("at-the-start", sharding(index_location="start")),
        ("compressed", sharding(codecs=[BYTES, GZIP])),
    ):
        yield Case(
            f"v3-codecs/sharding/created-{kind}",
            (*_ALL, "v3-codecs.sharding.no-strategy"),
            "The written shard matches its metadata and contains nothing else.",
            "create",
            Accept(Node(values=Values(raw(VALUES)))),
            document=stored(codec),
        )
    values = np.arange(1, 31, dtype="<i4").reshape(5, 6)
    yield Case(
        "v3-codecs/sharding/border",
        ("v3-codecs.sharding.beyond", "v3-chunks.regular.border"),
        "A shard at the edge has entries for all of its inner chunks.",
        "read",
        Accept(Node(values=Values(raw(values)))),
        {
            "zarr.json": document(stored(sharding(), (5, 6))),
            **{
                f"c/{row}/{column}": shard(inner(part), 4)
                for (row, column), part in blocks(values, (4, 4), -1).items()
            },
        },
    )
    corner = {0: raw(np.array([[25, 26], [-1, -1]], "<i4"))}
    yield Case(
        "v3-codecs/sharding/border-left-out",
        ("v3-codecs.sharding.beyond", "v3-codecs.sharding.empty"),
        "Inner chunks beyond the array need not be stored.",
        "read",
        Accept(Node(values=Values(raw(np.array([[25, 26]], "<i4"))))),
        {
            "zarr.json": document(stored(sharding(), (5, 6))),
            "c/1/0": shard(corner, 4),
        },
        selection=((4, 5, 1), (0, 2, 1)),
    )


def _nested() -> Iterator[Case]:
    """Yield cases of nested shards: (4, 4), (2, 2), (1, 2)."""
    within = {"chunk_shape": [1, 2], "codecs": [BYTES], "index_codecs": CHECKED}
    codec = sharding(codecs=[{"name": "sharding_indexed", "configuration": within}])

    def small(part: Any) -> bytes:
        return shard({n: raw(row) for n, row in enumerate(part)}, 2)

    data = shard(inner(encode=small), 4)
    yield read_case("nested", _ALL, "Shards may be nested.", data, codec)
    yield read_case(
        "nested-part",
        (*_ALL, "v3-core.codecs.partial"),
        "A partial selection of a nested shard.",
        data,
        codec,
        VALUES[3:4, 1:3],
        selection=((3, 4, 1), (1, 3, 1)),
    )
    outer = [sharding(), GZIP]
    yield Case(
        "v3-codecs/sharding/compressed-as-a-whole",
        ("v3-core.codecs.order", "v3-core.codecs.kinds"),
        "bytes -> bytes codecs may follow sharding_indexed.",
        "read",
        Accept(Node(values=Values(raw(VALUES)))),
        {
            "zarr.json": document(stored(None) | {"codecs": outer}),
            "c/0/0": gzip(shard(inner(), 4)),
        },
    )
    turn = {"name": "transpose", "configuration": {"order": [1, 0]}}
    yield Case(
        "v3-codecs/sharding/transposed-as-a-whole",
        ("v3-core.codecs.order", "v3-core.codecs.kinds"),
        "array -> array codecs may precede sharding_indexed.",
        "read",
        Accept(Node(values=Values(raw(VALUES)))),
        {
            "zarr.json": document(stored(None) | {"codecs": [turn, sharding()]}),
            "c/0/0": shard(inner(np.ascontiguousarray(VALUES.T)), 4),
        },
    )
