"""Arrays of the draft of version 3 that implementations write; the stored bytes are judged."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Node, Values
from zarr_conformance.corpus.draft_metadata import SHARDING, array, codec, entry, regular
from zarr_conformance.corpus.encode import document, raw
from zarr_conformance.corpus.written_elements import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    bool_fills,
    complex_fills,
    float_fills,
    integer_fills,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_WHOLE = ("create-array", "keys-documents", "keys-chunks", "array-members")


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _fill_values()
    yield from _codecs()
    yield from _layouts()
    yield from _shards()
    yield from _suffixes()


def created(
    name: str,
    clauses: tuple[str, ...],
    summary: str,
    metadata: dict[str, Any],
    data: bytes,
    path: str = "g/a",
    needs: tuple[str, ...] = (),
    store: dict[str, bytes] | None = None,
    documents: dict[str, Any] | None = None,
    absent: tuple[str, ...] = (),
) -> Case:
    """Return a case that creates an array and writes all elements."""
    return Case(
        f"v3-draft/written/{name}",
        tuple(f"v3-draft.{clause}" for clause in clauses),
        summary,
        "create",
        Accept(Node(values=Values(data), documents=documents, absent=absent)),
        store or {},
        path,
        0,
        needs,
        document=metadata,
    )


def _fill_values() -> Iterator[Case]:
    for name in ("bool", *INTEGERS, *FLOATS, *COMPLEX):
        if name == "bool":
            fills = bool_fills()
        elif name in INTEGERS:
            fills = integer_fills(name)
        elif name in FLOATS:
            fills = [item for item in float_fills(name) if item.kind in ("number", "nan")]
        else:
            fills = [
                item for item in complex_fills(name) if item.name.endswith(("zero", "one", "tenth"))
            ]
        for fill in fills:
            yield created(
                f"{name}/{fill.name}",
                (*_WHOLE, "fill-required", "type-representation", "type-names"),
                f"Elements of {name} are written in little-endian order.",
                array(
                    shape=[8],
                    data_type=name,
                    chunk_grid=regular(2),
                    fill_value=fill.value,
                ),
                fill.data,
                needs=("data_type:float16",) if name == "float16" else (),
            )


def _codecs() -> Iterator[Case]:
    values = np.arange(256) // 64 + 1
    codecs: dict[str, list[dict[str, Any]]] = {
        f"gzip-{level}": [codec("gzip", level=level)] for level in range(10)
    }
    for cname, clevel, shuffle in product(("lz4", "zstd", "blosclz"), (0, 5, 9), (-1, 0, 1, 2)):
        codecs[f"blosc-{cname}-{clevel}-{shuffle % 4}"] = [
            codec("blosc", cname=cname, clevel=clevel, shuffle=shuffle, blocksize=0)
        ]
    for (name, chain), dtype in product(codecs.items(), ("uint8", "int32", "float64")):
        yield created(
            f"codecs/{name}-{dtype}",
            (*_WHOLE, "codecs-objects", "codec-uri"),
            "Chunks are the output of the codec with its configuration.",
            array(shape=[256], data_type=dtype, chunk_grid=regular(128), codecs=chain),
            raw(values.astype(dtype)),
            needs=(f"codec:{name.partition('-')[0]}",),
        )


def _layouts() -> Iterator[Case]:
    shapes = (
        ((), ()),
        ((5,), (2,)),
        ((5, 7), (2, 3)),
        ((3, 2, 4), (2, 2, 3)),
    )
    for (shape, lengths), layout, separator, path in product(
        shapes, "CF", "./", ("", "a", "g/h/a")
    ):
        values = np.arange(1, 1 + int(np.prod(shape)), dtype="<i4").reshape(shape)
        yield created(
            f"layout/{'x'.join(map(str, shape)) or 'scalar'}-{layout.lower()}-"
            f"{'period' if separator == '.' else 'slash'}-{path.count('/') + bool(path)}",
            (*_WHOLE, "layout-c" if layout == "C" else "layout-f", "separator", "scalar"),
            f"An array of shape {shape} in chunks of {lengths} with the layout {layout}.",
            array(
                shape=list(shape),
                chunk_grid=regular(*lengths, separator=separator),
                chunk_memory_layout=layout,
                fill_value=-1,
                attributes={"a": 2**53 + 1, "b": 0.1, "c": [True, None, 1]},
            ),
            raw(values),
            path,
        )


def _shards() -> Iterator[Case]:
    shapes = (
        ((8,), (2,), (2,)),
        ((9,), (2,), (3,)),
        ((5, 7), (2, 3), (3, 3)),
        # Asymmetric counts, of which not even the sum is that of the reversed ones.
        ((6, 8), (1, 2), (3, 2)),
        ((6, 8), (1, 2), (2, 4)),
        ((4, 6, 5), (2, 2, 1), (1, 3, 5)),
    )
    for (shape, lengths, counts), layout, occupied in product(shapes, "CF", ("full", "some")):
        values = np.arange(1, 1 + int(np.prod(shape)), dtype="<i4").reshape(shape)
        if occupied == "some":
            values[: lengths[0]] = 0
        transformer = {
            "extension": SHARDING,
            "type": "indexed",
            "configuration": {"chunks_per_shard": list(counts)},
        }
        yield created(
            f"shards/{'x'.join(map(str, shape))}-{'x'.join(map(str, counts))}-{layout.lower()}-"
            f"{occupied}",
            ("shard-index", "shard-keys", "shard-counts", "shard-empty", "transformers-objects"),
            f"Chunks of {lengths} in shards of {counts} chunks.",
            array(
                shape=list(shape),
                chunk_grid=regular(*lengths),
                chunk_memory_layout=layout,
                storage_transformers=[transformer],
            ),
            raw(values),
            needs=("storage_transformer:sharding",),
        )


def _suffixes() -> Iterator[Case]:
    values = np.arange(1, 5, dtype="<i4")
    for kind, suffix in (
        ("data", ".data"),
        ("two", ".meta.txt"),
        ("word", ".zarr"),
        ("json", ".json"),
    ):
        start = entry(metadata_encoding={"type": "json", "metadata_key_suffix": suffix})
        for path in ("", "a", "g/a"):
            below = f"/{path}" if path else ""
            key = f"meta{below}.array" if path else "meta/array"
            yield created(
                f"suffix/{kind}-{path.count('/') + bool(path)}",
                ("documents-encoding", "keys-documents", "json-encoding"),
                f"Documents of a hierarchy with the suffix {suffix} have it in their keys.",
                array(attributes={"a": 1}),
                raw(values),
                path,
                store={"zarr.json": document(start)},
                absent=() if suffix == ".json" else (f"{key}.json",),
            )
