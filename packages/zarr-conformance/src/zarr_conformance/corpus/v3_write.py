"""Writing parts of arrays, and changing their shape, in versions 3 and 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Either, Node, Values
from zarr_conformance.corpus.encode import blocks, crc32c, document, gzip, raw, shard
from zarr_conformance.corpus.metadata import array, regular
from zarr_conformance.corpus.v2_array import array as array_v2
from zarr_conformance.corpus.v3_chunks import default

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Chunk = np.ndarray[Any, Any]

SHAPE, CHUNKS, FILL = (5, 5), (2, 2), -1
VALUES: Chunk = np.arange(1, 26, dtype="<i4").reshape(SHAPE)

# Start, stop and step along each dimension.
_SELECTIONS: dict[str, tuple[tuple[int, int, int], ...]] = {
    "one": ((3, 4, 1), (2, 3, 1)),
    "chunk": ((2, 4, 1), (0, 2, 1)),
    "row": ((2, 3, 1), (0, 5, 1)),
    "column": ((0, 5, 1), (4, 5, 1)),
    "inside": ((1, 4, 1), (1, 4, 1)),
    "border": ((4, 5, 1), (4, 5, 1)),
    "all": ((0, 5, 1), (0, 5, 1)),
    "steps": ((0, 5, 2), (1, 5, 3)),
    "nothing": ((2, 2, 1), (0, 5, 1)),
}

_BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
_CRC = {"name": "crc32c"}
_GZIP = {"name": "gzip", "configuration": {"level": 1}}


def cases() -> Iterator[Case]:
    """Return the cases."""
    yield from _parts()
    yield from _codecs()
    yield from _version_2()
    yield from _shapes()


def _index(selection: tuple[tuple[int, int, int], ...]) -> Any:
    return tuple(slice(*part) for part in selection)


def _store(
    values: Chunk, encode: Callable[[Chunk], bytes] = raw, **members: Any
) -> dict[str, bytes]:
    """Return the store of an array, with all of its chunks."""
    stored = array(
        shape=list(values.shape), chunk_grid=regular(*CHUNKS), fill_value=FILL, **members
    )
    parts = blocks(values, CHUNKS, FILL)
    return {
        "zarr.json": document(stored),
        **{default("/")(at): encode(part) for at, part in parts.items()},
    }


def _write(
    name: str,
    summary: str,
    clauses: tuple[str, ...],
    selection: tuple[tuple[int, int, int], ...],
    store: Mapping[str, bytes],
    before: Chunk = VALUES,
    **more: Any,
) -> Case:
    """Return a case that writes negative numbers to a selection."""
    after = before.copy()
    part = -100 - np.arange(after[_index(selection)].size, dtype="<i4")
    after[_index(selection)] = part.reshape(after[_index(selection)].shape)
    node = Node(values=Values(raw(after)))
    return Case(
        name,
        clauses,
        summary,
        "write",
        Accept(node) if part.size else Either(node),
        store,
        selection=selection,
        elements=Values(raw(part)),
        **more,
    )


def _parts() -> Iterator[Case]:
    for kind, selection in _SELECTIONS.items():
        yield _write(
            f"v3-chunks/write/{kind}",
            "Writing a part of an array changes no other element.",
            ("v3-chunks.regular.place", "v3-chunks.regular.border", "v3-core.codecs.encode"),
            selection,
            _store(VALUES),
        )
    for kind, selection in _SELECTIONS.items():
        if kind not in ("nothing", "all"):
            yield _write(
                f"v3-chunks/write/missing-{kind}",
                "Elements of a chunk that was missing have the fill value if they are not written.",
                ("v3-core.array.fill-value-used", "v3-chunks.regular.place"),
                selection,
                {"zarr.json": _store(VALUES)["zarr.json"]},
                np.full(SHAPE, FILL, "<i4"),
            )
    scalar: Chunk = np.array(7, "<i4")
    stored = array(shape=[], chunk_grid=regular())
    yield _write(
        "v3-chunks/write/no-dimensions",
        "The element of a zero-dimensional array is overwritten.",
        ("v3-chunks.default.no-dimensions", "v3-core.codecs.encode"),
        (),
        {"zarr.json": document(stored), "c": raw(scalar)},
        scalar,
    )


def _codecs() -> Iterator[Case]:
    chains: dict[str, tuple[list[Any], Callable[[Chunk], bytes], str]] = {
        "big-endian": (
            [{"name": "bytes", "configuration": {"endian": "big"}}],
            lambda it: raw(it, "big"),
            "v3-codecs.bytes.order",
        ),
        "transpose": (
            [{"name": "transpose", "configuration": {"order": [1, 0]}}, _BYTES],
            lambda it: raw(np.ascontiguousarray(it.T)),
            "v3-codecs.transpose.shape",
        ),
        "gzip": ([_BYTES, _GZIP], lambda it: gzip(raw(it)), "v3-codecs.gzip.algorithm"),
        "crc32c": ([_BYTES, _CRC], lambda it: crc32c(raw(it)), "v3-codecs.crc32c.format"),
        "sharding": (
            [_sharding("end", [_BYTES, _CRC])],
            lambda it: shard({n: raw(it[n : n + 1]) for n in range(2)}, 2),
            "v3-codecs.sharding.offset",
        ),
        "sharding-start": (
            [_sharding("start", [_BYTES, _CRC])],
            lambda it: shard({n: raw(it[n : n + 1]) for n in range(2)}, 2, index_location="start"),
            "v3-codecs.sharding.index-location",
        ),
        "sharding-missing": (
            [_sharding("end", [_BYTES, _CRC])],
            # The second inner chunk has the fill value only.
            lambda it: shard({0: raw(it[:1])}, 2),
            "v3-codecs.sharding.empty",
        ),
    }
    for kind, (chain, encode, clause) in chains.items():
        values = VALUES.copy()
        if kind == "sharding-missing":
            values[1::2] = FILL
        yield _write(
            f"v3-codecs/write/{kind}",
            "Writing a part of encoded chunks changes no other element.",
            (clause, "v3-core.codecs.encode", "v3-core.codecs.decode"),
            _SELECTIONS["inside"],
            _store(values, encode, codecs=chain),
            values,
        )


def _sharding(location: str, index_codecs: list[Any]) -> dict[str, Any]:
    configuration = {
        "chunk_shape": [1, 2],
        "codecs": [_BYTES],
        "index_codecs": index_codecs,
        "index_location": location,
    }
    return {"name": "sharding_indexed", "configuration": configuration}


def _version_2() -> Iterator[Case]:
    values = np.arange(1, 5, dtype="<i4")
    after = np.array([1, -100, -101, 4], "<i4")
    for kind, separator in (("period", "."), ("slash", "/")):
        stored = array_v2(shape=[4, 1], chunks=[2, 1], dtype="<i4", dimension_separator=separator)
        keys = [f"{n}{separator}0" for n in range(2)]
        yield Case(
            f"v2/chunks/write-{kind}",
            ("v2.chunks.shape", "v2.array.separator"),
            "Writing a part of an array changes no other element.",
            "write",
            Accept(
                Node(
                    values=Values(after.tobytes()),
                    stored={keys[0]: after[:2].tobytes(), keys[1]: after[2:].tobytes()},
                )
            ),
            {
                ".zarray": document(stored),
                keys[0]: values[:2].tobytes(),
                keys[1]: values[2:].tobytes(),
            },
            zarr_format=2,
            selection=((1, 3, 1), (0, 1, 1)),
            elements=Values(after[1:3].tobytes()),
        )


def _shapes() -> Iterator[Case]:
    shapes: dict[str, tuple[int, ...]] = {
        "larger": (7, 6),
        "within-chunks": (6, 6),
        "smaller": (3, 3),
        "smaller-and-larger": (2, 8),
        "to-nothing": (0, 5),
    }
    members: dict[str, Any] = {"attributes": {"kept": [1, None]}, "dimension_names": ["y", None]}
    for kind, shape in shapes.items():
        kept = tuple(slice(0, min(pair)) for pair in zip(shape, SHAPE, strict=True))
        after: Chunk = np.full(shape, FILL, "<i4")
        after[kept] = VALUES[kept]
        yield Case(
            f"v3-chunks/resize/{kind}",
            ("v3-core.array.shape", "v3-core.array.fill-value-used", "v3-chunks.regular.place"),
            f"An array of shape {SHAPE} gets the shape {shape}; new elements have the fill value.",
            "resize",
            Accept(
                Node(
                    values=Values(raw(after)),
                    documents={"zarr.json": {"shape": list(shape), **members}},
                )
            ),
            _store(VALUES, **members),
            shape=shape,
        )
