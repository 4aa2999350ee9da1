"""The interface for authors of extensions.

Importing it loads interfaces and errors only.  All errors are in :mod:`zarr_core.errors`,
functions of the core in :mod:`zarr_core.tools`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.definition import JSON, ExtensionDefinition
from zarr_core.errors import (
    ChecksumError,
    ChunkDecodeError,
    CodecError,
    ExtensionConfigurationError,
    MetadataValidationError,
    NodeNotFoundError,
    StoreCapabilityError,
    StoreError,
    StoreKeyError,
    StoreReadError,
    StoreReadOnlyError,
    ValueReplacedError,
    ZarrError,
)
from zarr_core.interfaces import INTERFACE_VERSION
from zarr_core.interfaces.byte_reader import Buffer, BufferByteReader, ByteRange, ByteReader
from zarr_core.interfaces.chunk_grid import ChunkAxis, ChunkGrid
from zarr_core.interfaces.chunk_key_encoding import ChunkKeyEncoding
from zarr_core.interfaces.chunk_memory_layout import ChunkMemoryLayout
from zarr_core.interfaces.chunk_observer import ChunkObserver
from zarr_core.interfaces.codec import (
    ArrayRepresentation,
    ArrayToArrayCodec,
    ArrayToBytesCodec,
    BytesToBytesCodec,
    Codec,
    PartialDecodeCodec,
    PartialEncodeCodec,
    SubchunkCodec,
)
from zarr_core.interfaces.data_type import DataType
from zarr_core.interfaces.display import Display
from zarr_core.interfaces.forkable import Forkable
from zarr_core.interfaces.format import Format
from zarr_core.interfaces.keys import check_key, check_prefix
from zarr_core.interfaces.metadata_extension import MetadataExtension
from zarr_core.interfaces.native import NativeExecutor, NativePlan
from zarr_core.interfaces.selection import (
    BasicIndexer,
    CoordinateIndexer,
    OrthogonalIndexer,
    Selection,
)
from zarr_core.interfaces.storage_transformer import StorageTransformer
from zarr_core.interfaces.store import Buffers, Change, Store, StoreTraits
from zarr_core.location import Location
from zarr_core.metadata.validation_problem import ValidationProblem
from zarr_core.registry.provider import Provider

if TYPE_CHECKING:
    from zarr_core.interfaces.wrapper_store import WrapperStore as WrapperStore
    from zarr_core.metadata.array import ArrayMetadata as ArrayMetadata
    from zarr_core.metadata.group import GroupMetadata as GroupMetadata
    from zarr_core.registry.hookspecs import hookimpl as hookimpl

__all__ = [
    "INTERFACE_VERSION",
    "JSON",
    "ArrayMetadata",
    "ArrayRepresentation",
    "ArrayToArrayCodec",
    "ArrayToBytesCodec",
    "BasicIndexer",
    "Buffer",
    "BufferByteReader",
    "Buffers",
    "ByteRange",
    "ByteReader",
    "BytesToBytesCodec",
    "Change",
    "ChecksumError",
    "ChunkAxis",
    "ChunkDecodeError",
    "ChunkGrid",
    "ChunkKeyEncoding",
    "ChunkMemoryLayout",
    "ChunkObserver",
    "Codec",
    "CodecError",
    "CoordinateIndexer",
    "DataType",
    "Display",
    "ExtensionConfigurationError",
    "ExtensionDefinition",
    "Forkable",
    "Format",
    "GroupMetadata",
    "Location",
    "MetadataExtension",
    "MetadataValidationError",
    "NativeExecutor",
    "NativePlan",
    "NodeNotFoundError",
    "OrthogonalIndexer",
    "PartialDecodeCodec",
    "PartialEncodeCodec",
    "Provider",
    "Selection",
    "StorageTransformer",
    "Store",
    "StoreCapabilityError",
    "StoreError",
    "StoreKeyError",
    "StoreReadError",
    "StoreReadOnlyError",
    "StoreTraits",
    "SubchunkCodec",
    "ValidationProblem",
    "ValueReplacedError",
    "WrapperStore",
    "ZarrError",
    "check_key",
    "check_prefix",
]

# Loaded on first use: most extensions do not need them.
_LAZY = {
    "ArrayMetadata": "zarr_core.metadata.array",
    "WrapperStore": "zarr_core.interfaces.wrapper_store",
    "GroupMetadata": "zarr_core.metadata.group",
    "hookimpl": "zarr_core.registry.hookspecs",
}


if not TYPE_CHECKING:  # type checkers would accept any name

    def __getattr__(name: str) -> Any:
        if name not in _LAZY:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = globals()[name] = getattr(import_module(_LAZY[name]), name)
        return value


def __dir__() -> list[str]:
    dunder = (name for name in globals() if name.startswith("__"))
    return sorted({*__all__, *dunder, "hookimpl"})
