"""The public door for authors of extensions: everything that a plugin may import."""

from __future__ import annotations

from zarr_core.definition import JSON, ExtensionDefinition
from zarr_core.engine.chain import BoundChain, CodecChain
from zarr_core.engine.scratch import scratch
from zarr_core.engine.threads import run as run_in_threads
from zarr_core.errors import (
    ChecksumError,
    ChunkDecodeError,
    CodecChainError,
    StoreCapabilityError,
    StoreError,
    StoreKeyError,
    StoreReadError,
    StoreReadOnlyError,
    ZarrError,
)
from zarr_core.interfaces.chunk_grid import ChunkAxis, ChunkGrid
from zarr_core.interfaces.chunk_key_encoding import ChunkKeyEncoding
from zarr_core.interfaces.codec import (
    ArrayRepresentation,
    ArrayToArrayCodec,
    ArrayToBytesCodec,
    Buffer,
    BytesToBytesCodec,
    Codec,
)
from zarr_core.interfaces.data_type import DataType
from zarr_core.interfaces.storage_transformer import StorageTransformer
from zarr_core.interfaces.store import (
    BufferReader,
    ByteRange,
    Pieces,
    Store,
    ValueReader,
    check_key,
    check_prefix,
)
from zarr_core.selection.normalised import Box, Outer, Points, Selection

__all__ = [
    "JSON",
    "ArrayRepresentation",
    "ArrayToArrayCodec",
    "ArrayToBytesCodec",
    "BoundChain",
    "Box",
    "Buffer",
    "BufferReader",
    "ByteRange",
    "BytesToBytesCodec",
    "ChecksumError",
    "ChunkAxis",
    "ChunkDecodeError",
    "ChunkGrid",
    "ChunkKeyEncoding",
    "Codec",
    "CodecChain",
    "CodecChainError",
    "DataType",
    "ExtensionDefinition",
    "Outer",
    "Pieces",
    "Points",
    "Selection",
    "StorageTransformer",
    "Store",
    "StoreCapabilityError",
    "StoreError",
    "StoreKeyError",
    "StoreReadError",
    "StoreReadOnlyError",
    "ValueReader",
    "ZarrError",
    "check_key",
    "check_prefix",
    "run_in_threads",
    "scratch",
]
