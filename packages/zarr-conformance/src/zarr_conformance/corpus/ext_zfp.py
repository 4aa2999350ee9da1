"""The registered codec zfp, with streams of the reference implementation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject
from zarr_conformance.corpus.encode import gzip, json_text
from zarr_conformance.corpus.ext_cases import (
    BYTES,
    GZIP,
    as_values,
    extension,
    read_case,
    reject_case,
    single_chunk,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_NEEDS = ("codec:zfp",)
_FLOATS = [1.1, 2.2, 3.3, 4.4]
_STREAMS: dict[str, tuple[dict[str, Any], Any, str, str]] = {
    "reversible-int32": (
        {"mode": "reversible"},
        np.array([1, -2, 3, 1000], "<i4"),
        "1f0000040000920b0c00000000000000",
        "",
    ),
    "reversible-int64": (
        {"mode": "reversible"},
        np.array([1, -2, 3, 1000], "<i8"),
        "3f000000000000080000241718000000",
        "",
    ),
    "reversible-float32": (
        {"mode": "reversible"},
        np.array([0, 1.5, -2.25, 1e10], "<f4"),
        "ff7040002017224040000040440000442200000000000000",
        "",
    ),
    "reversible-two-dimensions": (
        {"mode": "reversible"},
        np.arange(6, dtype="<f8").reshape(2, 3),
        "0990909849249300",
        "",
    ),
    "reversible-three-dimensions": (
        {"mode": "reversible"},
        np.arange(8, dtype="<i4").reshape(2, 2, 2),
        "1f000000028841841104000000000000",
        "",
    ),
    "reversible-four-dimensions": (
        {"mode": "reversible"},
        np.arange(16, dtype="<i4").reshape(2, 2, 2, 2),
        "1f0000002118e0184008300410000000",
        "",
    ),
    "reversible-no-dimensions": (
        {"mode": "reversible"},
        np.array(7, "<i4"),
        "1f0000008b020000",
        "",
    ),
    "fixed-accuracy": (
        {"mode": "fixed_accuracy", "tolerance": 0.05},
        np.array(_FLOATS, "<f8"),
        "0568719820090000",
        "000000000090f13f00000000009801400000000000680a4000000000009c1140",
    ),
    "fixed-rate": (
        {"mode": "fixed_rate", "rate": 16},
        np.array(_FLOATS, "<f8"),
        "0568719820099220",
        "00000000c099f13f00000000a09901400000000060660a400000000090991140",
    ),
    "fixed-precision": (
        {"mode": "fixed_precision", "precision": 20},
        np.array(_FLOATS, "<f8"),
        "05687198200992200900000000000000",
        "000000009099f13f00000000989901400000000068660a40000000009c991140",
    ),
    # The four zfp parameters of fixed_precision.
    "expert": (
        {"mode": "expert", "minbits": 1, "maxbits": 16658, "maxprec": 20, "minexp": -1074},
        np.array(_FLOATS, "<f8"),
        "05687198200992200900000000000000",
        "000000009099f13f00000000989901400000000068660a40000000009c991140",
    ),
}


def _clauses(*names: str) -> tuple[str, ...]:
    return tuple(f"ext-codecs.zfp.{it}" for it in names)


def cases() -> Iterator[Case]:
    """Yield the cases."""
    for what, (configuration, values, stream, decoded) in _STREAMS.items():
        stored = bytes.fromhex(stream)
        got = bytes.fromhex(decoded) if decoded else values
        yield read_case(
            f"ext-codecs/zfp/{what}",
            _clauses("name", "mode", "parameters", "format", "shapes", "data-types"),
            "A stream without a header.",
            stored,
            Accept(Node(values=as_values(got))),
            values=values,
            needs=_NEEDS,
            codecs=[{"name": "zfp", "configuration": configuration}],
        )
        if "reversible" in what:
            yield Case(
                f"ext-codecs/zfp/{what}-created",
                _clauses("mode", "format", "shapes"),
                "Values are lossless; the stored value has the size of a stream.",
                "create",
                Accept(
                    Node(
                        values=as_values(values),
                        stored={"/".join(("c", *("0" for _ in values.shape))): stored},
                    )
                ),
                needs=_NEEDS,
                document=single_chunk(
                    values, codecs=[{"name": "zfp", "configuration": configuration}]
                ),
            )
    yield from _chains()
    yield from _reject_case()


def _chains() -> Iterator[Case]:
    configuration, values, stream, _ = _STREAMS["reversible-int32"]
    stored = bytes.fromhex(stream)
    zfp = {"name": "zfp", "configuration": configuration}
    yield read_case(
        "ext-codecs/zfp/gzip",
        _clauses("format"),
        "Compressors may follow.",
        gzip(stored),
        values=values,
        needs=_NEEDS,
        codecs=[zfp, GZIP],
    )
    five = np.zeros((1, 1, 1, 1, 4), "<i4")
    yield read_case(
        "ext-codecs/zfp/five-dimensions-reshaped",
        _clauses("shapes"),
        "Arrays of more dimensions are supported if a previous codec reduces them.",
        stored,
        Accept(Node(values=as_values(values))),
        values=five,
        needs=(*_NEEDS, "codec:reshape"),
        codecs=[extension("reshape", shape=[4]), zfp],
    )
    for what, data in (("empty", b""), ("short", stored[:3])):
        yield read_case(
            f"ext-codecs/zfp/damage-{what}",
            _clauses("format"),
            "A truncated stream is an error.",
            data,
            Reject("chunk"),
            values=values,
            needs=_NEEDS,
            codecs=[zfp],
        )
    for name in ("int8", "uint8", "int16", "float16"):
        yield reject_case(
            f"ext-codecs/zfp/small-{name}",
            _clauses("small"),
            f"{name} may be promoted.",
            Either(Node("array")),
            values=np.zeros(4, name),
            codecs=[zfp],
        )


def _reject_case() -> Iterator[Case]:
    values = np.zeros(4, "<f8")
    expert = {"mode": "expert", "minbits": 1, "maxbits": 100, "maxprec": 20, "minexp": -10}
    for what, configuration, clause in (
        ("mode-left-out", {}, "mode"),
        ("mode-other", {"mode": "lossless"}, "mode"),
        ("mode-number", {"mode": 4}, "mode"),
        ("mode-null", {"mode": None}, "mode"),
        ("rate-left-out", {"mode": "fixed_rate"}, "parameters"),
        ("precision-left-out", {"mode": "fixed_precision"}, "parameters"),
        ("tolerance-left-out", {"mode": "fixed_accuracy"}, "parameters"),
        ("rate-text", {"mode": "fixed_rate", "rate": "16"}, "parameters"),
        ("precision-negative", {"mode": "fixed_precision", "precision": -1}, "parameters"),
        ("precision-fraction", {"mode": "fixed_precision", "precision": 1.5}, "parameters"),
        ("tolerance-null", {"mode": "fixed_accuracy", "tolerance": None}, "parameters"),
        *(
            (f"expert-without-{key}", {k: v for k, v in expert.items() if k != key}, "parameters")
            for key in expert
            if key != "mode"
        ),
        ("expert-negative", expert | {"minbits": -1}, "parameters"),
        ("write-header", {"mode": "reversible", "write_header": True}, "parameters"),
    ):
        yield reject_case(
            f"ext-codecs/zfp/no-{what}",
            _clauses(clause),
            f"{json_text(configuration)} is not a valid configuration of zfp.",
            values=values,
            codecs=[{"name": "zfp", "configuration": configuration}],
        )
    zfp = extension("zfp", mode="reversible")
    for name, fill in (("bool", False), ("complex64", [0.0, 0.0]), ("string", "")):
        yield reject_case(
            f"ext-codecs/zfp/no-{name}",
            _clauses("data-types"),
            f"zfp does not support {name}.",
            values=values,
            data_type=name,
            fill_value=fill,
            codecs=[zfp],
        )
    yield reject_case(
        "ext-codecs/zfp/no-five-dimensions",
        _clauses("shapes"),
        "Chunks have at most four dimensions.",
        values=np.zeros((2, 2, 2, 2, 2), "<f8"),
        codecs=[zfp],
    )
    yield reject_case(
        "ext-codecs/zfp/no-behind-bytes",
        _clauses("format"),
        "zfp is an array -> bytes codec.",
        values=values,
        codecs=[BYTES, zfp],
    )
