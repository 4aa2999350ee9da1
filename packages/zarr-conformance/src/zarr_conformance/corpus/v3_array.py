"""Array metadata of version 3: the members that must be there, their values, their defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Accept, Case, Node, Reject
from zarr_conformance.corpus.documents import LEFT_OUT, array
from zarr_conformance.corpus.encode import document

if TYPE_CHECKING:
    from collections.abc import Iterator

_MANDATORY = (
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "codecs",
)

# What a shape is not, each with a name for it.
_NO_SHAPES: dict[str, Any] = {
    "number": 4,
    "null": None,
    "string": "4",
    "negative": [-1],
    "fraction": [4.5],
    "text": ["4"],
    "true": [True],
    "nested": [[4]],
}


def cases() -> Iterator[Case]:
    """All of them."""
    yield Case(
        "v3-core/array/plain",
        tuple(f"v3-core.array.{name.replace('_', '-')}" for name in _MANDATORY),
        "A document with all mandatory members and no other is an array.",
        "open",
        Accept(Node("array", (4,))),
        {"zarr.json": document(array())},
    )
    for name in _MANDATORY:
        yield Case(
            f"v3-core/array/without-{name.replace('_', '-')}",
            (f"v3-core.array.{name.replace('_', '-')}",),
            f"A document without {name} is no array.",
            "open",
            Reject("metadata"),
            {"zarr.json": document(array(**{name: LEFT_OUT}))},
        )
    for name, shape in _NO_SHAPES.items():
        yield Case(
            f"v3-core/array/shape-{name}",
            ("v3-core.array.shape",),
            f"A shape is a list of integers, not {shape!r}.",
            "open",
            Reject("metadata"),
            {"zarr.json": document(array(shape=shape))},
        )
