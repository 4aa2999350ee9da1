"""Codec chains of version 3, and chunks that cannot be decoded."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from zarr_conformance.corpus.case import Case, Either, Node, Reject, Values
from zarr_conformance.corpus.encode import crc32c, gzip, raw
from zarr_conformance.corpus.one_chunk import BYTES, VALUES
from zarr_conformance.corpus.v3_blosc import BLOSC, compressed
from zarr_conformance.corpus.v3_codecs import read_case, reject_case, write_case

if TYPE_CHECKING:
    from collections.abc import Iterator


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _chains()
    yield from _corrupt()


def _chains() -> Iterator[Case]:
    data = raw(VALUES)
    compress = {"name": "gzip", "configuration": {"level": 5}}
    turn = {"name": "transpose", "configuration": {"order": [1, 0]}}
    turned = raw(np.ascontiguousarray(VALUES.T))
    blosc = {"name": "blosc", "configuration": BLOSC}
    big = {"name": "bytes", "configuration": {"endian": "big"}}
    for kind, codecs, stored in (
        ("gzip-crc32c", [BYTES, compress, {"name": "crc32c"}], crc32c(gzip(data))),
        ("crc32c-gzip", [BYTES, {"name": "crc32c"}, compress], gzip(crc32c(data))),
        ("gzip-gzip", [BYTES, compress, compress], gzip(gzip(data))),
        ("blosc-gzip", [BYTES, blosc, compress], gzip(compressed(data))),
        ("transpose-gzip", [turn, BYTES, compress], gzip(turned)),
        (
            "transpose-blosc-crc32c",
            [turn, BYTES, blosc, {"name": "crc32c"}],
            crc32c(compressed(turned)),
        ),
        ("big-gzip", [big, compress], gzip(raw(VALUES, "big"))),
        (
            "transpose-big-crc32c",
            [turn, big, {"name": "crc32c"}],
            crc32c(raw(np.ascontiguousarray(VALUES.T), "big")),
        ),
    ):
        yield read_case(
            f"chain/{kind}",
            ("v3-core.codecs.order", "v3-core.codecs.decode", "v3-core.codecs.kinds"),
            "Codecs are decoded in reverse order.",
            codecs,
            stored,
        )
        yield write_case(
            f"chain/{kind}-created",
            ("v3-core.codecs.order", "v3-core.codecs.encode", "v3-core.codecs.kinds"),
            codecs,
        )
    for kind, codecs in (
        ("no-bytes", [compress]),
        ("two-bytes", [BYTES, BYTES]),
        ("bytes-behind-compressor", [compress, BYTES]),
        ("transpose-behind-bytes", [BYTES, turn]),
        ("transpose-alone", [turn]),
        ("transpose-last", [BYTES, compress, turn]),
    ):
        yield reject_case(
            f"chain/no-{kind}",
            ("v3-core.codecs.kinds",),
            "The order of the codecs is invalid.",
            codecs,
        )


def _corrupt() -> Iterator[Case]:
    data = raw(VALUES)
    compress = [BYTES, {"name": "gzip", "configuration": {"level": 5}}]
    blosc = [BYTES, {"name": "blosc", "configuration": BLOSC}]
    good = gzip(data)
    container = compressed(data)
    for kind, codecs, stored in (
        ("raw-short", [BYTES], data[:-1]),
        ("raw-long", [BYTES], data + b"\0"),
        ("raw-empty", [BYTES], b""),
        ("gzip-cut", compress, good[:-9]),
        ("gzip-empty", compress, b""),
        ("gzip-text", compress, b"not compressed at all"),
        ("gzip-checksum", compress, good[:-8] + bytes([good[-8] ^ 1]) + good[-7:]),
        ("gzip-short-content", compress, gzip(data[:-4])),
        ("gzip-long-content", compress, gzip(data + bytes(4))),
        ("gzip-bomb", compress, gzip(bytes(1 << 26), 9)),
        ("blosc-cut", blosc, container[:-3]),
        ("blosc-header", blosc, container[:10]),
        ("blosc-empty", blosc, b""),
        ("blosc-text", blosc, b"not a container at all"),
        ("blosc-short-content", blosc, compressed(data[:-4])),
        ("blosc-claims-more", blosc, container[:4] + struct.pack("<I", 1 << 30) + container[8:]),
    ):
        yield read_case(
            f"damage/{kind}",
            ("v3-core.codecs.decode",)
            + (("v3-codecs.gzip.algorithm",) if kind.startswith("gzip") else ()),
            "A chunk with a wrong decoded size is an error; it is not padded or truncated.",
            codecs,
            stored,
            Reject("chunk"),
        )
    yield read_case(
        "damage/gzip-trailing",
        ("v3-codecs.gzip.format",),
        "RFC 1952 does not define bytes after the last member.",
        compress,
        good + b"what is this",
        Either(Node(values=Values(data))),
    )
