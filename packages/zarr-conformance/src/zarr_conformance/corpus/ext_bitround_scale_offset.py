"""The registered codecs bitround, scale_offset and numcodecs.fixedscaleoffset."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.encode import document, gzip, json_text, raw, shard
from zarr_conformance.corpus.ext_cases import (
    BYTES,
    GZIP,
    extension,
    read_case,
    reject_case,
    sharding_codec,
    write_case,
)
from zarr_conformance.corpus.metadata import array, regular

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROUND = ("codec:bitround",)
_SCALE = ("codec:scale_offset",)
_FIXED = ("codec:numcodecs.fixedscaleoffset",)

_FLOATS = [0.0, 0.1, 1.2, 12.3, 123.4, 1234.5, float("nan"), float("inf"), float("-inf")]
_ROUNDED = [0.0, 0.1015625, 1.25, 12.0, 120.0, 1280.0, float("nan"), float("inf"), float("-inf")]
"""The example of the registry, keepbits 3."""

_INTEGERS = [0, 1, 10, 11, 100, 123, 200, 208, 209, 255]
_INTEGERS_ROUNDED = [0, 1, 10, 12, 96, 128, 192, 192, 224, 224]


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _bitround()
    yield from _bitround_configurations()
    yield from _scale_offset()
    yield from _scale_offset_chains()
    yield from _scale_offset_invalid()
    yield from _fixed()


def _clauses(codec: str, *names: str) -> tuple[str, ...]:
    return tuple(f"ext-codecs.{codec}.{it}" for it in names)


def _bitround() -> Iterator[Case]:
    wide = (np.arange(1, 9) * 0.1).astype("<f8")
    nine = np.array([1.0, 1.25, 1.5, 1.75, 2.5, 3.0, 3.5, 4.0], "<f8")
    for name, some, kept, keepbits in (
        ("float32", np.array(_FLOATS, "<f4"), np.array(_ROUNDED, "<f4"), 3),
        ("uint8", np.array(_INTEGERS, "u1"), np.array(_INTEGERS_ROUNDED, "u1"), 3),
        ("float32-whole", np.array(_FLOATS, "<f4"), np.array(_FLOATS, "<f4"), 23),
        ("float64-whole", wide, wide, 52),
        ("float64-exact", nine, nine, 2),
        ("float64-negative", -nine, -nine, 2),
        (
            "float16",
            np.array([1.0, 1.1, 1.9, 65504.0], "<f2"),
            np.array([1.0, 1.0, 2.0, np.inf], "<f2"),
            1,
        ),
        ("uint16", np.array([0, 5, 1000, 65535], "<u2"), np.array([0, 5, 1000, 65535], "<u2"), 16),
        ("uint32", np.array([1000, 1001], "<u4"), np.array([1024, 1024], "<u4"), 2),
        ("int32-positive", np.array([1000, 1001], "<i4"), np.array([1024, 1024], "<i4"), 2),
    ):
        kind = "float" if some.dtype.kind == "f" else "integer"
        codecs = [extension("bitround", keepbits=keepbits), BYTES]
        clauses = _clauses("bitround", "name", "keepbits", kind, "data-types")
        if kind == "float":
            clauses += _clauses("bitround", "numcodecs")
        yield read_case(
            f"ext-codecs/bitround/{name}-read",
            clauses,
            "Stored values are read without change.",
            raw(kept),
            values=kept,
            needs=_ROUND,
            codecs=codecs,
        )
        if name != "float16":  # the result of rounding beyond the largest value is not defined
            yield write_case(
                f"ext-codecs/bitround/{name}-created",
                clauses,
                f"{keepbits} bits of each element are kept, rounded to nearest.",
                raw(kept),
                values=some,
                needs=_ROUND,
                codecs=codecs,
            )
    rounded = np.array([1.25 - 12.0j, 0.1015625 + 120.0j], "<c8")
    yield read_case(
        "ext-codecs/bitround/complex64-read",
        _clauses("bitround", "data-types"),
        "The parts of complex numbers are rounded separately.",
        raw(rounded),
        values=rounded,
        fill_value=[0.0, 0.0],
        needs=_ROUND,
        codecs=[extension("bitround", keepbits=3), BYTES],
    )
    some = np.array(_ROUNDED, "<f4")
    yield read_case(
        "ext-codecs/bitround/gzip",
        _clauses("bitround", "float"),
        "Compressors may follow.",
        gzip(raw(some)),
        values=some,
        needs=_ROUND,
        codecs=[extension("bitround", keepbits=3), BYTES, GZIP],
    )
    yield read_case(
        "ext-codecs/bitround/not-rounded",
        _clauses("bitround", "float"),
        "Decoding does not change elements, rounded or not.",
        raw(np.array(_FLOATS, "<f4")),
        values=np.array(_FLOATS, "<f4"),
        needs=_ROUND,
        codecs=[extension("bitround", keepbits=3), BYTES],
    )
    yield read_case(
        "ext-codecs/bitround/alias",
        _clauses("bitround", "alias"),
        "The alias numcodecs.bitround may be accepted.",
        raw(some),
        Either(Node(values=Values(raw(some)))),
        values=some,
        codecs=[extension("numcodecs.bitround", keepbits=3), BYTES],
    )


def _bitround_configurations() -> Iterator[Case]:
    some = np.array(_ROUNDED, "<f4")
    for kind, configuration in (
        ("left-out", {}),
        ("negative", {"keepbits": -1}),
        ("fraction", {"keepbits": 1.5}),
        ("text", {"keepbits": "3"}),
        ("null", {"keepbits": None}),
        ("true", {"keepbits": True}),
        ("further-member", {"keepbits": 3, "unknown": 1}),
    ):
        yield reject_case(
            f"ext-codecs/bitround/no-{kind}",
            _clauses("bitround", "keepbits"),
            f"{json_text(configuration)} is not a valid configuration of bitround.",
            values=some,
            codecs=[{"name": "bitround", "configuration": configuration}, BYTES],
        )
    for kind, keepbits in (("zero", 0), ("more-than-there-are", 24)):
        yield reject_case(
            f"ext-codecs/bitround/keepbits-{kind}",
            _clauses("bitround", "keepbits"),
            "The minimum is 1 in the specification and 0 in its schema; neither defines a maximum.",
            Either(Node("array")),
            values=some,
            codecs=[extension("bitround", keepbits=keepbits), BYTES],
        )
    yield reject_case(
        "ext-codecs/bitround/no-strings",
        _clauses("bitround", "data-types"),
        "Strings are not numbers.",
        values=some,
        data_type="string",
        fill_value="",
        codecs=[extension("bitround", keepbits=3), {"name": "vlen-utf8"}],
    )


_SCALED: tuple[tuple[str, str, dict[str, Any], list[Any], list[Any]], ...] = (
    ("float64", "<f8", {"offset": 5, "scale": 0.5}, [5, 7, 15, -3], [0, 1, 5, -4]),
    ("float32", "<f4", {"offset": -10, "scale": 0.25}, [-10, -6, 30, 90], [0, 1, 10, 25]),
    ("offset-alone", "<u2", {"offset": 1000}, [1000, 1001, 1255, 2000], [0, 1, 255, 1000]),
    ("scale-alone", "<i4", {"scale": 3}, [0, 1, -7, 100], [0, 3, -21, 300]),
    ("negative", "<i2", {"offset": -4, "scale": -2}, [-4, 0, 6, -9], [0, -8, -20, 10]),
    ("nothing", "<i4", {}, [1, 2, 3, 4], [1, 2, 3, 4]),
    ("hexadecimal", "<f4", {"offset": "0x40a00000"}, [5, 6, 7, 8], [0, 1, 2, 3]),
    ("int64", "<i8", {"offset": 2**53 + 1}, [2**53 + 1, 2**53 + 2, 2**62, 0], []),
)


def _scale_offset() -> Iterator[Case]:
    for name, dtype, configuration, some, stored in _SCALED:
        values = np.array(some, dtype)
        kept = np.array(stored, dtype) if stored else values - np.int64(configuration["offset"])
        clauses = _clauses(
            "scale-offset",
            "name",
            "arithmetic",
            "additional",
            *(it for it in ("offset", "scale") if it in configuration),
        )
        summary = "The stored value is the element minus offset, times scale."
        codecs = [{"name": "scale_offset", "configuration": configuration}, BYTES]
        fill = int(configuration["offset"]) if isinstance(configuration.get("offset"), int) else 0
        for operation, make in (("decode", read_case), ("encode", write_case)):
            yield make(
                f"ext-codecs/scale-offset/{name}-{operation}d",
                (*clauses, *_clauses("scale-offset", operation, "data-types")),
                summary,
                raw(kept),
                values=values,
                needs=_SCALE,
                fill_value=fill,
                codecs=codecs,
            )
    values = np.array([3, 1, 4, 1], "<i4")
    for kind, codec in (("name", "scale_offset"), ("object", {"name": "scale_offset"})):
        yield read_case(
            f"ext-codecs/scale-offset/no-configuration-{kind}",
            _clauses("scale-offset", "optional", "offset", "scale"),
            "Without configuration the codec has no effect.",
            raw(values),
            Either(Node(values=Values(raw(values)))) if kind == "name" else None,
            values=values,
            needs=_SCALE,
            codecs=[codec, BYTES],
        )


def _scale_offset_chains() -> Iterator[Case]:
    codec = extension("scale_offset", offset=1000)
    values = np.array([1000, 1001, 1255, 1000], "<u2")
    yield read_case(
        "ext-codecs/scale-offset/big-gzip",
        _clauses("scale-offset", "decode"),
        "Other codecs may follow.",
        gzip(raw(values - 1000, "big")),
        values=values,
        fill_value=1000,
        needs=_SCALE,
        codecs=[codec, extension("bytes", endian="big"), GZIP],
    )
    metadata = array(
        data_type="uint16",
        fill_value=1000,
        chunk_grid=regular(4),
        codecs=[codec, sharding_codec([BYTES], 2)],
    )
    yield Case(
        "ext-codecs/scale-offset/missing-inner-chunk",
        _clauses("scale-offset", "fill", "decode"),
        "An empty inner chunk reads as the fill value of the array.",
        "read",
        Accept(Node(values=Values(raw(np.array([1000, 1000, 1255, 1001], "<u2"))))),
        {
            "zarr.json": document(metadata),
            "c/0": shard({1: raw(np.array([255, 1], "<u2"))}, 2),
        },
        needs=_SCALE,
    )
    both = [
        extension("scale_offset", offset=1000),
        extension("cast_value", data_type="uint8"),
        BYTES,
    ]
    yield read_case(
        "ext-codecs/scale-offset/cast-value",
        (*_clauses("scale-offset", "decode"), *_clauses("cast-value", "exact")),
        "The example of the specification: a range of uint16 in uint8.",
        bytes([0, 1, 255, 0]),
        values=values,
        fill_value=1000,
        needs=(*_SCALE, "codec:cast_value"),
        codecs=both,
    )
    for kind, dtype, stored in (
        ("too-large", "u1", [250, 0, 0, 0]),
        ("too-small", "i1", [-128, 0, 0, 0]),
    ):
        offset = 10 if dtype == "u1" else -10
        yield read_case(
            f"ext-codecs/scale-offset/decoded-{kind}",
            _clauses("scale-offset", "representable"),
            "A result that the data type cannot represent is an error and does not wrap around.",
            raw(np.array(stored, dtype)),
            Reject("chunk"),
            values=np.array(stored, dtype),
            fill_value=offset,
            needs=_SCALE,
            codecs=[extension("scale_offset", offset=offset), BYTES],
        )
    huge = np.array([1, 2], "<f4")
    yield read_case(
        "ext-codecs/scale-offset/decoded-infinite",
        _clauses("scale-offset", "representable"),
        "The specification does not define the overflow of finite numbers to infinity.",
        raw(np.array([3e38, 1], "<f4")),
        Either(Node("array")),
        values=huge,
        needs=_SCALE,
        codecs=[extension("scale_offset", scale=0.5), BYTES],
    )
    yield read_case(
        "ext-codecs/scale-offset/decoded-not-divisible",
        _clauses("scale-offset", "representable", "arithmetic"),
        "7 divided by 2 in integers: an error, or the result of integer division.",
        raw(np.array([7, 4], "<i4")),
        Either(Node("array")),
        values=np.array([3, 2], "<i4"),
        needs=_SCALE,
        codecs=[extension("scale_offset", scale=2), BYTES],
    )


def _scale_offset_invalid() -> Iterator[Case]:
    values = np.array([1, 2], "<i4")
    for kind, configuration, clause in (
        ("further-member", {"offset": 1, "astype": "u1"}, "additional"),
        ("offset-text", {"offset": "a"}, "offset"),
        ("offset-null", {"offset": None}, "offset"),
        ("offset-fraction", {"offset": 1.5}, "offset"),
        ("offset-too-large", {"offset": 2**31}, "offset"),
        ("scale-text", {"scale": "a"}, "scale"),
        ("scale-list", {"scale": [1]}, "scale"),
        ("scale-fraction", {"scale": 0.1}, "scale"),
        ("scale-true", {"scale": True}, "scale"),
    ):
        yield reject_case(
            f"ext-codecs/scale-offset/no-{kind}",
            _clauses("scale-offset", clause),
            f"{json_text(configuration)} is not a valid configuration of scale_offset for int32.",
            values=values,
            codecs=[{"name": "scale_offset", "configuration": configuration}, BYTES],
        )
    for name, fill in (("bool", False), ("complex64", [0.0, 0.0])):
        yield reject_case(
            f"ext-codecs/scale-offset/no-{name}",
            _clauses("scale-offset", "data-types"),
            f"scale_offset is not defined for {name}.",
            values=values,
            data_type=name,
            fill_value=fill,
            codecs=[extension("scale_offset"), BYTES],
        )


def _fixed() -> Iterator[Case]:
    values = np.array([10, 20, 30, 100], "<f4")
    configuration: dict[str, Any] = {"offset": 10, "scale": 0.1, "dtype": "<f4", "astype": "|u1"}
    yield read_case(
        "ext-codecs/scale-offset/fixedscaleoffset",
        _clauses(
            "scale-offset",
            "legacy",
            "legacy-name",
            "legacy-numbers",
            "legacy-dtype",
            "legacy-astype",
        ),
        "The codec of numcodecs may be supported.",
        bytes([0, 1, 2, 9]),
        Either(Node(values=Values(raw(values)))),
        values=values,
        needs=_FIXED,
        fill_value=10,
        codecs=[{"name": "numcodecs.fixedscaleoffset", "configuration": configuration}, BYTES],
    )
    for kind, more in (
        ("offset-text", {"offset": "10"}),
        ("scale-null", {"scale": None}),
        ("offset-left-out", {"offset": ...}),
        ("scale-left-out", {"scale": ...}),
    ):
        chosen = {key: it for key, it in (configuration | more).items() if it is not ...}
        yield reject_case(
            f"ext-codecs/scale-offset/fixedscaleoffset-no-{kind}",
            _clauses("scale-offset", "legacy-numbers"),
            "offset and scale are required and must be numbers.",
            values=values,
            codecs=[{"name": "numcodecs.fixedscaleoffset", "configuration": chosen}, BYTES],
        )
    for member, (kind, value) in product(
        ("dtype", "astype"),
        {"number": 4, "list": [4], "unknown": "<q4", "version-3": {"name": "uint8"}}.items(),
    ):
        yield reject_case(
            f"ext-codecs/scale-offset/fixedscaleoffset-no-{member}-{kind}",
            _clauses("scale-offset", f"legacy-{member}"),
            f"{member} must be a data type of version 2, not {json_text(value)}.",
            values=values,
            codecs=[
                {
                    "name": "numcodecs.fixedscaleoffset",
                    "configuration": configuration | {member: value},
                },
                BYTES,
            ],
        )
