"""The registered codec zstd, with frames laid out by RFC 8878."""

from __future__ import annotations

import struct
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.encode import crc32c, gzip, raw
from zarr_conformance.corpus.ext_cases import (
    BYTES,
    CRC32C,
    GZIP,
    VALUES,
    created,
    named,
    read,
    refused,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NEEDS = ("codec:zstd",)
_DATA = raw(VALUES)
_MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPED = b"\x50\x2a\x4d\x18" + struct.pack("<I", 5) + b"notes"
_MASK = 2**64 - 1
_PRIMES = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)


def xxh64(data: bytes) -> int:
    """The checksum of frames: XXH64 with seed 0."""
    first, second, third, fourth, fifth = _PRIMES

    def turned(value: int, bits: int) -> int:
        return (value << bits | value >> (64 - bits)) & _MASK

    def mixed(state: int, lane: int) -> int:
        return turned((state + lane * second) & _MASK, 31) * first & _MASK

    place = 0
    if len(data) >= 32:
        states = [(first + second) & _MASK, second, 0, -first & _MASK]
        while place + 32 <= len(data):
            lanes = struct.unpack_from("<4Q", data, place)
            states = [mixed(*pair) for pair in zip(states, lanes, strict=True)]
            place += 32
        value = sum(turned(it, n) for it, n in zip(states, (1, 7, 12, 18), strict=True)) & _MASK
        for state in states:
            value = ((value ^ mixed(0, state)) * first + fourth) & _MASK
    else:
        value = fifth
    value = (value + len(data)) & _MASK
    while place + 8 <= len(data):
        lane = struct.unpack_from("<Q", data, place)[0]
        value = (turned(value ^ mixed(0, lane), 27) * first + fourth) & _MASK
        place += 8
    if place + 4 <= len(data):
        lane = struct.unpack_from("<I", data, place)[0]
        value = (turned(value ^ lane * first & _MASK, 23) * second + third) & _MASK
        place += 4
    for byte in data[place:]:
        value = turned(value ^ byte * fifth & _MASK, 11) * first & _MASK
    for shift, prime in ((33, second), (29, third), (32, 1)):
        value = (value ^ value >> shift) * prime & _MASK
    return value


def frame(
    data: bytes,
    *,
    size: int | None = -1,
    checksum: bool = False,
    blocks: Sequence[int] = (),
    repeated: int = 0,
) -> bytes:
    """A frame of blocks that are not compressed.

    Parameters
    ----------
    data : bytes
        Its content.
    size : int, optional
        What the header says of it, -1 for the truth; None for a header that says nothing.
    checksum : bool
        Whether its checksum follows.
    blocks : sequence of int
        Where the content is cut into blocks.
    repeated : int
        How often its only byte occurs, for a block that says so.
    """
    described = 4 if checksum else 0
    if size is None:
        header = bytes([described, 0x58])  # a window of 2 MiB
    else:
        told = len(data) if size == -1 else size
        header = bytes([0xE0 | described]) + struct.pack("<Q", told)
    body = b""
    cuts = [0, *blocks, len(data)]
    for start, end in pairwise(cuts):
        last = end == len(data)
        kind, length = (1, repeated) if repeated else (0, end - start)
        body += struct.pack("<I", length << 3 | kind << 1 | last)[:3] + data[start:end]
    tail = struct.pack("<I", xxh64(data) & 0xFFFFFFFF) if checksum else b""
    return _MAGIC + header + body + tail


def _compressed(level: int, checksum: bool = False) -> bytes:
    codec: Any = import_module("numcodecs.zstd").Zstd(level, checksum)
    return bytes(codec.encode(_DATA))


def _read(
    what: str, clauses: tuple[str, ...], says: str, stored: bytes, expect: Any = None
) -> Case:
    codec = named("zstd", level=1, checksum="checksum" in what)
    return read(
        f"ext-codecs/zstd/{what}",
        tuple(f"ext-codecs.zstd.{it}" for it in clauses),
        says,
        stored,
        expect,
        needs=_NEEDS,
        codecs=[BYTES, codec],
    )


