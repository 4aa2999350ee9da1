"""The codecs bytes, transpose, gzip, crc32c of version 3: configurations, encoded bytes."""

from __future__ import annotations

import struct
import zlib
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.documents import array, regular
from zarr_conformance.corpus.encode import crc32c, document, gzip, raw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.case import Expectation

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
VALUES = np.arange(24, dtype="<i4").reshape(4, 6) * 1000 - 7


def one(codecs: list[Any], values: Any = VALUES, **members: Any) -> dict[str, Any]:
    """The document of an array in one chunk."""
    return array(
        shape=list(values.shape), chunk_grid=regular(*values.shape), codecs=codecs, **members
    )


def read(
    name: str,
    clauses: tuple[str, ...],
    says: str,
    codecs: list[Any],
    stored: bytes,
    expect: Expectation | None = None,
    values: Any = VALUES,
    **members: Any,
) -> Case:
    """An array in one chunk, stored like this, is read."""
    return Case(
        f"v3-codecs/{name}",
        clauses,
        says,
        "read",
        expect or Accept(Node(values=Values(raw(values)))),
        {
            "zarr.json": document(one(codecs, values, **members)),
            "/".join(("c", *("0" for _ in values.shape))): stored,
        },
    )


def created(name: str, clauses: tuple[str, ...], codecs: list[Any]) -> Case:
    """An array in one chunk is written, then read by the harness itself."""
    return Case(
        f"v3-codecs/{name}",
        clauses,
        "What is written is what the document says.",
        "create",
        Accept(Node(values=Values(raw(VALUES)))),
        document=one(codecs),
    )


def refused(
    name: str,
    clause: str,
    says: str,
    codecs: Any,
    expect: Expectation | None = None,
    more: tuple[str, ...] = (),
) -> Case:
    """A document with these codecs is refused."""
    return Case(
        f"v3-codecs/{name}",
        (f"v3-codecs.{clause}" if not clause.startswith("v3-core") else clause, *more),
        says,
        "open",
        expect or Reject("metadata", "extension"),
        {"zarr.json": document(one(codecs))},
    )


def cases() -> Iterator[Case]:
    """All of them."""
    yield from _bytes()
    yield from _transpose()
    yield from _of_gzip()
    yield from _of_crc32c()


def _bytes() -> Iterator[Case]:
    for kind, configuration in (
        ("endian-capital", {"endian": "Little"}),
        ("endian-native", {"endian": "native"}),
        ("endian-null", {"endian": None}),
        ("endian-number", {"endian": 1}),
        ("other-member", {"endian": "little", "nobodys": 1}),
    ):
        yield refused(
            f"bytes/{kind}",
            "bytes.endian",
            f"The codec bytes has no configuration {configuration!r}.",
            [{"name": "bytes", "configuration": configuration}],
        )
    for order, name in (("little", "little"), ("big", "big")):
        yield read(
            f"bytes/two-dimensions-{name}",
            (
                "v3-codecs.bytes.order",
                "v3-codecs.bytes.name",
                "v3-codecs.bytes.endian",
                "v3-codecs.bytes.endian-required",
                "v3-core.codecs.core",
            ),
            "Elements lie in C order.",
            [{"name": "bytes", "configuration": {"endian": order}}],
            raw(VALUES, order),
        )
    yield read(
        "bytes/single-byte-with-endian",
        ("v3-codecs.bytes.endian-not-required",),
        "endian may be given where it means nothing.",
        [{"name": "bytes", "configuration": {"endian": "big"}}],
        bytes(range(6)),
        values=np.arange(6, dtype="u1").reshape(2, 3),
        data_type="uint8",
    )


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
        yield read(
            f"transpose/{name}",
            clauses,
            f"Dimension i of what is stored is dimension {list(order)}[i] of the chunk.",
            codecs,
            stored,
            values=cube,
        )
        yield Case(
            f"v3-codecs/transpose/{name}-created",
            clauses,
            f"What is written by the order {list(order)} is stored in that order.",
            "create",
            Accept(Node(values=Values(raw(cube)), stored={"c/0/0/0": stored})),
            document=one(codecs, cube),
        )
    twice = [
        {"name": "transpose", "configuration": {"order": [1, 2, 0]}},
        {"name": "transpose", "configuration": {"order": [1, 0, 2]}},
        BYTES,
    ]
    yield read(
        "transpose/twice",
        ("v3-codecs.transpose.shape", "v3-core.codecs.order"),
        "Two of them are applied one after the other.",
        twice,
        raw(np.ascontiguousarray(cube.transpose(1, 2, 0).transpose(1, 0, 2))),
        values=cube,
    )
    wrong: dict[str, Any] = {
        "none": {},
        "too-few": {"order": [0]},
        "too-many": {"order": [0, 1, 2]},
        "repeated": {"order": [0, 0]},
        "beyond": {"order": [1, 2]},
        "negative": {"order": [-1, 0]},
        "letter-c": {"order": "C"},
        "letter-f": {"order": "F"},
        "text": {"order": ["0", "1"]},
        "fraction": {"order": [0.5, 1]},
        "true": {"order": [True, False]},
        "null": {"order": None},
        "other-member": {"order": [1, 0], "nobodys": 1},
    }
    for kind, configuration in wrong.items():
        yield refused(
            f"transpose/no-order-{kind}",
            "transpose.order",
            f"{configuration!r} does not say how two dimensions are permuted.",
            [{"name": "transpose", "configuration": configuration}, BYTES],
            more=("v3-core.codecs.unsupported", "v3-core.codecs.representation")
            if kind in ("too-few", "too-many")
            else (),
        )


