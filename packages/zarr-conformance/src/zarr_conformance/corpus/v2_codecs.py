"""Compressors and filters of version 2."""

from __future__ import annotations

import bz2
import lzma
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Node, Values
from zarr_conformance.corpus.encode import gzip
from zarr_conformance.corpus.ext_zstd import frame
from zarr_conformance.corpus.metadata import array_2
from zarr_conformance.corpus.v2_array import VALUES, case, stored

if TYPE_CHECKING:
    from collections.abc import Iterator


def cases() -> Iterator[Case]:
    """Yield the cases."""
    encoders: dict[str, tuple[dict[str, Any], Any]] = {
        "zlib": ({"id": "zlib", "level": 1}, lambda item: zlib.compress(item, 1)),
        "gzip": ({"id": "gzip", "level": 1}, lambda item: gzip(item, 1)),
        "bz2": ({"id": "bz2", "level": 1}, lambda item: bz2.compress(item, 1)),
        "lzma": (
            {"id": "lzma", "format": 1, "check": -1, "preset": None, "filters": None},
            lzma.compress,
        ),
        "zstd": ({"id": "zstd", "level": 1}, frame),
        "zstd-checksum": (
            {"id": "zstd", "level": 1, "checksum": True},
            lambda item: frame(item, checksum=True),
        ),
    }
    for name, (configuration, encode) in encoders.items():
        yield case(
            f"codecs/{name}",
            ("chunks.compressed", "array.compressor", "array.compressor-id"),
            "A chunk is the output of the compressor without additions.",
            Accept(Node(values=Values(VALUES.tobytes()))),
            array_2(compressor=configuration),
            stored(VALUES, (2, 3), encode),
            "read",
            # The specification does not define which codecs are supported.
            needs=(f"codec:numcodecs.{name.replace('-', '.')}",),
        )
    delta = {"id": "delta", "dtype": "<i4", "astype": "<i4"}

    def differences(data: bytes) -> bytes:
        values = np.frombuffer(data, "<i4")
        return np.concatenate([values[:1], np.diff(values)]).astype("<i4").tobytes()

    def shuffled(data: bytes) -> bytes:
        return np.frombuffer(data, "u1").reshape(-1, 4).T.tobytes()

    shuffle = {"id": "shuffle", "elementsize": 4}
    chains: tuple[tuple[str, Any, Any, Any], ...] = (
        ("delta", [delta], None, differences),
        ("delta-zlib", [delta], encoders["zlib"][0], lambda item: zlib.compress(differences(item))),
        (
            "delta-shuffle-zlib",
            [delta, shuffle],
            encoders["zlib"][0],
            lambda item: zlib.compress(shuffled(differences(item))),
        ),
        ("zlib-as-filter", [encoders["zlib"][0]], None, zlib.compress),
    )
    for name, filters, compressor, encode in chains:
        yield case(
            f"filters/{name}",
            ("filters.order", "array.filters", "array.filter-id"),
            "Filters are decoded in reverse order after the compressor.",
            Accept(Node(values=Values(VALUES.tobytes()))),
            array_2(filters=filters, compressor=compressor),
            stored(VALUES, (2, 3), encode),
            "read",
            needs=("codec:numcodecs.delta",),
        )
    yield case(
        "filters/none",
        "array.filters",
        "An empty list means no filters.",
        Accept(Node(values=Values(VALUES.tobytes()))),
        array_2(filters=[]),
        stored(VALUES, (2, 3)),
        "read",
    )
