"""The cases that are measured."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

Operation = Literal["open", "read", "write", "rewrite", "slab", "chunk", "points"]

# Edge lengths in elements of float32, by the decoded size of a chunk and the number of dimensions.
CHUNKS: dict[str, dict[int, tuple[int, ...]]] = {
    "2K": {1: (512,), 2: (16, 32), 3: (8, 8, 8)},
    "32K": {1: (8192,), 2: (64, 128), 3: (16, 16, 32)},
    "256K": {1: (65536,), 2: (256, 256), 3: (32, 32, 64)},
    "8M": {1: (2097152,), 2: (1024, 2048), 3: (128, 128, 128)},
}
ARRAYS: dict[str, dict[int, tuple[int, ...]]] = {
    "2K": {1: (524288,), 2: (512, 1024), 3: (64, 64, 128)},  # 2 MiB, 1024 chunks
    "32K": {1: (4194304,), 2: (2048, 2048), 3: (128, 128, 256)},  # 16 MiB, 512 chunks
    "256K": {1: (8388608,), 2: (2048, 4096), 3: (128, 256, 256)},  # 32 MiB, 128 chunks
    "8M": {1: (16777216,), 2: (4096, 4096), 3: (256, 256, 256)},  # 64 MiB, 8 chunks
}
SHARDS: dict[str, dict[int, tuple[int, ...]]] = {
    "2K": {1: (131072,), 2: (256, 512), 3: (32, 64, 64)},  # 512 KiB, 256 chunks
    "32K": {1: (1048576,), 2: (1024, 1024), 3: (64, 128, 128)},  # 4 MiB, 128 chunks
    "256K": {1: (2097152,), 2: (1024, 2048), 3: (128, 128, 128)},  # 8 MiB, 32 chunks
}
CODECS: dict[str, list[dict[str, Any]]] = {
    "raw": [],
    "lz4": [
        {
            "name": "blosc",
            "configuration": {
                "cname": "lz4",
                "clevel": 5,
                "shuffle": "shuffle",
                "typesize": 4,
                "blocksize": 0,
            },
        }
    ],
    "zstd": [{"name": "zstd", "configuration": {"level": 3, "checksum": False}}],
    "gzip": [{"name": "gzip", "configuration": {"level": 5}}],
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of our time, as ratios."""

    to_best: float
    """To the fastest peer (for writes: the fastest that replaces atomically)."""

    to_zarr: float | None
    """To zarr-python with its default pipeline."""


