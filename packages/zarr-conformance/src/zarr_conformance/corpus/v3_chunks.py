"""The regular chunk grid and the two chunk key encodings of version 3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject, Values
from zarr_conformance.corpus.case_tables import table_cases
from zarr_conformance.corpus.encode import blocks, document, json_text, raw
from zarr_conformance.corpus.metadata import array, regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_SHAPES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "even": ((4,), (2,)),
    "border": ((5,), (2,)),
    "one-chunk": ((5,), (5,)),
    "chunk-larger": ((3,), (10,)),
    "ones": ((3,), (1,)),
    "ten-and-more": ((12,), (1,)),
    "two": ((3, 4), (2, 3)),
    "two-border": ((5, 5), (2, 2)),
    "three": ((3, 2, 5), (2, 2, 2)),
    "five": ((2, 1, 3, 1, 2), (1, 1, 2, 1, 2)),
}

# Start, stop, step along each dimension of an array of shape (5, 5).
_SELECTIONS: dict[str, tuple[tuple[int, int, int], ...]] = {
    "one": ((3, 4, 1), (2, 3, 1)),
    "row": ((2, 3, 1), (0, 5, 1)),
    "column": ((0, 5, 1), (4, 5, 1)),
    "inside": ((1, 4, 1), (1, 4, 1)),
    "steps": ((0, 5, 2), (1, 5, 3)),
    "nothing": ((2, 2, 1), (0, 5, 1)),
    "border": ((4, 5, 1), (4, 5, 1)),
}

_NO_SEPARATORS: dict[str, Any] = {
    "dash": "-",
    "empty": "",
    "null": None,
    "number": 0,
    "two": "//",
    "up": "../",
    "backslash": "\\",
}


def default(separator: str) -> Callable[[Sequence[int]], str]:
    """Return the chunk key in the ``default`` encoding."""
    return lambda coords: separator.join(("c", *map(str, coords)))


def v2(separator: str) -> Callable[[Sequence[int]], str]:
    """Return the chunk key in the ``v2`` encoding."""
    return lambda coords: separator.join(map(str, coords)) or "0"


def numbered(shape: Sequence[int]) -> Any:
    """Return an array of this shape with distinct elements."""
    return np.arange(1, 1 + int(np.prod(shape)), dtype="<i4").reshape(shape)


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _grids()
    yield from table_cases("v3_chunks", "invalid_grids")
    yield from _keys()
    yield from table_cases("v3_chunks", "paths")


def _grids() -> Iterator[Case]:
    for name, (shape, lengths) in _SHAPES.items():
        values = numbered(shape)
        chunks = {default("/")(at): raw(part) for at, part in blocks(values, lengths).items()}
        stored = array(shape=list(shape), chunk_grid=regular(*lengths))
        clauses = (
            "v3-chunks.regular.origin",
            "v3-chunks.regular.dimensions",
            "v3-chunks.regular.positive",
            "v3-core.array.chunk-grid-regular",
            "v3-core.array.chunk-shape",
            "v3-chunks.regular.place",
            "v3-chunks.regular.border",
            "v3-core.grids.tessellation",
            "v3-core.codecs.decode",
        )
        yield Case(
            f"v3-chunks/regular/{name}",
            clauses,
            f"An array of shape {shape} in chunks of {lengths}.",
            "read",
            Accept(Node("array", shape, values=Values(raw(values)))),
            {"zarr.json": document(stored), **chunks},
        )
        yield Case(
            f"v3-chunks/regular/{name}-created",
            (*clauses[:4], "v3-chunks.regular.border-fill", "v3-core.codecs.encode"),
            f"An array of shape {shape} is written in full chunks of {lengths}.",
            "create",
            Accept(Node(values=Values(raw(values)), stored=chunks)),
            document=stored,
        )
    values = numbered((5, 5))
    stored = array(shape=[5, 5], chunk_grid=regular(2, 2), fill_value=-1)
    parts = blocks(values, (2, 2), -1)
    for name, selection in _SELECTIONS.items():
        chosen = values[tuple(slice(*part) for part in selection)]
        yield Case(
            f"v3-chunks/selection/{name}",
            ("v3-chunks.regular.place", "v3-core.codecs.partial"),
            "A partial selection reads the chunks that it intersects.",
            "read",
            # The specification does not mention selections without elements.
            (Accept if chosen.size else Either)(Node(values=Values(raw(chosen)))),
            {
                "zarr.json": document(stored),
                **{default("/")(at): raw(part) for at, part in parts.items()},
            },
            selection=selection,
        )
    # The elements beyond the array are not checked.
    other = blocks(values, (2, 2), 99)
    yield Case(
        "v3-chunks/regular/anything-beyond-the-border",
        ("v3-chunks.regular.border",),
        "Elements of a chunk beyond the array are ignored.",
        "read",
        Accept(Node(values=Values(raw(values)))),
        {
            "zarr.json": document(stored),
            **{default("/")(at): raw(part) for at, part in other.items()},
        },
    )
    yield Case(
        "v3-chunks/regular/chunk-beyond-the-array",
        ("v3-core.grids.tessellation",),
        "Chunks beyond the array are ignored.",
        "read",
        Accept(Node(values=Values(raw(values)))),
        {
            "zarr.json": document(stored),
            **{default("/")(at): raw(part) for at, part in parts.items()},
            "c/3/0": b"not a chunk",
            "c/0/7": b"",
        },
    )


def _keys() -> Iterator[Case]:
    values, lengths = numbered((12, 2)), (1, 2)
    for name, separator, key in (
        ("default", "/", default("/")),
        ("default", ".", default(".")),
        ("v2", ".", v2(".")),
        ("v2", "/", v2("/")),
    ):
        encoding: dict[str, Any] = {"name": name, "configuration": {"separator": separator}}
        what = "slash" if separator == "/" else "period"
        clauses = (f"v3-chunks.{name}.key", f"v3-chunks.{name}.separator")
        stored = array(shape=[12, 2], chunk_grid=regular(*lengths), chunk_key_encoding=encoding)
        chunks = {key(at): raw(part) for at, part in blocks(values, lengths).items()}
        yield Case(
            f"v3-chunks/{name}/{what}",
            clauses,
            f"Chunk keys of the encoding {name} with a {what}.",
            "read",
            Accept(Node(values=Values(raw(values)))),
            {"zarr.json": document(stored), **chunks},
        )
        yield Case(
            f"v3-chunks/{name}/{what}-created",
            (*clauses, "v3-core.grids.identifier"),
            f"Chunks are written with the keys of the encoding {name} with a {what}.",
            "create",
            Accept(Node(values=Values(raw(values)), stored=chunks)),
            document=stored,
        )
        scalar = np.array(7, "<i4")
        nothing = array(shape=[], chunk_grid=regular(), chunk_key_encoding=encoding)
        own = {"c" if name == "default" else "0": raw(scalar)}
        yield Case(
            f"v3-chunks/{name}/{what}-no-dimensions",
            (f"v3-chunks.{name}.no-dimensions",),
            "The chunk of a zero-dimensional array has a special key.",
            "read",
            Accept(Node(values=Values(raw(scalar)))),
            {"zarr.json": document(nothing), **own},
        )
        yield Case(
            f"v3-chunks/{name}/{what}-no-dimensions-created",
            (f"v3-chunks.{name}.no-dimensions",),
            "The chunk of a zero-dimensional array is written with a special key.",
            "create",
            Accept(Node(values=Values(raw(scalar)), stored=own)),
            document=nothing,
        )
    for name, key in (("default", default("/")), ("v2", v2("."))):
        forms: dict[str, Any] = {
            "no-configuration": {"name": name},
            "empty-configuration": {"name": name, "configuration": {}},
            "short-hand": name,
        }
        for form, encoding in forms.items():
            stored = array(shape=[12, 2], chunk_grid=regular(1, 2), chunk_key_encoding=encoding)
            yield Case(
                f"v3-chunks/{name}/{form}",
                (f"v3-chunks.{name}.separator-default",)
                + (("v3-core.extensions.short-hand",) if form == "short-hand" else ()),
                f"separator of {name} has a default.",
                "read",
                Accept(Node(values=Values(raw(values)))),
                {
                    "zarr.json": document(stored),
                    **{key(at): raw(part) for at, part in blocks(values, lengths).items()},
                },
            )
        for kind, wrong in _NO_SEPARATORS.items():
            yield Case(
                f"v3-chunks/{name}/separator-{kind}",
                (f"v3-chunks.{name}.separator",),
                f"{json_text(wrong)} is neither a slash nor a period.",
                "open",
                Reject("metadata", "extension"),
                {
                    "zarr.json": document(
                        array(
                            chunk_key_encoding={
                                "name": name,
                                "configuration": {"separator": wrong},
                            }
                        )
                    )
                },
            )
        yield Case(
            f"v3-chunks/{name}/other-member",
            (f"v3-chunks.{name}.separator",),
            f"The configuration of {name} has separator only.",
            "open",
            Reject("metadata", "extension"),
            {
                "zarr.json": document(
                    array(chunk_key_encoding={"name": name, "configuration": {"unknown": 1}})
                )
            },
        )
