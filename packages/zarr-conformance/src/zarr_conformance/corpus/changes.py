"""Changes of stored arrays: elements of a part, and the shape; the stored bytes are judged."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Values
from zarr_conformance.corpus.draft_metadata import array as draft_array
from zarr_conformance.corpus.draft_metadata import entry
from zarr_conformance.corpus.draft_metadata import regular as draft_regular
from zarr_conformance.corpus.encode import blocks, document, gzip, raw, shard
from zarr_conformance.corpus.metadata import array, array_2, group, regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Selection = tuple[tuple[int, int, int], ...]

_SHAPE, _LENGTHS, _FILL = (5, 7), (2, 4), -1
_KEPT = {"kept": 2**53 - 1, "half": 0.5}
_INDEX = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
_BYTES = [{"name": "bytes", "configuration": {"endian": "little"}}]

SELECTIONS: dict[str, Selection] = {
    "element": ((1, 2, 1), (2, 3, 1)),
    "first": ((0, 1, 1), (0, 1, 1)),
    "last": ((4, 5, 1), (6, 7, 1)),
    "row": ((3, 4, 1), (0, 7, 1)),
    "column": ((0, 5, 1), (5, 6, 1)),
    "chunk": ((2, 4, 1), (0, 4, 1)),
    "edge-chunk": ((4, 5, 1), (4, 7, 1)),
    "across": ((1, 3, 1), (3, 5, 1)),
    "steps": ((0, 5, 2), (1, 7, 3)),
    "all": ((0, 5, 1), (0, 7, 1)),
    "nothing": ((2, 2, 1), (0, 7, 1)),
}

SHAPES: dict[str, tuple[int, int]] = {
    "same": (5, 7),
    "larger": (7, 9),
    "larger-within-chunks": (6, 8),
    "rows-cut": (3, 7),
    "rows-removed": (2, 7),
    "columns-cut": (5, 5),
    "columns-removed": (5, 4),
    "both-cut": (3, 2),
    "one": (1, 1),
    "none": (0, 7),
    "shrunk-and-grown": (9, 3),
}


class _Layout:
    """A layout of an array of shape (5, 7): its metadata and how its chunks are stored."""

    def __init__(
        self,
        zarr_format: int,
        store: Callable[[Any], dict[str, bytes]],
        document_key: str,
        needs: tuple[str, ...] = (),
    ) -> None:
        self.zarr_format = zarr_format
        self.store = store
        self.document_key = document_key
        self.needs = needs


def _version_3(codecs: list[Any], encode: Callable[[Any], bytes], **members: Any) -> _Layout:
    metadata: dict[str, Any] = {
        "chunk_grid": regular(*_LENGTHS),
        "fill_value": _FILL,
        "codecs": codecs,
        "attributes": _KEPT,
        "dimension_names": ["y", None],
    }

    def store(values: Any) -> dict[str, bytes]:
        current = array(shape=list(values.shape), **(metadata | members))
        lengths = tuple(current["chunk_grid"]["configuration"]["chunk_shape"])
        return {
            "zarr.json": document(group()),
            "a/zarr.json": document(current),
            **{
                f"a/c/{row}/{column}": encode(part)
                for (row, column), part in blocks(values, lengths, _FILL).items()
                if (part != _FILL).any()
            },
        }

    return _Layout(3, store, "a/zarr.json")


def _inner(part: Any) -> dict[int, bytes]:
    return {
        n: raw(block)
        for n, block in enumerate(blocks(part, (2, 2), _FILL).values())
        if (block != _FILL).any()
    }


def _sharding(location: str) -> list[Any]:
    return [
        {
            "name": "sharding_indexed",
            "configuration": {
                "chunk_shape": [2, 2],
                "codecs": _BYTES,
                "index_codecs": _INDEX,
                "index_location": location,
            },
        }
    ]


def _version_2(order: Literal["C", "F"]) -> _Layout:
    def store(values: Any) -> dict[str, bytes]:
        current = array_2(
            shape=list(values.shape), chunks=list(_LENGTHS), fill_value=_FILL, order=order
        )
        return {
            ".zgroup": document({"zarr_format": 2}),
            "a/.zarray": document(current),
            "a/.zattrs": document(_KEPT),
            **{
                f"a/{row}.{column}": part.tobytes(order)
                for (row, column), part in blocks(values, _LENGTHS, _FILL).items()
                if (part != _FILL).any()
            },
        }

    return _Layout(2, store, "a/.zarray")


def _draft() -> _Layout:
    def store(values: Any) -> dict[str, bytes]:
        current = draft_array(
            shape=list(values.shape),
            chunk_grid=draft_regular(*_LENGTHS),
            fill_value=_FILL,
            attributes=_KEPT,
        )
        return {
            "zarr.json": document(entry()),
            "meta/a.array.json": document(current),
            **{
                f"data/a/c{row}/{column}": raw(part)
                for (row, column), part in blocks(values, _LENGTHS, _FILL).items()
                if (part != _FILL).any()
            },
        }

    return _Layout(0, store, "meta/a.array.json")


def _layouts() -> dict[str, _Layout]:
    whole = regular(6, 8)
    return {
        "chunks": _version_3(_BYTES, raw),
        "gzip": _version_3(
            [*_BYTES, {"name": "gzip", "configuration": {"level": 1}}],
            lambda part: gzip(raw(part), 1),
        ),
        "transposed": _version_3(
            [{"name": "transpose", "configuration": {"order": [1, 0]}}, *_BYTES],
            lambda part: raw(np.ascontiguousarray(part.T)),
        ),
        "shard": _version_3(
            _sharding("end"), lambda part: shard(_inner(part), 12), chunk_grid=whole
        ),
        "shard-start": _version_3(
            _sharding("start"),
            lambda part: shard(_inner(part), 12, index_location="start"),
            chunk_grid=whole,
        ),
        "v2": _version_2("C"),
        "v2-f": _version_2("F"),
        "draft": _draft(),
    }


def _values() -> Any:
    """Return the elements of all arrays: one chunk and one inner chunk are empty."""
    values = np.arange(1, 36, dtype="<i4").reshape(_SHAPE)
    values[2:4, :4] = _FILL
    values[:2, 2:4] = _FILL
    return values


def _kept(layout: _Layout, shape: tuple[int, ...]) -> dict[str, Any]:
    """Return what must be in the metadata documents after a change."""
    if layout.zarr_format == 2:
        return {"a/.zarray": {"shape": list(shape)}, "a/.zattrs": _KEPT}
    return {layout.document_key: {"shape": list(shape), "attributes": _KEPT}}


def cases() -> Iterator[Case]:
    """Yield the cases."""
    for name, layout in _layouts().items():
        yield from _writes(name, layout)
        yield from _resizes(name, layout)
    yield _earlier(_layouts()["chunks"])


def _earlier(layout: _Layout) -> Case:
    """Return a case whose store has a chunk outside of the shape, from before it became smaller."""
    values = _values()
    after = np.full((7, 7), _FILL, "<i4")
    after[:5] = values
    after[6, :4] = 9
    chunk = np.full(_LENGTHS, _FILL, "<i4")
    chunk[0] = 9
    return Case(
        "changes/resize/chunks-earlier-data",
        ("v3-core.array.resized-earlier", "v3-core.array.resized"),
        "The array grows, and data from before it became smaller appear again.",
        "resize",
        Accept(Node(values=Values(raw(after)), documents=_kept(layout, (7, 7)))),
        layout.store(values) | {"a/c/3/0": raw(chunk)},
        "a",
        3,
        layout.needs,
        shape=(7, 7),
    )


def _writes(name: str, layout: _Layout) -> Iterator[Case]:
    for (where, selection), what in product(SELECTIONS.items(), ("new", "fill")):
        values = _values()
        index = tuple(slice(*part) for part in selection)
        if what == "new":
            part = 1000 + np.arange(values[index].size, dtype="<i4").reshape(values[index].shape)
        else:
            part = np.full(values[index].shape, _FILL, "<i4")
        after = values.copy()
        after[index] = part
        before = layout.store(values)
        result = Node(values=Values(raw(after)), documents=_kept(layout, _SHAPE))
        touched = values.copy()
        touched[index] = 10**6
        other = layout.store(touched)
        unchanged = {
            key: data
            for key, data in before.items()
            if other.get(key) == data and not key.endswith(("zarr.json", ".zarray", ".zattrs"))
        }
        yield Case(
            f"changes/write/{name}-{where}-{what}",
            _clauses(name, layout),
            "Elements of a part are written; all others keep their values.",
            "write",
            # The specifications do not say whether an empty part can be written.
            (Either if where == "nothing" else Accept)(replace(result, stored=unchanged)),
            before,
            "a",
            layout.zarr_format,
            layout.needs,
            selection,
            elements=Values(raw(part)),
        )


def _resizes(name: str, layout: _Layout) -> Iterator[Case]:
    for what, shape in SHAPES.items():
        values = _values()
        after = np.full(shape, _FILL, "<i4")
        common = tuple(slice(0, min(pair)) for pair in zip(values.shape, shape, strict=True))
        after[common] = values[common]
        before = layout.store(values)
        gone = tuple(sorted(before.keys() - layout.store(after).keys()))
        for removed in ((), gone) if gone else ((),):
            yield Case(
                f"changes/resize/{name}-{what}{'-removed' if removed else ''}",
                _SHRUNK if removed else _RESIZED[layout.zarr_format],
                f"The shape changes from {_SHAPE} to {shape}: "
                + (
                    "chunks outside of it are removed."
                    if removed
                    else "elements within both keep their values."
                ),
                "resize",
                Accept(
                    Node(
                        values=Values(raw(after)),
                        documents=_kept(layout, shape),
                        absent=removed,
                    )
                ),
                before,
                "a",
                layout.zarr_format,
                layout.needs,
                shape=shape,
            )


def _clauses(name: str, layout: _Layout) -> tuple[str, ...]:
    """Return the clauses of a write; codecs other than bytes are a should."""
    written = _WRITTEN[layout.zarr_format]
    core = layout.zarr_format == 3 and name != "chunks"
    return (written, "v3-core.codecs.core") if core else (written,)


_WRITTEN = {0: "v3-draft.keys-chunks", 2: "v2.chunks.compressed", 3: "v3-core.codecs.encode"}
_RESIZED = {
    0: ("v3-draft.uninitialised",),
    2: ("v2.chunks.missing",),
    3: ("v3-core.array.resized", "v3-core.array.fill-value-used"),
}
_SHRUNK = ("v3-core.array.resized-shrink",)
"""The specifications leave it to implementations whether chunks are removed."""
