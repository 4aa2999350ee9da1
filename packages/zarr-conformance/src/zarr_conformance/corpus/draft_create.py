"""Creating and deleting nodes of the draft of version 3, with the exact stored bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Node, Reject, Values
from zarr_conformance.corpus.draft_metadata import SHARDING, array, case, entry, regular
from zarr_conformance.corpus.encode import blocks, raw, shard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.case import Expectation

_VALUES = np.arange(1, 36, dtype="<i4").reshape(5, 7)


def _case(
    what: str,
    clauses: tuple[str, ...],
    summary: str,
    expect: Expectation,
    metadata: Any,
    path: str = "g/a",
    needs: tuple[str, ...] = (),
) -> Case:
    return Case(
        f"v3-draft/created/{what}",
        tuple(f"v3-draft.{it}" for it in clauses),
        summary,
        "create",
        expect,
        path=path,
        zarr_format=0,
        needs=needs,
        document=metadata,
    )


def _metadata(**members: Any) -> dict[str, Any]:
    return array(**({"shape": [5, 7], "chunk_grid": regular(2, 3), "fill_value": -1} | members))


def _stored_result(metadata: Any, chunks: dict[str, bytes], path: str = "g/a") -> Accept:
    """Return the stored values: the entry point, the array metadata and the chunks."""
    below = f"/{path}" if path else ""
    name = f"meta{below}.array.json" if path else "meta/array.json"
    return Accept(
        Node(
            values=Values(raw(_VALUES)),
            documents={"zarr.json": entry(), name: metadata},
            stored={f"data{below}/{key}": it for key, it in chunks.items()},
            absent=("meta/g.group.json",),
        )
    )


def cases() -> Iterator[Case]:
    """Yield the cases."""
    always = ("create-array", "implied-groups", "keys-documents", "keys-chunks", "entry")
    parts = blocks(_VALUES, (2, 3), -1)
    for separator in ("/", "."):
        metadata = _metadata(chunk_grid=regular(2, 3, separator=separator))
        chunks = {f"c{separator.join(map(str, at))}": raw(it) for at, it in parts.items()}
        yield _case(
            f"separator-{'slash' if separator == '/' else 'period'}",
            (*always, "edge-fill", "separator", "fill-required", "array-members"),
            "Elements beyond the array are written as the fill value.",
            _stored_result(metadata, chunks),
            metadata,
        )
    slashes = {f"c{row}/{column}": it for (row, column), it in parts.items()}
    yield _case(
        "root",
        ("root-array", "keys-documents", "keys-chunks"),
        "A root array.",
        _stored_result(_metadata(), {key: raw(it) for key, it in slashes.items()}, ""),
        _metadata(),
        "",
    )
    metadata = _metadata(chunk_memory_layout="F")
    yield _case(
        "layout-f",
        ("layout-f", "layout-value"),
        "Layout F reverses the dimensions of a chunk.",
        _stored_result(metadata, {k: raw(np.ascontiguousarray(it.T)) for k, it in slashes.items()}),
        metadata,
    )
    metadata = _metadata(
        storage_transformers=[
            {
                "extension": SHARDING,
                "type": "indexed",
                "configuration": {"chunks_per_shard": [3, 3]},
            }
        ]
    )
    inner = {n: raw(it) for n, it in enumerate(parts.values())}
    yield _case(
        "shards",
        ("shard-strategy", "shard-stored", "shard-index", "shard-counts", "transformers-objects"),
        "Chunks are stored in shards; the metadata has chunks_per_shard only.",
        Accept(
            Node(
                values=Values(raw(_VALUES)),
                documents={"meta/g/a.array.json": metadata},
                stored={"data/g/a/c0/0": shard(inner, 9, checked=False)},
            )
        ),
        metadata,
        needs=("storage_transformer:sharding",),
    )
    for what, name, clause in (
        ("letter", "é", "name-characters"),
        ("space", "a b", "name-characters"),
        ("at", "a@b", "name-characters"),
        ("colon", "a:b", "name-characters"),
        ("newline", "a\n", "name-characters"),
        ("period", ".", "name-periods"),
        ("two-periods", "..", "name-periods"),
        ("three-periods", "...", "name-periods"),
    ):
        yield _case(
            f"no-name-{what}",
            (clause,),
            f"{name!r} is not a valid node name.",
            Reject("metadata"),
            _metadata(),
            f"g/{name}",
        )
    yield from _erased()


def _erased() -> Iterator[Case]:
    chunk = raw(np.array([1, 2], "<i4"))
    there = {
        "meta/g.group.json": {"attributes": {}},
        "meta/g/a.array.json": array(),
        "data/g/a/c0": chunk,
        "meta/g/ab.array.json": array(),
        "data/g/ab/c0": chunk,
        "meta/h/a.array.json": array(),
        "data/h/a/c1": chunk,
    }
    for what, path, clause, gone in (
        ("array", "g/a", "erase-array", ("meta/g/a.array.json", "data/g/a/c0")),
        ("implicit-group", "h", "erase-implicit", ("meta/h/a.array.json", "data/h/a/c1")),
        ("explicit-group", "g", "erase-explicit", tuple(it for it in there if "/g" in it)),
    ):
        stays = {key: it for key, it in there.items() if key not in gone}
        yield case(
            f"erased/{what}",
            clause,
            "The metadata and chunks of the node and its descendants are deleted, others are kept.",
            Accept(
                Node(
                    stored={key: it for key, it in stays.items() if isinstance(it, bytes)},
                    documents={
                        "zarr.json": entry(),
                        **{key: it for key, it in stays.items() if isinstance(it, dict)},
                    },
                    absent=gone,
                )
            ),
            there,
            "erase",
            path=path,
        )
