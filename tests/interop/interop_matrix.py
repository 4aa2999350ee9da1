"""The tested combinations of data type, codec chain, chunks and shards."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

Definition = dict[str, Any]

# The name in metadata, the NumPy dtype, and the fill value in metadata.
DATA_TYPES: dict[str, tuple[str, Any]] = {
    "bool": ("?", False),
    "int8": ("i1", -3),
    "int16": ("i2", -300),
    "int32": ("i4", 0),
    "int64": ("i8", -(2**62) - 1),
    "uint8": ("u1", 200),
    "uint16": ("u2", 0),
    "uint32": ("u4", 2**32 - 1),
    "uint64": ("u8", 2**64 - 1),
    "float16": ("f2", "NaN"),
    "float32": ("f4", -1.5),
    "float64": ("f8", "-Infinity"),
    "complex64": ("c8", [0.0, "NaN"]),
    "complex128": ("c16", [1.25, -0.5]),
    "r8": ("V1", [7]),
    "r16": ("V2", [1, 255]),
    "r24": ("V3", [0, 0, 0]),
}


def endian(order: str) -> Definition:
    return {"name": "bytes", "configuration": {"endian": order}}


def blosc(cname: str, shuffle: str, clevel: int = 5) -> Definition:
    # The type size is set for each data type.
    configuration = {"cname": cname, "clevel": clevel, "shuffle": shuffle, "blocksize": 0}
    return {"name": "blosc", "configuration": configuration}


LITTLE, BIG = endian("little"), endian("big")
CRC32C: Definition = {"name": "crc32c"}
GZIP: Definition = {"name": "gzip", "configuration": {"level": 5}}
STORED_GZIP: Definition = {"name": "gzip", "configuration": {"level": 0}}
ZSTD: Definition = {"name": "zstd", "configuration": {"level": 3, "checksum": False}}
CHECKED_ZSTD: Definition = {"name": "zstd", "configuration": {"level": -5, "checksum": True}}
TRANSPOSE: Definition = {"name": "transpose", "configuration": {"order": "reversed"}}
ROTATE: Definition = {"name": "transpose", "configuration": {"order": "rotated"}}
"""Orders are made numbers when the number of dimensions is known."""

CHAINS: dict[str, list[Definition]] = {
    "little": [LITTLE],
    "big": [BIG],
    "gzip": [LITTLE, GZIP],
    "big+gzip0": [BIG, STORED_GZIP],
    "zstd": [LITTLE, ZSTD],
    "big+zstd-checksum": [BIG, CHECKED_ZSTD],
    "lz4-shuffle": [LITTLE, blosc("lz4", "shuffle")],
    "big+lz4-bitshuffle": [BIG, blosc("lz4", "bitshuffle")],
    "blosczstd-noshuffle": [LITTLE, blosc("zstd", "noshuffle", 1)],
    "blosczlib-shuffle": [LITTLE, blosc("zlib", "shuffle", 9)],
    "blosclz-bitshuffle": [LITTLE, blosc("blosclz", "bitshuffle")],
    "lz4hc-shuffle": [LITTLE, blosc("lz4hc", "shuffle", 0)],
    "crc32c": [LITTLE, CRC32C],
    "zstd+crc32c": [LITTLE, ZSTD, CRC32C],
    "crc32c+gzip": [LITTLE, CRC32C, GZIP],
    "transpose": [TRANSPOSE, LITTLE],
    "transpose-big+lz4": [ROTATE, BIG, blosc("lz4", "shuffle")],
    "transpose-twice+zstd+crc32c": [ROTATE, TRANSPOSE, LITTLE, ZSTD, CRC32C],
}

# The shape of the array, then the shapes of stored chunks and of inner chunks.
PLAIN: dict[str, tuple[tuple[int, ...], ...]] = {
    "edges1d": ((19,), (5,)),
    "edges2d": ((5, 8), (2, 3)),
    "edges3d": ((3, 4, 5), (2, 4, 2)),
    "exact": ((4, 6), (2, 3)),
    "onechunk": ((3, 5), (8, 8)),
    "edges4d": ((2, 3, 2, 3), (1, 2, 2, 2)),
    "scalar": ((), ()),
    "nothing": ((0, 4), (2, 3)),
}
SHARDED: dict[str, tuple[tuple[int, ...], ...]] = {
    "shards1d": ((23,), (6,), (2,)),
    "shards2d": ((7, 9), (4, 6), (2, 3)),
    "shards3d": ((3, 5, 4), (2, 4, 4), (1, 2, 4)),
    "shard-scalar": ((), (), ()),
    "shard-nothing": ((3, 0), (2, 2), (1, 2)),
    "shard-of-one": ((5, 4), (2, 4), (2, 4)),
    "nested": ((9, 13), (8, 12), (4, 6), (2, 3)),
    "shard-square": ((7, 13), (6, 6), (2, 3)),
}


@dataclass(frozen=True, slots=True)
class Sharding:
    """The codecs around the inner codecs of a shard."""

    location: str = "end"
    index: tuple[str, ...] = ("little", "crc32c")
    before: str | None = None
    after: str | None = None


INDEX_CODECS = {"little": LITTLE, "big": BIG, "crc32c": CRC32C}
AROUND = {"transpose": TRANSPOSE, "gzip": GZIP, "crc32c": CRC32C}
SHARDINGS: dict[str, Sharding] = {
    "end": Sharding(),
    "start": Sharding("start"),
    "end-bigindex": Sharding(index=("big", "crc32c")),
    "start-plainindex": Sharding("start", ("little",)),
    "end-transposed": Sharding(before="transpose"),
    "start-compressed": Sharding("start", after="gzip"),
    "end-checked": Sharding(after="crc32c"),
}


@dataclass(frozen=True, slots=True)
class Combination:
    """One array: its name, elements and metadata."""

    data_type: str
    chain: str
    layout: str
    sharding: str | None = None

    def __str__(self) -> str:
        return "-".join(filter(None, [self.data_type, self.chain, self.layout, self.sharding]))

    @property
    def _shapes(self) -> tuple[tuple[int, ...], ...]:
        return (PLAIN if self.sharding is None else SHARDED)[self.layout]

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shapes[0]

    @property
    def stored_chunk(self) -> tuple[int, ...]:
        return self._shapes[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(DATA_TYPES[self.data_type][0])

    @property
    def fill_value(self) -> Any:
        """The fill value as in the metadata."""
        return DATA_TYPES[self.data_type][1]

    @property
    def fill_is_nan(self) -> bool:
        return "NaN" in json.dumps(self.fill_value)

    @property
    def fill_scalar(self) -> Any:
        """The fill value as an array without dimensions."""
        value = self.fill_value
        if self.dtype.kind == "V":
            return np.frombuffer(bytes(value), self.dtype)[0]
        parts = [float(str(part)) for part in value] if isinstance(value, list) else value
        if self.dtype.kind == "c":
            return np.array(complex(*parts), self.dtype)[()]
        if isinstance(parts, str):
            return np.array(float(parts), self.dtype)[()]
        return np.array(parts, self.dtype)[()]

    @property
    def codecs(self) -> list[Definition]:
        codecs = [self._concrete(codec) for codec in CHAINS[self.chain]]
        if self.sharding is None:
            return codecs
        around = SHARDINGS[self.sharding]
        for inner in reversed(self._shapes[2:]):
            # The inner chunks of a shard follow the axes after the transpose.
            inner = inner[::-1] if around.before else inner
            configuration = {
                "chunk_shape": list(inner),
                "codecs": codecs,
                "index_codecs": [INDEX_CODECS[name] for name in around.index],
                "index_location": around.location,
            }
            codecs = [{"name": "sharding_indexed", "configuration": configuration}]
        before = [self._concrete(AROUND[around.before])] if around.before else []
        after = [AROUND[around.after]] if around.after else []
        return [*before, *codecs, *after]

    @property
    def document(self) -> Definition:
        return {
            "zarr_format": 3,
            "node_type": "array",
            "shape": list(self.shape),
            "data_type": self.data_type,
            "chunk_grid": {
                "name": "regular",
                "configuration": {"chunk_shape": list(self.stored_chunk)},
            },
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": self.fill_value,
            "codecs": self.codecs,
            "attributes": {},
        }

    def values(self) -> np.ndarray:
        """Return the elements: every kind of bit pattern, and one corner of fill values."""
        values = _patterns(self.dtype.str, self.shape).copy()
        if self.shape:
            corner = tuple(slice(0, length) for length in self.stored_chunk)
            if all(
                length > chunk for length, chunk in zip(self.shape, self.stored_chunk, strict=True)
            ):
                values[corner] = self.fill_scalar
        return values

    def _concrete(self, codec: Definition) -> Definition:
        codec = json.loads(json.dumps(codec))
        if codec["name"] == "blosc" and codec["configuration"]["shuffle"] != "noshuffle":
            codec["configuration"]["typesize"] = self.dtype.itemsize
        if codec["name"] == "transpose":
            axes = list(range(len(self.shape)))
            order = (
                axes[::-1] if codec["configuration"]["order"] == "reversed" else axes[1:] + axes[:1]
            )
            codec["configuration"]["order"] = order
        if codec["name"] == "bytes" and self.dtype.kind == "V":
            del codec["configuration"]
        return codec


@functools.cache
def _patterns(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    kind = np.dtype(dtype)
    draw = np.random.default_rng(11)
    size = int(np.prod(shape))
    if kind.kind == "b":
        return draw.integers(0, 2, shape).astype(bool)
    # Random bits are all kinds of floats: quiet and signalling NaNs with payloads, subnormals.
    values = np.frombuffer(draw.bytes(size * kind.itemsize), kind).reshape(shape).copy()
    if kind.kind in "fc" and size:
        part = np.dtype(f"f{kind.itemsize // 2}") if kind.kind == "c" else kind
        bits = f"u{part.itemsize}"
        quiet, loud, negative = (np.array([np.nan, np.inf, -np.nan], part)).view(bits)
        special = np.array([quiet | 0x2A, loud | 1, negative | 3, 1], bits).view(part)
        special = np.concatenate([special, np.array([-0.0, 0.0, np.inf, -np.inf], part)])
        flat = values.reshape(-1).view(part)
        count = min(len(flat), len(special))
        flat[len(flat) - count :] = special[:count]
    return values


def combinations() -> list[Combination]:
    """Return the matrix.

    Every data type is combined with every chain and every sharding, with alternating layouts;
    then every layout with every chain and every kind of sharding, for two data types.
    """
    found: dict[Combination, None] = {}
    plain, sharded, chains = list(PLAIN), list(SHARDED), list(CHAINS)
    for i, data_type in enumerate(DATA_TYPES):
        # Most libraries do not support raw bits: a few combinations are sufficient.
        for j, chain in enumerate(chains[i % 4 :: 4] if data_type.startswith("r") else chains):
            layout = plain[
                (i + 3 * j) % 6
            ]  # the last two contain too few elements to detect a wrong codec
            found[Combination(data_type, chain, layout)] = None
        for j, sharding in enumerate(SHARDINGS):
            layout = sharded[(i + j) % len(sharded)]
            found[Combination(data_type, chains[(5 * i + j) % len(chains)], layout, sharding)] = (
                None
            )
    for data_type in ("int16", "float64"):
        for j, layout in enumerate(PLAIN):
            for chain in chains[j % 3 :: 3]:
                found[Combination(data_type, chain, layout)] = None
        for i, layout in enumerate(SHARDED):
            for j, sharding in enumerate(SHARDINGS):
                chain = chains[(3 * i + 5 * j) % len(chains)]
                found[Combination(data_type, chain, layout, sharding)] = None
    return list(found)