@dataclass(frozen=True, slots=True)
class Case:
    """One row of the table."""

    operation: Operation
    ndim: int
    chunk: str
    codec: str
    sharded: bool
    place: Literal["disk", "memory"]

    @property
    def name(self) -> str:
        layout = "shard" if self.sharded else "plain"
        return f"{self.operation} {self.ndim}d {self.chunk} {self.codec} {layout} {self.place}"

    @property
    def shape(self) -> tuple[int, ...]:
        return ARRAYS[self.chunk][self.ndim]

    @property
    def chunk_shape(self) -> tuple[int, ...]:
        return CHUNKS[self.chunk][self.ndim]

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * 4

    @property
    def writes(self) -> bool:
        return self.operation in ("write", "rewrite")

    @property
    def limits(self) -> Limits:
        whole = self.writes or self.operation == "read"
        return Limits(1.0, None) if whole else Limits(2.0, 1 / 3)

    @property
    def document(self) -> bytes:
        """The ``zarr.json`` that every library works with."""
        codecs: list[dict[str, Any]] = [
            {"name": "bytes", "configuration": {"endian": "little"}},
            *CODECS[self.codec],
        ]
        stored = self.chunk_shape
        if self.sharded:
            stored = SHARDS[self.chunk][self.ndim]
            index = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
            sharding = {
                "chunk_shape": self.chunk_shape,
                "codecs": codecs,
                "index_codecs": index,
                "index_location": "end",
            }
            codecs = [{"name": "sharding_indexed", "configuration": sharding}]
        document = {
            "zarr_format": 3,
            "node_type": "array",
            "shape": self.shape,
            "data_type": "float32",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": stored}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": 0.0,
            "codecs": codecs,
            "attributes": {},
        }
        return json.dumps(document).encode()

    def data(self) -> np.ndarray:
        """Return the values of the array, read-only."""
        return _field(self.shape)

    def selections(self) -> list[Any]:
        """Return the selections of successive calls, the same in every run."""
        draw = np.random.default_rng(7)
        if self.operation == "slab":
            # Planes across the first axis touch whole rows of chunks, those across the last
            # axis a sliver of every chunk of a column.
            whole = [slice(None)] * self.ndim
            return [
                (*whole[:axis], slice(start, start + 1), *whole[axis + 1 :])
                for axis in (0, self.ndim - 1)
                for start in draw.integers(0, self.shape[axis], 2).tolist()
            ]
        if self.operation == "chunk":
            number = max(4, min(200, 2**24 // (math.prod(self.chunk_shape) * 4)))
            grid = [n // c for n, c in zip(self.shape, self.chunk_shape, strict=True)]
            cells = np.stack([draw.integers(0, n, number) for n in grid], axis=1).tolist()
            return [
                tuple(
                    slice(i * c, (i + 1) * c) for i, c in zip(cell, self.chunk_shape, strict=True)
                )
                for cell in cells
            ]
        if self.operation == "points":
            return [tuple(draw.integers(0, n, 500) for n in self.shape)]
        return [...]


@cache
def _field(shape: tuple[int, ...]) -> np.ndarray:
    """Return a smooth field with noise, rounded, which compresses like real data."""
    noise = np.random.default_rng(3).normal(scale=0.05, size=shape).astype("float32")
    for axis, length in enumerate(shape):
        wave = 10 * np.sin(np.linspace(0, 9 * (axis + 1), length, dtype="float32"))
        noise += wave.reshape([-1 if i == axis else 1 for i in range(len(shape))])
    field = np.round(noise, 2)
    field.flags.writeable = False
    return field


def every_case() -> list[Case]:
    """Return the cases of a full run, in the order of the table."""
    cases: dict[Case, None] = {}

    def add(
        operation: Operation, ndim: int, chunks: str, codecs: str, layouts: str, places: str
    ) -> None:
        for chunk in chunks.split():
            for layout in layouts.split():
                if layout == "shard" and chunk not in SHARDS:
                    continue
                for codec in codecs.split():
                    for place in places.split():
                        cases[Case(operation, ndim, chunk, codec, layout == "shard", place)] = None  # type: ignore[arg-type] # split strings

    add("open", 3, "32K", "lz4", "plain shard", "disk memory")
    for operation in ("read", "write"):
        add(operation, 3, "2K 32K 256K 8M", "raw lz4 zstd gzip", "plain shard", "disk")
        add(operation, 3, "2K 32K 256K 8M", "raw lz4", "plain", "memory")
        add(operation, 3, "2K 32K 256K", "lz4", "shard", "memory")
        add(operation, 1, "2K 32K 256K 8M", "raw", "plain", "disk")
        add(operation, 1, "256K", "lz4", "plain shard", "disk")
        add(operation, 2, "32K 256K", "lz4", "plain shard", "disk")
    add("rewrite", 3, "32K 256K", "lz4", "plain shard", "disk")
    add("slab", 3, "2K 32K 256K 8M", "raw lz4", "plain", "disk")
    add("slab", 3, "2K 32K 256K", "lz4 zstd gzip", "shard", "disk")
    add("slab", 3, "32K 256K", "lz4", "plain shard", "memory")
    add("slab", 2, "32K 256K", "lz4", "plain shard", "disk")
    add("chunk", 3, "2K 32K 256K 8M", "raw lz4 zstd gzip", "plain", "disk")
    add("chunk", 3, "2K 32K 256K", "raw lz4 zstd gzip", "shard", "disk")
    add("chunk", 3, "2K 32K 256K", "raw lz4", "plain", "memory")
    add("chunk", 1, "2K 256K", "raw lz4", "plain", "disk")
    add("points", 3, "2K 32K 256K", "raw lz4", "plain shard", "disk")
    add("points", 3, "256K", "gzip", "plain shard", "disk")
    add("points", 3, "32K", "lz4", "plain shard", "memory")
    add("points", 1, "32K", "lz4", "plain", "disk")
    return list(cases)


QUICK = (
    "open 3d 32K lz4 plain disk",
    "read 3d 2K lz4 plain disk",
    "read 3d 2K lz4 shard disk",
    "read 3d 32K lz4 shard disk",
    "read 3d 256K raw plain disk",
    "read 3d 256K lz4 plain memory",
    "read 3d 256K zstd plain disk",
    "read 3d 8M gzip plain disk",
    "read 3d 8M raw plain disk",
    "write 3d 2K lz4 plain disk",
    "write 3d 32K lz4 shard disk",
    "write 3d 256K raw plain disk",
    "write 3d 256K lz4 plain memory",
    "write 3d 256K zstd shard disk",
    "slab 3d 256K lz4 plain disk",
    "slab 3d 32K lz4 shard disk",
    "chunk 3d 2K raw plain disk",
    "chunk 3d 2K lz4 shard disk",
    "chunk 3d 32K lz4 plain disk",
    "chunk 3d 256K zstd plain disk",
    "points 3d 32K lz4 plain disk",
    "points 3d 32K lz4 shard disk",
)
"""The names of the cases of a short run."""


def measures_memory(case: Case) -> bool:
    """Whether the peak memory of a case is measured, in one process for each library."""
    return (
        case.place == "disk"
        and case.operation in ("read", "write")
        and case.chunk != "2K"
        and case.ndim == 3
    )
