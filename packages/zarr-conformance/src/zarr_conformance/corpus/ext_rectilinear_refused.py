"""What is no grid of the registered kind rectilinear, with chunks that do not fit it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Case, Either, Node, Reject
from zarr_conformance.corpus.documents import array
from zarr_conformance.corpus.encode import document, raw
from zarr_conformance.corpus.ext_rectilinear import clauses_of, grid, read

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE = np.arange(1, 11, dtype="<i4")


def cases() -> Iterator[Case]:
    """All of them."""
    yield from _refused()
    yield from _damage()


def _refused() -> Iterator[Case]:
    wrong: tuple[tuple[str, Any, str], ...] = (
        ("kind-left-out", {"chunk_shapes": [4]}, "kind"),
        ("kind-other", {"kind": "external", "chunk_shapes": [4]}, "kind"),
        ("kind-null", {"kind": None, "chunk_shapes": [4]}, "kind"),
        ("shapes-left-out", {"kind": "inline"}, "chunk-shapes"),
        ("shapes-null", {"kind": "inline", "chunk_shapes": None}, "chunk-shapes"),
        ("shapes-number", {"kind": "inline", "chunk_shapes": 4}, "chunk-shapes"),
        ("chunk-shape", {"kind": "inline", "chunk_shape": [4]}, "chunk-shapes"),
    )
    for what, told, name in wrong:
        yield _bad(what, name, {"name": "rectilinear", "configuration": told})
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
        yield _bad(what, name, grid(*shapes))
    yield _bad("name-alone", "name", "rectilinear")
    yield _bad("no-configuration", "name", {"name": "rectilinear"})


def _bad(what: str, name: str, told: Any) -> Case:
    return Case(
        f"ext-grids/rectilinear/no-{what}",
        clauses_of(f"rectilinear.{name}"),
        f"{told!r} is no grid of 10 elements.",
        "open",
        Reject("metadata", "extension"),
        {"zarr.json": document(array(shape=[10], chunk_grid=told))},
    )


def _damage() -> Iterator[Case]:
    for what, stored in (
        ("short", raw(_LINE[:1])),
        ("of-its-neighbour", raw(_LINE[:5])),
        ("empty", b""),
    ):
        yield read(
            f"damage-{what}",
            ("indexing",),
            "A chunk has the shape that the grid gives it.",
            [[5, 3, 2]],
            {"c/2": stored},
            expect=Reject("chunk"),
        )
    yield read(
        "damage-cut-at-the-array",
        ("overflow", "indexing"),
        "A chunk beyond the array that is cut: its elements are there, its shape is not.",
        [[5, 3, 4]],
        {"c/2": raw(_LINE[8:])},
        expect=Either(Node("array")),
    )
