"""The registered codec cast_value: invalid configurations and values, fill values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Node, Reject, Values
from zarr_conformance.corpus.encode import document, json_text, raw, shard
from zarr_conformance.corpus.ext_cases import (
    BYTES,
    extension,
    read_case,
    reject_case,
    sharding_codec,
)
from zarr_conformance.corpus.ext_cast_value import NEEDS, chain, clauses_of
from zarr_conformance.corpus.metadata import array, regular

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAN, _INF = float("nan"), float("inf")


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _failures()
    yield from _fills()
    yield from _configurations()


def _failures() -> Iterator[Case]:
    for what, kept, values, more, clause in (
        ("too-large", [300, 0], "i1", {}, "out-of-range-default"),
        ("too-small", [-1, 0], "u1", {}, "out-of-range-default"),
        ("nan", [_NAN, 0], "i1", {}, "nan-refused"),
        ("infinity", [_INF, 0], "<i4", {}, "nan-refused"),
        ("nan-clamped", [_NAN, 0], "<i4", {"out_of_range": "clamp"}, "nan-refused"),
    ):
        stored = np.array(kept, "<i4" if clause == "out-of-range-default" else "<f8")
        yield read_case(
            f"ext-codecs/cast-value/decoded-{what}",
            clauses_of(clause, "none-holds"),
            "A stored value that cannot be converted is an error.",
            raw(stored),
            Reject("chunk"),
            values=np.zeros(2, values),
            needs=NEEDS,
            codecs=chain(stored.dtype.name, **more),
        )
    for what, length in (("short", 3), ("long", 5)):
        yield read_case(
            f"ext-codecs/cast-value/damaged-{what}",
            clauses_of("data-type"),
            "The encoded chunk has the size of the target data type.",
            bytes(length),
            Reject("chunk"),
            values=np.zeros(4, "<i4"),
            needs=NEEDS,
            codecs=chain("uint8"),
        )


def _fills() -> Iterator[Case]:
    for what, fill, dtype, configuration in (
        ("out-of-range", 300, "<i4", {"data_type": "uint8"}),
        ("fraction", 0.5, "<f8", {"data_type": "uint8"}),
        ("nan", "NaN", "<f8", {"data_type": "uint8"}),
        ("clamped", 300, "<i4", {"data_type": "uint8", "out_of_range": "clamp"}),
        ("wrapped", 300, "<i4", {"data_type": "uint8", "out_of_range": "wrap"}),
    ):
        yield reject_case(
            f"ext-codecs/cast-value/fill-{what}",
            clauses_of("fill-round-trip", "fill-validated", "fill"),
            f"The fill value {json_text(fill)} is not preserved.",
            values=np.zeros(2, dtype),
            fill_value=fill,
            codecs=[extension("cast_value", **configuration), BYTES],
        )
    metadata = array(
        data_type="float64",
        fill_value="NaN",
        chunk_grid=regular(4),
        codecs=[
            extension(
                "cast_value",
                data_type="uint8",
                scalar_map={"encode": [["NaN", 0]], "decode": [[0, "NaN"]]},
            ),
            sharding_codec([extension("bytes")], 2),
        ],
    )
    yield Case(
        "ext-codecs/cast-value/fill-in-a-shard",
        clauses_of("fill", "map", "fill-round-trip", "fill-validated"),
        "An empty inner chunk reads as the fill value of the array.",
        "read",
        Accept(Node(values=Values(raw(np.array([1, 2, _NAN, _NAN], "<f8"))))),
        {"zarr.json": document(metadata), "c/0": shard({0: b"\1\2"}, 2)},
        needs=NEEDS,
    )


def _configurations() -> Iterator[Case]:
    wrong: tuple[tuple[str, dict[str, Any], str], ...] = (
        ("data-type-left-out", {}, "data-type"),
        ("data-type-null", {"data_type": None}, "data-type"),
        ("data-type-unknown", {"data_type": "int31"}, "data-type"),
        ("further-member", {"data_type": "int8", "unknown": 1}, "additional"),
        ("rounding-other", {"data_type": "int8", "rounding": "up"}, "rounding"),
        ("rounding-null", {"data_type": "int8", "rounding": None}, "rounding"),
        ("rounding-capital", {"data_type": "int8", "rounding": "Nearest-Even"}, "rounding"),
        ("range-other", {"data_type": "int8", "out_of_range": "saturate"}, "out-of-range"),
        ("range-null", {"data_type": "int8", "out_of_range": None}, "out-of-range"),
        ("wrap-float", {"data_type": "float32", "out_of_range": "wrap"}, "wrap-integers"),
        ("string", {"data_type": "string"}, "real"),
        ("bool", {"data_type": "bool"}, "real"),
        ("complex", {"data_type": "complex64"}, "real"),
        ("map-list", {"data_type": "int8", "scalar_map": []}, "map"),
        ("map-object", {"data_type": "int8", "scalar_map": {"encode": {"1": 2}}}, "map"),
        ("map-three", {"data_type": "int8", "scalar_map": {"encode": [[1, 2, 3]]}}, "map"),
        ("map-one", {"data_type": "int8", "scalar_map": {"encode": [[1]]}}, "map"),
        ("map-further", {"data_type": "int8", "scalar_map": {"both": []}}, "map"),
        ("map-key", {"data_type": "int8", "scalar_map": {"encode": [["a", 1]]}}, "map"),
        ("map-value", {"data_type": "int8", "scalar_map": {"encode": [[1, 300]]}}, "map"),
    )
    for what, configuration, clause in wrong:
        yield reject_case(
            f"ext-codecs/cast-value/no-{what}",
            clauses_of(clause, *(("map-json",) if what in ("map-key", "map-value") else ())),
            f"{json_text(configuration)} is not a valid configuration of cast_value for int32.",
            values=np.zeros(2, "<i4"),
            codecs=[{"name": "cast_value", "configuration": configuration}, BYTES],
        )
    for name, fill in (("bool", False), ("complex64", [0.0, 0.0]), ("r16", [0, 0])):
        yield reject_case(
            f"ext-codecs/cast-value/no-{name}-array",
            clauses_of("real"),
            f"cast_value is not defined for {name}.",
            values=np.zeros(2, "<i4"),
            data_type=name,
            fill_value=fill,
            codecs=chain("uint8"),
        )
