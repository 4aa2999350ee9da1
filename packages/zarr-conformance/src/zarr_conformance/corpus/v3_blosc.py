"""The codec blosc of version 3: configurations and containers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Case, Either
from zarr_conformance.corpus.encode import raw
from zarr_conformance.corpus.one_chunk import BYTES, VALUES
from zarr_conformance.corpus.v3_codecs import read_case, reject_case, write_case

if TYPE_CHECKING:
    from collections.abc import Iterator


BLOSC = {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}
"""A complete configuration."""

_CNAMES = ("lz4", "lz4hc", "blosclz", "zstd", "zlib")
_SHUFFLES = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}


def compressed(data: bytes, **changes: Any) -> bytes:
    """Return a Blosc container, configured as :data:`BLOSC` with changes."""
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
    """Yield the cases."""
    data = raw(VALUES)

    def codecs(**changes: Any) -> list[Any]:
        configuration = {k: value for k, value in (BLOSC | changes).items() if value is not ...}
        return [BYTES, {"name": "blosc", "configuration": configuration}]

    always = ("v3-codecs.blosc.name", "v3-codecs.blosc.format", "v3-core.codecs.core")
    for cname in _CNAMES:
        yield read_case(
            f"blosc/cname-{cname}",
            (*always, "v3-codecs.blosc.cname"),
            f"{cname} is a valid compressor.",
            codecs(cname=cname),
            compressed(data, cname=cname),
        )
        yield write_case(
            f"blosc/cname-{cname}-created", (*always, "v3-codecs.blosc.cname"), codecs(cname=cname)
        )
    for level in (0, 1, 9):
        yield read_case(
            f"blosc/clevel-{level}",
            (*always, "v3-codecs.blosc.clevel")
            + (("v3-codecs.blosc.clevel-zero",) if not level else ()),
            f"{level} is a valid level.",
            codecs(clevel=level),
            compressed(data, clevel=level),
        )
    for shuffle in _SHUFFLES:
        for typesize in (1, 2, 4, 8):
            yield read_case(
                f"blosc/{shuffle}-{typesize}",
                (*always, "v3-codecs.blosc.shuffle", "v3-codecs.blosc.typesize"),
                f"{shuffle} with elements of {typesize} bytes.",
                codecs(shuffle=shuffle, typesize=typesize),
                compressed(data, shuffle=shuffle, typesize=typesize),
            )
    yield read_case(
        "blosc/blocksize",
        (*always, "v3-codecs.blosc.blocksize"),
        "blocksize may be specified.",
        codecs(blocksize=32),
        compressed(data, blocksize=32),
    )
    yield read_case(
        "blosc/no-typesize",
        (*always, "v3-codecs.blosc.typesize-ignored"),
        "typesize may be omitted if shuffle is noshuffle.",
        codecs(shuffle="noshuffle", typesize=...),
        compressed(data, shuffle="noshuffle"),
    )
    yield read_case(
        "blosc/other-than-configured",
        ("v3-codecs.blosc.format",),
        "Decoding depends on the header of the container, not on the configuration.",
        codecs(cname="zstd", clevel=9, shuffle="bitshuffle"),
        compressed(data, cname="lz4", shuffle="noshuffle"),
    )
    wrong: dict[str, tuple[dict[str, Any], str]] = {
        "cname-unknown": ({"cname": "unknown"}, "cname"),
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
        "other-member": ({"unknown": 1}, "name"),
    }
    for kind, (changes, clause) in wrong.items():
        yield reject_case(
            f"blosc/no-{kind}",
            (f"v3-codecs.blosc.{clause}",),
            f"The configuration is invalid: {kind.replace('-', ' ')}.",
            codecs(**changes),
            # The specification requires typesize only; the list of compressors may become
            # longer.
            Either() if kind in ("cname-missing", "clevel-missing", "cname-unknown") else None,
        )
