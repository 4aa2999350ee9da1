"""Nodes of the draft of version 3 that are made, or removed, byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Node, Reject, Values
from zarr_conformance.corpus.draft_documents import SHARDING, array, case, entry, regular
from zarr_conformance.corpus.encode import blocks, raw, shard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.case import Expectation

_VALUES = np.arange(1, 36, dtype="<i4").reshape(5, 7)


def _case(
    what: str,
    clauses: tuple[str, ...],
    says: str,
    expect: Expectation,
    told: Any,
    path: str = "g/a",
    needs: tuple[str, ...] = (),
) -> Case:
    return Case(
        f"v3-draft/created/{what}",
        tuple(f"v3-draft.{it}" for it in clauses),
        says,
        "create",
        expect,
        path=path,
        zarr_format=0,
        needs=needs,
        document=told,
    )


def _told(**members: Any) -> dict[str, Any]:
    return array(**({"shape": [5, 7], "chunk_grid": regular(2, 3), "fill_value": -1} | members))


def _made(told: Any, chunks: dict[str, bytes], path: str = "g/a") -> Accept:
    """The entry point, the document, the chunks; no document of a group."""
    below = f"/{path}" if path else ""
    name = f"meta{below}.array.json" if path else "meta/array.json"
    return Accept(
        Node(
            values=Values(raw(_VALUES)),
            documents={"zarr.json": entry(), name: told},
            stored={f"data{below}/{key}": it for key, it in chunks.items()},
            absent=("meta/g.group.json",),
        )
    )


def cases() -> Iterator[Case]:
    """All of them."""
    always = ("create-array", "implied-groups", "keys-documents", "keys-chunks", "entry")
    parts = blocks(_VALUES, (2, 3), -1)
    for separator in ("/", "."):
        told = _told(chunk_grid=regular(2, 3, separator=separator))
        chunks = {f"c{separator.join(map(str, at))}": raw(it) for at, it in parts.items()}
        yield _case(
            f"separator-{'slash' if separator == '/' else 'period'}",
            (*always, "edge-fill", "separator", "fill-required", "array-members"),
            "Elements beyond the array are written as the fill value.",
            _made(told, chunks),
            told,
        )
    slashes = {f"c{row}/{column}": it for (row, column), it in parts.items()}
    yield _case(
        "root",
        ("root-array", "keys-documents", "keys-chunks"),
        "An array at the root.",
        _made(_told(), {key: raw(it) for key, it in slashes.items()}, ""),
        _told(),
        "",
    )
    told = _told(chunk_memory_layout="F")
    yield _case(
        "layout-f",
        ("layout-f", "layout-value"),
        "With F the dimensions of a chunk are reversed.",
        _made(told, {k: raw(np.ascontiguousarray(it.T)) for k, it in slashes.items()}),
        told,
    )
    told = _told(
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
        "Shards are stored; their document has the counts, nothing else.",
        Accept(
            Node(
                values=Values(raw(_VALUES)),
                documents={"meta/g/a.array.json": told},
                stored={"data/g/a/c0/0": shard(inner, 9, checked=False)},
            )
        ),
        told,
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
            f"{name!r} is no name.",
            Reject("metadata"),
            _told(),
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
            "Documents and chunks of the node, and of all below it, are gone; others stay.",
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