def cases() -> Iterator[Case]:
    """All of them."""
    yield from _configurations()
    yield from _frames()
    yield from _damage()
    yield from _chains()


def _configurations() -> Iterator[Case]:
    for level in (-131072, -1, 0, 1, 19, 22):
        for checksum in (..., False, True):
            configuration: dict[str, Any] = {"level": level}
            if checksum is not ...:
                configuration["checksum"] = checksum
            what = f"level-{level}".replace("--", "-minus-")
            what += "" if checksum is ... else f"-checksum-{str(checksum).lower()}"
            clauses: tuple[str, ...] = (
                "ext-codecs.zstd.name",
                "ext-codecs.zstd.level",
                "ext-codecs.zstd.checksum",
            )
            if level == 0:
                clauses += ("ext-codecs.zstd.level-zero",)
            codecs = [BYTES, {"name": "zstd", "configuration": configuration}]
            stored = frame(_DATA, checksum=checksum is True)
            says = "The level has no effect on reading."
            yield read(
                f"ext-codecs/zstd/{what}", clauses, says, stored, needs=_NEEDS, codecs=codecs
            )
            if level in (-1, 0, 1, 22):
                yield created(
                    f"ext-codecs/zstd/{what}-created",
                    (*clauses, "ext-codecs.zstd.format"),
                    "What is written is a frame that any decoder reads.",
                    None,
                    needs=_NEEDS,
                    codecs=codecs,
                )
    wrong: tuple[tuple[str, Any, str], ...] = (
        ("level-23", {"level": 23}, "level"),
        ("level-too-small", {"level": -131073}, "level"),
        ("level-fraction", {"level": 1.5}, "level"),
        ("level-text", {"level": "1"}, "level"),
        ("level-null", {"level": None}, "level"),
        ("level-true", {"level": True}, "level"),
        ("level-left-out", {}, "level"),
        ("level-left-out-with-checksum", {"checksum": True}, "level"),
        ("checksum-text", {"level": 1, "checksum": "true"}, "checksum"),
        ("checksum-number", {"level": 1, "checksum": 1}, "checksum"),
        ("checksum-null", {"level": 1, "checksum": None}, "checksum"),
        ("further-member", {"level": 1, "nobodys": 1}, "level"),
    )
    for kind, given, clause in wrong:
        yield refused(
            f"ext-codecs/zstd/no-{kind}",
            (f"ext-codecs.zstd.{clause}",),
            f"The codec zstd has no configuration {given!r}.",
            codecs=[BYTES, {"name": "zstd", "configuration": given}],
        )
    for kind, first in (("name", "zstd"), ("object", {"name": "zstd"})):
        yield refused(
            f"ext-codecs/zstd/no-configuration-{kind}",
            ("ext-codecs.zstd.level",),
            "A level is required.",
            codecs=[BYTES, first],
        )


def _frames() -> Iterator[Case]:
    form = ("format",)
    for what, stored, says in (
        ("size-left-out", frame(_DATA, size=None), "The size of the content may be left out."),
        ("several-blocks", frame(_DATA, blocks=(1, 2, 50)), "A frame may have several blocks."),
        ("empty-block", frame(_DATA, blocks=(40, 40)), "A block may be empty."),
        ("two-frames", frame(_DATA[:33]) + frame(_DATA[33:]), "Frames may follow one another."),
        (
            "two-frames-size-left-out",
            frame(_DATA[:33], size=None) + frame(_DATA[33:], size=None),
            "Frames may follow one another without telling their sizes.",
        ),
        ("skippable-first", _SKIPPED + frame(_DATA), "A frame that is to be skipped comes first."),
        ("skippable-last", frame(_DATA) + _SKIPPED, "A frame that is to be skipped comes last."),
        ("compressed", _compressed(3), "Blocks are compressed."),
        ("compressed-negative", _compressed(-5), "Blocks are compressed at a negative level."),
        ("compressed-22", _compressed(22), "Blocks are compressed at the highest level."),
    ):
        yield _read(f"frame-{what}", form, says, stored)
    for what, stored in (
        ("checksum", frame(_DATA, checksum=True)),
        ("checksum-compressed", _compressed(3, True)),
        ("checksum-size-left-out", frame(_DATA, checksum=True, size=None)),
    ):
        yield _read(
            f"frame-{what}", ("format", "checksum-verified"), "A frame with a checksum.", stored
        )
    for what, stored in (("without-its-check", frame(_DATA)),):
        yield _read(
            f"frame-{what}-sum", ("format", "checksum"), "A frame says itself what it has.", stored
        )


