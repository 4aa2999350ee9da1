"""The codecs bytes, transpose, gzip and crc32c of version 3: configurations and encoded bytes."""

from __future__ import annotations

import struct
import zlib
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus import one_chunk
from zarr_conformance.corpus.case import Case, Either, Node, Reject, Values
from zarr_conformance.corpus.case_tables import table_cases
from zarr_conformance.corpus.encode import crc32c, gzip, raw
from zarr_conformance.corpus.one_chunk import BYTES, VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.case import Expectation


def read_case(
    name: str,
    clauses: tuple[str, ...],
    summary: str,
    codecs: list[Any],
    stored: bytes,
    expect: Expectation | None = None,
    values: Any = VALUES,
) -> Case:
    """Return a case that reads an array with these codecs."""
    return one_chunk.read_case(
        f"v3-codecs/{name}", clauses, summary, stored, expect, values=values, codecs=codecs
    )


def write_case(
    name: str,
    clauses: tuple[str, ...],
    codecs: list[Any],
    summary: str = "The stored value matches the metadata.",
    stored: bytes | None = None,
    values: Any = VALUES,
) -> Case:
    """Return a case that writes an array with these codecs."""
    return one_chunk.write_case(
        f"v3-codecs/{name}", clauses, summary, stored, values=values, codecs=codecs
    )


def reject_case(
    name: str,
    clauses: tuple[str, ...],
    summary: str,
    codecs: Any,
    expect: Expectation | None = None,
) -> Case:
    """Return a case that rejects metadata with these codecs."""
    return one_chunk.reject_case(f"v3-codecs/{name}", clauses, summary, expect, codecs=codecs)


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from table_cases("v3_codecs", "bytes")
    yield from _transpose()
    yield from table_cases("v3_codecs", "transpose_invalid")
    yield from _transpose_letters()
    yield from _gzip()
    yield from table_cases("v3_codecs", "gzip_invalid", "crc32c")
    yield from _crc32c_damage()


def _transpose() -> Iterator[Case]:
    cube = np.arange(24, dtype="<i4").reshape(2, 3, 4)
    for order in permutations(range(3)):
        name = "-".join(map(str, order))
        codecs = [{"name": "transpose", "configuration": {"order": list(order)}}, BYTES]
        stored = raw(np.ascontiguousarray(cube.transpose(order)))
        clauses = (
            "v3-codecs.transpose.shape",
            "v3-codecs.transpose.order",
            "v3-codecs.transpose.name",
            "v3-core.codecs.core",
            "v3-core.codecs.unsupported",
            "v3-core.codecs.representation",
        )
        yield read_case(
            f"transpose/{name}",
            clauses,
            f"Dimension i of the encoded array is dimension {list(order)}[i] of the decoded array.",
            codecs,
            stored,
            values=cube,
        )
        yield write_case(
            f"transpose/{name}-created",
            clauses,
            codecs,
            f"The order {list(order)} is applied on writing.",
            stored,
            cube,
        )
    twice = [
        {"name": "transpose", "configuration": {"order": [1, 2, 0]}},
        {"name": "transpose", "configuration": {"order": [1, 0, 2]}},
        BYTES,
    ]
    yield read_case(
        "transpose/twice",
        ("v3-codecs.transpose.shape", "v3-core.codecs.order"),
        "Two transpose codecs are applied one after another.",
        twice,
        raw(np.ascontiguousarray(cube.transpose(1, 2, 0).transpose(1, 0, 2))),
        values=cube,
    )


def _transpose_letters() -> Iterator[Case]:
    cube = np.arange(24, dtype="<i4").reshape(2, 3, 4)
    for letter, order in (("C", (0, 1, 2)), ("F", (2, 1, 0))):
        yield read_case(
            f"transpose/no-order-letter-{letter.lower()}",
            ("v3-codecs.transpose.order",),
            f"The order {letter!r} is not a list, although some writers store it.",
            [{"name": "transpose", "configuration": {"order": letter}}, BYTES],
            raw(np.ascontiguousarray(cube.transpose(order))),
            Either(Node(values=Values(raw(cube)))),
            cube,
        )


def _gzip() -> Iterator[Case]:
    data = raw(VALUES)
    for level in range(10):
        codecs = [BYTES, {"name": "gzip", "configuration": {"level": level}}]
        yield read_case(
            f"gzip/level-{level}",
            ("v3-codecs.gzip.level", "v3-codecs.gzip.format", "v3-core.codecs.core")
            + (("v3-codecs.gzip.level-zero",) if not level else ("v3-codecs.gzip.algorithm",)),
            f"{level} is a valid level.",
            codecs,
            gzip(data, level),
        )
        yield write_case(
            f"gzip/level-{level}-created",
            ("v3-codecs.gzip.level", "v3-codecs.gzip.format", "v3-codecs.gzip.name"),
            codecs,
        )
    for kind, stored in (
        ("with-name", _with_name(data)),
        ("with-time", gzip(data, 5, 1_700_000_000)),
        ("stored-block", gzip(data, 0)),
    ):
        yield read_case(
            f"gzip/{kind}",
            ("v3-codecs.gzip.format", "v3-codecs.gzip.algorithm"),
            "All header fields of RFC 1952 are accepted.",
            [BYTES, {"name": "gzip", "configuration": {"level": 5}}],
            stored,
        )
    yield read_case(
        "gzip/two-members",
        ("v3-codecs.gzip.format",),
        "A file of RFC 1952 may have several members.",
        [BYTES, {"name": "gzip", "configuration": {"level": 5}}],
        gzip(data[:40]) + gzip(data[40:]),
    )


def _with_name(data: bytes) -> bytes:
    """Return a member with a name and a comment in its header."""
    deflater = zlib.compressobj(5, zlib.DEFLATED, -15)
    body = deflater.compress(data) + deflater.flush()
    header = b"\x1f\x8b\x08\x18" + bytes(4) + b"\0\xff" + b"chunk\0a comment\0"
    return header + body + struct.pack("<II", zlib.crc32(data), len(data))


def _crc32c_damage() -> Iterator[Case]:
    data = raw(VALUES)
    for kind, stored in (
        ("flipped-data", bytes([data[0] ^ 1]) + crc32c(data)[1:]),
        ("flipped-checksum", crc32c(data)[:-1] + bytes([crc32c(data)[-1] ^ 0x80])),
        ("big-endian", data + crc32c(data)[:-5:-1]),
        ("zlib", data + struct.pack("<I", zlib.crc32(data))),
        ("missing", data),
        ("short", b"abc"),
        ("empty", b""),
    ):
        yield read_case(
            f"crc32c/damaged-{kind}",
            ("v3-codecs.crc32c.format",),
            "A chunk with a wrong checksum is an error.",
            [BYTES, {"name": "crc32c"}],
            stored,
            Reject("chunk"),
        )
