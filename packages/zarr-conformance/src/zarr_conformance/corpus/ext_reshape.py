"""The registered codec reshape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case_tables import table_cases
from zarr_conformance.corpus.encode import gzip, raw
from zarr_conformance.corpus.one_chunk import (
    BYTES,
    GZIP,
    VALUES,
    extension,
    read_case,
    write_case,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.case import Case

_NEEDS = ("codec:reshape",)
_CUBE = np.arange(24, dtype="<i4").reshape(2, 3, 4)


def _clauses(*names: str) -> tuple[str, ...]:
    return tuple(f"ext-codecs.reshape.{name}" for name in names)


def _round_trip(
    what: str, clauses: tuple[str, ...], summary: str, values: Any, stored: bytes, codecs: list[Any]
) -> Iterator[Case]:
    for kind, make in (("read", read_case), ("created", write_case)):
        yield make(
            f"ext-codecs/reshape/{what}-{kind}",
            clauses,
            summary,
            stored,
            values=values,
            needs=_NEEDS,
            codecs=codecs,
        )


def cases() -> Iterator[Case]:
    """Yield the cases."""
    for what, shape, becomes, names in (
        ("numbers", [6, 4], (6, 4), ()),
        ("one-dimension", [24], (24,), ()),
        ("more-dimensions", [2, 1, 3, 2, 2], (2, 1, 3, 2, 2), ()),
        ("lists", [[0, 1], [2]], (6, 4), ("dimensions",)),
        ("list-of-all", [[0, 1, 2]], (24,), ("dimensions",)),
        ("automatic", [-1, 4], (6, 4), ("automatic",)),
        ("automatic-last", [2, -1], (2, 12), ("automatic",)),
        ("automatic-alone", [-1], (24,), ("automatic",)),
        ("automatic-one", [24, -1], (24, 1), ("automatic",)),
        ("list-and-automatic", [[0], -1], (2, 12), ("dimensions", "automatic")),
        ("list-and-number", [[0, 1], 4], (6, 4), ("dimensions",)),
        ("number-in-between", [[0], 3, [2]], (2, 3, 4), ("dimensions",)),
        ("empty-list", [[0, 1], [], [2]], (6, 1, 4), ("dimensions",)),
    ):
        always = _clauses("name", "shape", "product", "order", *names)
        if names:
            always += _clauses("increasing", "aligned")
        reshape = extension("reshape", shape=shape)
        yield from _round_trip(
            what,
            always,
            "The order of the elements does not change.",
            _CUBE,
            raw(_CUBE),
            [reshape, BYTES],
        )
        turned = np.ascontiguousarray(_CUBE.reshape(becomes).T)
        order = list(reversed(range(len(becomes))))
        yield from _round_trip(
            f"{what}-transposed",
            always,
            f"The next codec receives chunks of shape {becomes}.",
            _CUBE,
            raw(turned),
            [reshape, extension("transpose", order=order), BYTES],
        )
    yield from _round_trip(
        "behind-transpose",
        _clauses("order", "dimensions"),
        "The codec reshapes the output of the previous codec.",
        _CUBE,
        raw(np.ascontiguousarray(_CUBE.T)),
        [extension("transpose", order=[2, 1, 0]), extension("reshape", shape=[[0], [1, 2]]), BYTES],
    )
    yield read_case(
        "ext-codecs/reshape/gzip",
        _clauses("order"),
        "Compressors may follow.",
        gzip(raw(VALUES)),
        needs=_NEEDS,
        codecs=[extension("reshape", shape=[-1]), BYTES, GZIP],
    )
    single = np.array(7, "<i4")
    yield read_case(
        "ext-codecs/reshape/no-dimensions",
        _clauses("shape", "product"),
        "A zero-dimensional array has one element.",
        raw(single),
        values=single,
        needs=_NEEDS,
        codecs=[extension("reshape", shape=[1, 1]), BYTES],
    )
    yield from table_cases("ext_reshape", "invalid")