def _damage() -> Iterator[Case]:
    checked = frame(_DATA, checksum=True)
    good = frame(_DATA)
    flipped = checked[:30] + bytes([checked[30] ^ 1]) + checked[31:]
    for what, stored, clause in (
        ("checksum", checked[:-1] + bytes([checked[-1] ^ 1]), "checksum-verified"),
        ("checksum-of-other-content", flipped, "checksum-verified"),
        ("cut-checksum", checked[:-2], "checksum-verified"),
        ("cut", good[:-5], "format"),
        ("cut-header", good[:9], "format"),
        ("magic-alone", _MAGIC, "format"),
        ("empty", b"", "format"),
        ("text", b"not compressed at all", "format"),
        ("gzip", gzip(_DATA), "format"),
        ("short-content", frame(_DATA[:-4]), "format"),
        ("long-content", frame(_DATA + bytes(4)), "format"),
        ("claims-a-terabyte", frame(_DATA, size=1 << 40), "format"),
        ("claims-less", frame(_DATA, size=len(_DATA) - 4), "format"),
        ("claims-more", frame(_DATA, size=len(_DATA) + 4), "format"),
        ("reserved-block", good[:13] + b"\x07\x03\x00" + good[16:], "format"),
        ("skippable-alone", _SKIPPED, "format"),
        ("bomb", frame(b"\0", size=None, repeated=1 << 17) * 4096, "format"),
    ):
        yield _read(
            f"damage-{what}",
            (clause,),
            "A chunk that does not decode to its shape is refused.",
            stored,
            Reject("chunk"),
        )
    yield _read(
        "damage-trailing",
        ("format",),
        "Nothing is said of bytes behind the last frame.",
        good + b"what is this",
        Either(Node(values=Values(_DATA))),
    )


def _chains() -> Iterator[Case]:
    zstd = named("zstd", level=1, checksum=False)
    for what, codecs, stored in (
        ("crc32c", [BYTES, zstd, CRC32C], crc32c(frame(_DATA))),
        ("behind-crc32c", [BYTES, CRC32C, zstd], frame(crc32c(_DATA))),
        ("gzip", [BYTES, zstd, GZIP], gzip(frame(_DATA))),
        ("twice", [BYTES, zstd, zstd], frame(frame(_DATA))),
    ):
        yield read(
            f"ext-codecs/zstd/chain-{what}",
            (
                "ext-codecs.zstd.name",
                "ext-codecs.zstd.format",
                "ext-codecs.core.linked",
                "v3-core.codecs.extension",
            ),
            "Codecs are undone in reverse order.",
            stored,
            Accept(Node(values=Values(_DATA))),
            needs=_NEEDS,
            codecs=codecs,
        )
    for what, codecs in (("alone", [zstd]), ("before-bytes", [zstd, BYTES])):
        yield refused(
            f"ext-codecs/zstd/no-chain-{what}",
            ("v3-core.codecs.kinds", "ext-codecs.zstd.name"),
            "It takes bytes and gives bytes.",
            codecs=codecs,
        )