def _of_gzip() -> Iterator[Case]:
    data = raw(VALUES)
    for level in range(10):
        codecs = [BYTES, {"name": "gzip", "configuration": {"level": level}}]
        yield read(
            f"gzip/level-{level}",
            ("v3-codecs.gzip.level", "v3-codecs.gzip.format", "v3-core.codecs.core")
            + (("v3-codecs.gzip.level-zero",) if not level else ("v3-codecs.gzip.algorithm",)),
            f"Level {level} is a level.",
            codecs,
            gzip(data, level),
        )
        yield created(
            f"gzip/level-{level}-created",
            ("v3-codecs.gzip.level", "v3-codecs.gzip.format", "v3-codecs.gzip.name"),
            codecs,
        )
    for kind, stored in (
        ("with-name", _with_name(data)),
        ("with-time", gzip(data, 5, 1_700_000_000)),
        ("stored-block", gzip(data, 0)),
    ):
        yield read(
            f"gzip/{kind}",
            ("v3-codecs.gzip.format", "v3-codecs.gzip.algorithm"),
            "Whatever RFC 1952 lets a header have is read.",
            [BYTES, {"name": "gzip", "configuration": {"level": 5}}],
            stored,
        )
    yield read(
        "gzip/two-members",
        ("v3-codecs.gzip.format",),
        "A file of RFC 1952 may have several members, one after the other.",
        [BYTES, {"name": "gzip", "configuration": {"level": 5}}],
        gzip(data[:40]) + gzip(data[40:]),
    )
    wrong: dict[str, Any] = {
        "none": {},
        "ten": {"level": 10},
        "negative": {"level": -1},
        "fraction": {"level": 1.5},
        "text": {"level": "5"},
        "true": {"level": True},
        "null": {"level": None},
        "other-member": {"level": 5, "nobodys": 1},
    }
    for kind, configuration in wrong.items():
        yield refused(
            f"gzip/no-level-{kind}",
            "gzip.level",
            f"{configuration!r} is no configuration of gzip.",
            [BYTES, {"name": "gzip", "configuration": configuration}],
            # That a level is required is not said.
            Either() if kind == "none" else None,
        )


def _with_name(data: bytes) -> bytes:
    """A member whose header has a name and a comment."""
    deflater = zlib.compressobj(5, zlib.DEFLATED, -15)
    body = deflater.compress(data) + deflater.flush()
    header = b"\x1f\x8b\x08\x18" + bytes(4) + b"\0\xff" + b"chunk\0a comment\0"
    return header + body + struct.pack("<II", zlib.crc32(data), len(data))


def _of_crc32c() -> Iterator[Case]:
    data = raw(VALUES)
    clauses = ("v3-codecs.crc32c.format", "v3-codecs.crc32c.name", "v3-core.codecs.core")
    yield read(
        "crc32c/behind-the-data",
        clauses,
        "The checksum lies behind the data.",
        [BYTES, {"name": "crc32c"}],
        crc32c(data),
    )
    yield Case(
        "v3-codecs/crc32c/created",
        clauses,
        "The checksum is stored behind the data.",
        "create",
        Accept(Node(values=Values(data), stored={"c/0/0": crc32c(data)})),
        document=one([BYTES, {"name": "crc32c"}]),
    )
    yield read(
        "crc32c/twice",
        (*clauses, "v3-core.codecs.order"),
        "A checksum may be put on a checksum.",
        [BYTES, {"name": "crc32c"}, {"name": "crc32c"}],
        crc32c(crc32c(data)),
    )
    yield read(
        "crc32c/empty-configuration",
        clauses,
        "An empty configuration says nothing.",
        [BYTES, {"name": "crc32c", "configuration": {}}],
        crc32c(data),
    )
    yield refused(
        "crc32c/other-member",
        "crc32c.name",
        "There is nothing to configure.",
        [BYTES, {"name": "crc32c", "configuration": {"nobodys": 1}}],
    )
    for kind, stored in (
        ("flipped-data", bytes([data[0] ^ 1]) + crc32c(data)[1:]),
        ("flipped-checksum", crc32c(data)[:-1] + bytes([crc32c(data)[-1] ^ 0x80])),
        ("big-endian", data + crc32c(data)[:-5:-1]),
        ("zlib", data + struct.pack("<I", zlib.crc32(data))),
        ("missing", data),
        ("short", b"abc"),
        ("empty", b""),
    ):
        yield read(
            f"crc32c/damaged-{kind}",
            ("v3-codecs.crc32c.format",),
            "What does not bear its checksum is refused.",
            [BYTES, {"name": "crc32c"}],
            stored,
            Reject("chunk"),
        )
