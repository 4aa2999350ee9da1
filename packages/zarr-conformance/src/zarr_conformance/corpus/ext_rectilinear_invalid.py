"""Invalid metadata of the registered chunk grid rectilinear, and chunks of a wrong size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Case, Either, Node, Reject
from zarr_conformance.corpus.encode import document, json_text, raw
from zarr_conformance.corpus.ext_rectilinear import clauses_of, grid, read
from zarr_conformance.corpus.metadata import array

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE = np.arange(1, 11, dtype="<i4")


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _reject_case()
    yield from _corrupt()


def _reject_case() -> Iterator[Case]:
    wrong: tuple[tuple[str, Any, str], ...] = (
        ("kind-left-out", {"chunk_shapes": [4]}, "kind"),
        ("kind-other", {"kind": "external", "chunk_shapes": [4]}, "kind"),
        ("kind-null", {"kind": None, "chunk_shapes": [4]}, "kind"),
        ("shapes-left-out", {"kind": "inline"}, "chunk-shapes"),
        ("shapes-null", {"kind": "inline", "chunk_shapes": None}, "chunk-shapes"),
        ("shapes-number", {"kind": "inline", "chunk_shapes": 4}, "chunk-shapes"),
        ("chunk-shape", {"kind": "inline", "chunk_shape": [4]}, "chunk-shapes"),
    )
    for what, configuration, name in wrong:
        yield _invalid(what, name, {"name": "rectilinear", "configuration": configuration})
    for what, shapes, name in (
        ("too-few-dimensions", [], "chunk-shapes"),
        ("too-many-dimensions", [4, 4], "chunk-shapes"),
        ("zero", [0], "positive"),
        ("negative", [-4], "positive"),
        ("fraction", [2.5], "positive"),
        ("whole-float", [4.0], "positive"),
        ("text", ["4"], "positive"),
        ("true", [True], "positive"),
        ("null", [None], "positive"),
        ("object", [{"length": 4}], "positive"),
        ("zero-in-list", [[4, 0, 6]], "positive"),
        ("negative-in-list", [[12, -2]], "positive"),
        ("fraction-in-list", [[2.5, 7.5]], "positive"),
        ("true-in-list", [[True, 9]], "positive"),
        ("run-of-zero", [[[0, 5], 10]], "runs"),
        ("run-no-times", [[[5, 0], 10]], "runs"),
        ("run-negative-times", [[[5, -1], 10]], "runs"),
        ("run-of-three", [[[2, 2, 2], 10]], "runs"),
        ("run-of-one-number", [[[10]]], "runs"),
        ("run-empty", [[[], 10]], "runs"),
        ("run-within-run", [[[[2, 2], 2], 10]], "runs"),
        ("run-fraction", [[[2.5, 4]]], "runs"),
        ("run-text", [[["2", 5]]], "runs"),
        ("sum-too-small", [[4, 5]], "sum"),
        ("sum-of-runs-too-small", [[[3, 3]]], "sum"),
        ("no-lengths", [[]], "sum"),
    ):
        yield _invalid(what, name, grid(*shapes))
    yield _invalid("name-alone", "name", "rectilinear")
    yield _invalid("no-configuration", "name", {"name": "rectilinear"})


def _invalid(what: str, name: str, value: Any) -> Case:
    return Case(
        f"ext-grids/rectilinear/no-{what}",
        clauses_of(f"rectilinear.{name}"),
        f"{json_text(value)} is not a valid grid for 10 elements.",
        "open",
        Reject("metadata", "extension"),
        {"zarr.json": document(array(shape=[10], chunk_grid=value))},
    )


def _corrupt() -> Iterator[Case]:
    for what, stored in (
        ("short", raw(_LINE[:1])),
        ("of-its-neighbour", raw(_LINE[:5])),
        ("empty", b""),
    ):
        yield read(
            f"damage-{what}",
            ("indexing",),
            "A chunk has the shape given by the grid.",
            [[5, 3, 2]],
            {"c/2": stored},
            expect=Reject("chunk"),
        )
    yield read(
        "damage-cut-at-the-array",
        ("overflow", "indexing"),
        "A truncated chunk beyond the array has all elements of the array, but not the chunk shape.",
        [[5, 3, 4]],
        {"c/2": raw(_LINE[8:])},
        expect=Either(Node("array")),
    )
