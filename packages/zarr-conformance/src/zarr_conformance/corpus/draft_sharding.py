"""The sharding storage transformer of the draft of version 3."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Reject
from zarr_conformance.corpus.draft_chunks import read
from zarr_conformance.corpus.draft_metadata import SHARDING, codec, regular
from zarr_conformance.corpus.encode import EMPTY, blocks, gzip, raw, shard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.case import Case

_SHARDS = ("storage_transformer:sharding",)


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _shards()
    yield from _variable_shards()


def _sharding(*counts: int) -> list[Any]:
    return [
        {
            "extension": SHARDING,
            "type": "indexed",
            "configuration": {"chunks_per_shard": list(counts)},
        }
    ]


def _shards() -> Iterator[Case]:
    values = np.arange(1, 65, dtype="<i4").reshape(8, 8)
    grid: dict[str, Any] = {"shape": [8, 8], "chunk_grid": regular(2, 2), "fill_value": -1}
    always = (
        "shard-counts",
        "shard-format",
        "shard-keys",
        "shard-starts",
        "shard-index",
        "transformers-objects",
        "transformers-configuration",
        "transformer-predefined",
    )

    def shards(encode: Any = raw, **more: Any) -> dict[str, bytes]:
        return {
            f"c{row}/{column}": shard(
                {n: encode(block) for n, block in enumerate(blocks(part, (2, 2)).values())},
                4,
                checked=False,
                **more,
            )
            for (row, column), part in blocks(values, (4, 4)).items()
        }

    chosen = {**grid, "storage_transformers": _sharding(2, 2), "needs": _SHARDS}
    yield read("shards", always, "Chunks in shards.", shards(), values, **chosen)
    for kind, order in (("reversed", (3, 2, 1, 0)), ("shuffled", (2, 0, 3, 1))):
        yield read(
            f"shards-{kind}",
            ("shard-order", "shard-no-order"),
            "Chunks may be stored in any order.",
            shards(order=order),
            values,
            **chosen,
        )
    yield read(
        "shards-gaps",
        "shard-order",
        "Gaps between chunks may contain any bytes.",
        shards(gap=b"what is this"),
        values,
        **chosen,
    )
    yield read(
        "shards-part",
        (*always, "shard-order"),
        "A selection across four shards.",
        shards(),
        values[3:5, 3:7],
        selection=((3, 5, 1), (3, 7, 1)),
        **chosen,
    )
    yield read(
        "shards-gzip",
        (*always, "codec-order"),
        "Chunks are encoded before they are put into shards.",
        shards(encode=lambda part: gzip(raw(part))),
        values,
        **{**chosen, "codecs": [codec("gzip", level=5)], "needs": (*_SHARDS, "codec:gzip")},
    )
    yield read(
        "shards-period",
        (*always, "shard-separator"),
        "Shard keys use the separator of the chunk grid.",
        {key.replace("/", "."): value for key, value in shards().items()},
        values,
        **{**chosen, "chunk_grid": regular(2, 2, separator=".")},
    )
    some = values.copy()
    some[4:, 4:] = -1
    some[0:2, 2:4] = -1
    left = shards()
    del left["c1/1"]
    first = list(blocks(values[:4, :4], (2, 2)).values())
    left["c0/0"] = shard({n: raw(first[n]) for n in (0, 2, 3)}, 4, checked=False)
    yield read(
        "shards-empty",
        ("shard-empty", "uninitialised"),
        "Chunks of a shard, or whole shards, may be missing.",
        left,
        some,
        **chosen,
    )


def _variable_shards() -> Iterator[Case]:
    values = np.arange(1, 11, dtype="<i4")
    parts = blocks(values, (2,))
    entries = {n: raw(parts[(n,)]) for n in range(5)}
    chosen: dict[str, Any] = {
        "shape": [10],
        "chunk_grid": regular(2),
        "storage_transformers": _sharding(3),
        "needs": _SHARDS,
    }
    whole = {
        "c0": shard({n: entries[n] for n in range(3)}, 3, checked=False),
        "c1": shard({0: entries[3], 1: entries[4]}, 3, checked=False),
    }
    yield read(
        "shards-border",
        ("shard-index", "shard-empty", "shard-starts"),
        "The index of a shard at the edge has entries for all of its chunks.",
        whole,
        values,
        **chosen,
    )
    index = struct.pack("<6Q", 0, 8, 8, 8, EMPTY, EMPTY)
    cut = whole | {"c1": entries[3] + entries[4] + index[:32]}
    sizes = {"short": b"", "half": index[:24], "one-byte": b"\0"}
    for kind, data in sizes.items():
        yield read(
            f"shards-no-index-{kind}",
            "shard-index",
            "A shard that is shorter than its index is corrupt.",
            whole | {"c1": data},
            expect=Reject("chunk"),
            **chosen,
        )
    yield read(
        "shards-index-of-the-array",
        "shard-index",
        "A shard index with entries only for chunks within the array is corrupt.",
        cut,
        expect=Reject("chunk"),
        **chosen,
    )
    for kind, entry in (
        ("behind-the-end", (1 << 20, 8)),
        ("too-long", (0, 1 << 40)),
        ("wraps", (2**64 - 8, 16)),
        ("half-empty", (EMPTY, 8)),
    ):
        bad = struct.pack("<6Q", 0, 8, *entry, EMPTY, EMPTY)
        yield read(
            f"shards-entry-{kind}",
            ("shard-index", "shard-empty"),
            "An index entry beyond the end of the shard is corrupt.",
            whole | {"c1": entries[3] + entries[4] + bad},
            expect=Reject("chunk"),
            **chosen,
        )
