"""The codec blosc of version 3: configurations, containers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Case, Either
from zarr_conformance.corpus.encode import raw
from zarr_conformance.corpus.v3_codecs import BYTES, VALUES, created, read, refused

if TYPE_CHECKING:
    from collections.abc import Iterator


BLOSC = {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}
"""A configuration with every member."""

_CNAMES = ("lz4", "lz4hc", "blosclz", "zstd", "zlib")
_SHUFFLES = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}


def compressed(data: bytes, **changes: Any) -> bytes:
    """What Blosc makes of bytes, configured as :data:`BLOSC` but for some changes."""
    chosen: dict[str, Any] = BLOSC | changes
    blosc: Any = import_module("numcodecs.blosc")
    blosc.set_nthreads(1)
    return bytes(
        blosc.compress(
            data,
            chosen["cname"].encode(),
            chosen["clevel"],
            _SHUFFLES[chosen["shuffle"]],
            chosen["blocksize"],
            chosen["typesize"],
        )
    )


def cases() -> Iterator[Case]:
    """All of them."""
    data = raw(VALUES)

    def codecs(**changes: Any) -> list[Any]:
        configuration = {k: it for k, it in (BLOSC | changes).items() if it is not ...}
        return [BYTES, {"name": "blosc", "configuration": configuration}]

    always = ("v3-codecs.blosc.name", "v3-codecs.blosc.format", "v3-core.codecs.core")
    for cname in _CNAMES:
        yield read(
            f"blosc/cname-{cname}",
            (*always, "v3-codecs.blosc.cname"),
            f"{cname} is a compressor within Blosc.",
            codecs(cname=cname),
            compressed(data, cname=cname),
        )
        yield created(
            f"blosc/cname-{cname}-created", (*always, "v3-codecs.blosc.cname"), codecs(cname=cname)
        )
    for level in (0, 1, 9):
        yield read(
            f"blosc/clevel-{level}",
            (*always, "v3-codecs.blosc.clevel")
            + (("v3-codecs.blosc.clevel-zero",) if not level else ()),
            f"Level {level} is a level.",
            codecs(clevel=level),
            compressed(data, clevel=level),
        )
    for shuffle in _SHUFFLES:
        for typesize in (1, 2, 4, 8):
            yield read(
                f"blosc/{shuffle}-{typesize}",
                (*always, "v3-codecs.blosc.shuffle", "v3-codecs.blosc.typesize"),
                f"{shuffle} with elements of {typesize} bytes.",
                codecs(shuffle=shuffle, typesize=typesize),
                compressed(data, shuffle=shuffle, typesize=typesize),
            )
    yield read(
        "blosc/blocksize",
        (*always, "v3-codecs.blosc.blocksize"),
        "The size of blocks may be given.",
        codecs(blocksize=32),
        compressed(data, blocksize=32),
    )
    yield read(
        "blosc/no-typesize",
        (*always, "v3-codecs.blosc.typesize-ignored"),
        "Without shuffling, typesize may be left out.",
        codecs(shuffle="noshuffle", typesize=...),
        compressed(data, shuffle="noshuffle"),
    )
    yield read(
        "blosc/other-than-configured",
        ("v3-codecs.blosc.format",),
        "To decode, what the container says of itself counts, not the configuration.",
        codecs(cname="zstd", clevel=9, shuffle="bitshuffle"),
        compressed(data, cname="lz4", shuffle="noshuffle"),
    )
    wrong: dict[str, tuple[dict[str, Any], str]] = {
        "cname-unknown": ({"cname": "nobody"}, "cname"),
        "cname-missing": ({"cname": ...}, "cname"),
        "cname-number": ({"cname": 1}, "cname"),
        "clevel-ten": ({"clevel": 10}, "clevel"),
        "clevel-negative": ({"clevel": -1}, "clevel"),
        "clevel-missing": ({"clevel": ...}, "clevel"),
        "clevel-fraction": ({"clevel": 0.5}, "clevel"),
        "shuffle-number": ({"shuffle": 1}, "shuffle"),
        "shuffle-unknown": ({"shuffle": "autoshuffle"}, "shuffle"),
        "shuffle-true": ({"shuffle": True}, "shuffle"),
        "typesize-missing": ({"typesize": ...}, "typesize"),
        "typesize-missing-bitshuffle": ({"typesize": ..., "shuffle": "bitshuffle"}, "typesize"),
        "typesize-zero": ({"typesize": 0}, "typesize"),
        "typesize-negative": ({"typesize": -4}, "typesize"),
        "typesize-text": ({"typesize": "4"}, "typesize"),
        "blocksize-negative": ({"blocksize": -1}, "blocksize"),
        "blocksize-text": ({"blocksize": "0"}, "blocksize"),
        "other-member": ({"nobodys": 1}, "name"),
    }
    for kind, (changes, clause) in wrong.items():
        yield refused(
            f"blosc/no-{kind}",
            f"blosc.{clause}",
            f"{kind.replace('-', ' ')} is no configuration of Blosc.",
            codecs(**changes),
            # That these are required is not said, unlike of typesize; the list of names is one
            # of its time.
            Either() if kind in ("cname-missing", "clevel-missing", "cname-unknown") else None,
        )
