"""Invalid configurations of sharding_indexed, and shards with a corrupt index."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Case, Either, Node, Reject, Values
from zarr_conformance.corpus.encode import EMPTY, crc32c, document, raw, shard
from zarr_conformance.corpus.one_chunk import BYTES
from zarr_conformance.corpus.v3_sharding import (
    GZIP,
    VALUES,
    inner,
    read_case,
    sharding,
    stored,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _configurations()
    yield from _corrupt()


def _configurations() -> Iterator[Case]:
    wrong: dict[str, tuple[dict[str, Any], str]] = {
        "chunk-shape-missing": ({"chunk_shape": ...}, "chunk-shape"),
        "chunk-shape-too-few": ({"chunk_shape": [2]}, "chunk-shape"),
        "chunk-shape-too-many": ({"chunk_shape": [2, 2, 2]}, "chunk-shape"),
        "chunk-shape-fraction": ({"chunk_shape": [2.5, 2]}, "chunk-shape"),
        "chunk-shape-text": ({"chunk_shape": ["2", "2"]}, "chunk-shape"),
        "chunk-shape-number": ({"chunk_shape": 2}, "chunk-shape"),
        "chunk-shape-not-dividing": ({"chunk_shape": [3, 2]}, "chunk-shape-divides"),
        "chunk-shape-larger": ({"chunk_shape": [8, 4]}, "chunk-shape-divides"),
        "chunk-shape-zero": ({"chunk_shape": [0, 2]}, "chunk-shape-divides"),
        "chunk-shape-negative": ({"chunk_shape": [-2, 2]}, "chunk-shape-divides"),
        "codecs-missing": ({"codecs": ...}, "codecs"),
        "codecs-empty": ({"codecs": []}, "codecs"),
        "codecs-compressor-only": ({"codecs": [GZIP]}, "codecs"),
        "codecs-two-bytes": ({"codecs": [BYTES, BYTES]}, "codecs"),
        "codecs-null": ({"codecs": None}, "codecs"),
        "codecs-unknown": ({"codecs": [BYTES, {"name": "example.unknown"}]}, "codecs"),
        "index-codecs-missing": ({"index_codecs": ...}, "index-codecs"),
        "index-codecs-empty": ({"index_codecs": []}, "index-codecs"),
        "index-codecs-checksum-only": ({"index_codecs": [{"name": "crc32c"}]}, "index-codecs"),
        "index-codecs-gzip": ({"index_codecs": [BYTES, GZIP]}, "index-codecs-fixed"),
        "index-codecs-no-endian": ({"index_codecs": [{"name": "bytes"}]}, "index-codecs"),
        "index-location-middle": ({"index_location": "middle"}, "index-location"),
        "index-location-null": ({"index_location": None}, "index-location"),
        "index-location-number": ({"index_location": 0}, "index-location"),
        "other-member": ({"unknown": 1}, "name"),
    }
    for kind, (members, clause) in wrong.items():
        yield Case(
            f"v3-codecs/sharding/no-{kind}",
            (f"v3-codecs.sharding.{clause}",),
            f"The configuration is invalid: {kind.replace('-', ' ')}.",
            "open",
            Reject("metadata", "extension"),
            {"zarr.json": document(stored(sharding(**members)))},
        )
    for kind, members in (
        ("short-hand-index", {"index_codecs": [BYTES, "crc32c"]}),
        ("short-hand-inner", {"codecs": [BYTES, "crc32c"]}),
    ):
        checked = kind == "short-hand-inner"
        data = shard(inner(encode=(lambda item: crc32c(raw(item))) if checked else raw), 4)
        yield read_case(
            kind,
            ("v3-core.extensions.short-hand",),
            "Inner codecs may be given by their names.",
            data,
            sharding(**members),
            # The specification of the codec still mentions objects only.
            expect=Either(Node(values=Values(raw(VALUES)))),
        )


def _index(*entries: int) -> bytes:
    return crc32c(struct.pack(f"<{len(entries)}Q", *entries))


def _corrupt() -> Iterator[Case]:
    good = shard(inner(), 4)
    body = good[:-68]
    places = [0, 16, 16, 16, 32, 16, 48, 16]
    damaged: dict[str, tuple[bytes, str]] = {
        "empty": (b"", "index"),
        "shorter-than-the-index": (good[-60:], "index"),
        "cut-at-the-end": (good[:-1], "index"),
        "index-checksum": (good[:-1] + bytes([good[-1] ^ 1]), "index-codecs"),
        "index-flipped": (good[:-68] + bytes([good[-68] ^ 1]) + good[-67:], "index-codecs"),
        "offset-beyond": (body + _index(*places[:6], 64 + 68, 16), "offset"),
        "reaches-beyond": (body + _index(*places[:6], 48, 1000), "offset"),
        "huge-offset": (body + _index(*places[:6], 2**63, 16), "offset"),
        "huge-length": (body + _index(*places[:6], 48, 2**62), "offset"),
        "wraps-around": (body + _index(*places[:6], 2**64 - 8, 16), "offset"),
        "half-empty-offset": (body + _index(*places[:6], EMPTY, 16), "empty"),
        "half-empty-length": (body + _index(*places[:6], 48, EMPTY), "empty"),
        "no-length": (body + _index(*places[:6], 48, 0), "offset"),
        "wrong-length": (body + _index(*places[:6], 48, 12), "offset"),
    }
    for kind, (data, clause) in damaged.items():
        yield read_case(
            f"damage-{kind}",
            (f"v3-codecs.sharding.{clause}",),
            "An index entry that does not refer to an encoded inner chunk is an error.",
            data,
            expect=Reject("chunk"),
        )
    yield read_case(
        "damage-cut-at-the-beginning",
        ("v3-codecs.sharding.offset",),
        "A shard without its first byte may be rejected, because an entry refers to the index.",
        good[1:],
        expect=Either(),
    )
    yield read_case(
        "damage-into-the-index",
        ("v3-codecs.sharding.offset",),
        "An index entry that refers to bytes of the index may be rejected.",
        body + _index(*places[:6], 64, 16),
        # It decodes to values that were never written.
        expect=Either(),
    )
