"""The registered codec zstd, with frames according to RFC 8878."""

from __future__ import annotations

import struct
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.encode import crc32c, gzip, json_text, raw
from zarr_conformance.corpus.one_chunk import (
    BYTES,
    CRC32C,
    GZIP,
    VALUES,
    extension,
    read_case,
    reject_case,
    write_case,
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
    """Return the checksum of frames: XXH64 with seed 0."""
    first, second, third, fourth, fifth = _PRIMES

    def rotate_left(value: int, bits: int) -> int:
        return (value << bits | value >> (64 - bits)) & _MASK

    def mixed(state: int, lane: int) -> int:
        return rotate_left((state + lane * second) & _MASK, 31) * first & _MASK

    position = 0
    if len(data) >= 32:
        states = [(first + second) & _MASK, second, 0, -first & _MASK]
        while position + 32 <= len(data):
            lanes = struct.unpack_from("<4Q", data, position)
            states = [mixed(*pair) for pair in zip(states, lanes, strict=True)]
            position += 32
        value = (
            sum(rotate_left(state, n) for state, n in zip(states, (1, 7, 12, 18), strict=True))
            & _MASK
        )
        for state in states:
            value = ((value ^ mixed(0, state)) * first + fourth) & _MASK
    else:
        value = fifth
    value = (value + len(data)) & _MASK
    while position + 8 <= len(data):
        lane = struct.unpack_from("<Q", data, position)[0]
        value = (rotate_left(value ^ mixed(0, lane), 27) * first + fourth) & _MASK
        position += 8
    if position + 4 <= len(data):
        lane = struct.unpack_from("<I", data, position)[0]
        value = (rotate_left(value ^ lane * first & _MASK, 23) * second + third) & _MASK
        position += 4
    for byte in data[position:]:
        value = rotate_left(value ^ byte * fifth & _MASK, 11) * first & _MASK
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
    """Return a frame of uncompressed blocks.

    Parameters
    ----------
    data : bytes
        The content.
    size : int, optional
        The content size in the header: -1 for the real one, None to omit it.
    checksum : bool
        Whether the frame has a checksum.
    blocks : sequence of int
        The offsets at which the content is divided into blocks.
    repeated : int
        The length of an RLE block, if the content is one repeated byte.
    """
    described = 4 if checksum else 0
    if size is None:
        header = bytes([described, 0x58])  # a window of 2 MiB
    else:
        content_size = len(data) if size == -1 else size
        header = bytes([0xE0 | described]) + struct.pack("<Q", content_size)
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


def _read_case(
    what: str, clauses: tuple[str, ...], summary: str, stored: bytes, expect: Any = None
) -> Case:
    codec = extension("zstd", level=1, checksum="checksum" in what)
    return read_case(
        f"ext-codecs/zstd/{what}",
        tuple(f"ext-codecs.zstd.{clause}" for clause in clauses),
        summary,
        stored,
        expect,
        needs=_NEEDS,
        codecs=[BYTES, codec],
    )


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _configurations()
    yield from _frames()
    yield from _corrupt()
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
            summary = "The level has no effect on reading."
            yield read_case(
                f"ext-codecs/zstd/{what}", clauses, summary, stored, needs=_NEEDS, codecs=codecs
            )
            if level in (-1, 0, 1, 22):
                yield write_case(
                    f"ext-codecs/zstd/{what}-created",
                    (*clauses, "ext-codecs.zstd.format"),
                    "The stored value is a frame that any decoder can read.",
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
        ("further-member", {"level": 1, "unknown": 1}, "level"),
    )
    for kind, members, clause in wrong:
        yield reject_case(
            f"ext-codecs/zstd/no-{kind}",
            (f"ext-codecs.zstd.{clause}",),
            f"{json_text(members)} is not a valid configuration of zstd.",
            codecs=[BYTES, {"name": "zstd", "configuration": members}],
        )
    for kind, first in (("name", "zstd"), ("object", {"name": "zstd"})):
        yield reject_case(
            f"ext-codecs/zstd/no-configuration-{kind}",
            ("ext-codecs.zstd.level",),
            "level is required.",
            codecs=[BYTES, first],
        )


def _frames() -> Iterator[Case]:
    form = ("format",)
    for what, stored, summary in (
        ("size-left-out", frame(_DATA, size=None), "The content size may be omitted."),
        ("several-blocks", frame(_DATA, blocks=(1, 2, 50)), "A frame may have several blocks."),
        ("empty-block", frame(_DATA, blocks=(40, 40)), "A block may be empty."),
        ("two-frames", frame(_DATA[:33]) + frame(_DATA[33:]), "Frames may follow one another."),
        (
            "two-frames-size-left-out",
            frame(_DATA[:33], size=None) + frame(_DATA[33:], size=None),
            "Frames without content size may follow one another.",
        ),
        ("skippable-first", _SKIPPED + frame(_DATA), "A skippable frame comes first."),
        ("skippable-last", frame(_DATA) + _SKIPPED, "A skippable frame comes last."),
        ("compressed", _compressed(3), "Compressed blocks."),
        ("compressed-negative", _compressed(-5), "Blocks compressed at a negative level."),
        ("compressed-22", _compressed(22), "Blocks compressed at the highest level."),
    ):
        yield _read_case(f"frame-{what}", form, summary, stored)
    for what, stored in (
        ("checksum", frame(_DATA, checksum=True)),
        ("checksum-compressed", _compressed(3, True)),
        ("checksum-size-left-out", frame(_DATA, checksum=True, size=None)),
    ):
        yield _read_case(
            f"frame-{what}", ("format", "checksum-verified"), "A frame with a checksum.", stored
        )
    for what, stored in (("without-its-check", frame(_DATA)),):
        yield _read_case(
            f"frame-{what}-sum",
            ("format", "checksum"),
            "The frame header takes precedence over the configuration.",
            stored,
        )


def _corrupt() -> Iterator[Case]:
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
        yield _read_case(
            f"damage-{what}",
            (clause,),
            "A chunk with a wrong decoded size is an error.",
            stored,
            Reject("chunk"),
        )
    yield _read_case(
        "damage-trailing",
        ("format",),
        "The specification does not define bytes after the last frame.",
        good + b"what is this",
        Either(Node(values=Values(_DATA))),
    )


def _chains() -> Iterator[Case]:
    zstd = extension("zstd", level=1, checksum=False)
    for what, codecs, stored in (
        ("crc32c", [BYTES, zstd, CRC32C], crc32c(frame(_DATA))),
        ("behind-crc32c", [BYTES, CRC32C, zstd], frame(crc32c(_DATA))),
        ("gzip", [BYTES, zstd, GZIP], gzip(frame(_DATA))),
        ("twice", [BYTES, zstd, zstd], frame(frame(_DATA))),
    ):
        yield read_case(
            f"ext-codecs/zstd/chain-{what}",
            (
                "ext-codecs.zstd.name",
                "ext-codecs.zstd.format",
                "ext-codecs.core.linked",
                "v3-core.codecs.extension",
            ),
            "Codecs are decoded in reverse order.",
            stored,
            Accept(Node(values=Values(_DATA))),
            needs=_NEEDS,
            codecs=codecs,
        )
    for what, codecs in (("alone", [zstd]), ("before-bytes", [zstd, BYTES])):
        yield reject_case(
            f"ext-codecs/zstd/no-chain-{what}",
            ("v3-core.codecs.kinds", "ext-codecs.zstd.name"),
            "zstd is a bytes -> bytes codec.",
            codecs=codecs,
        )
