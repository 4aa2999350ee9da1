"""The public door for authors of extensions: everything that a plugin may import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core import strictjson
from zarr_core.definition import JSON, ExtensionDefinition
from zarr_core.engine.bound import BoundChain
from zarr_core.engine.chain import CodecChain
from zarr_core.engine.scratch import scratch
from zarr_core.errors import (
    ChecksumError,
    ChunkDecodeError,
    CodecChainError,
    CodecError,
    ExtensionConfigurationError,
    ExtensionError,
    ExtensionLoadError,
    MetadataDecodeError,
    MetadataError,
    MetadataValidationError,
    NodeExistsError,
    NodeNameError,
    NodeNotFoundError,
    NodeTypeError,
    SelectionError,
    StoreCapabilityError,
    StoreError,
    StoreKeyError,
    StoreReadError,
    StoreReadOnlyError,
    UnknownExtensionError,
    UnsupportedFieldError,
    ValueReplacedError,
    ZarrError,
)
from zarr_core.formats.detect import format_named, format_of_new, formats_without, read_node
from zarr_core.formats.foreign import foreign_key
from zarr_core.formats.known import KnownDocuments
from zarr_core.formats.members import understanding
from zarr_core.interfaces.carrier import Carrier, Moved, Pair
from zarr_core.interfaces.chunk_grid import ChunkAxis, ChunkGrid
from zarr_core.interfaces.chunk_key_encoding import ChunkKeyEncoding
from zarr_core.interfaces.chunk_memory_layout import ChunkMemoryLayout
from zarr_core.interfaces.codec import (
    ArrayRepresentation,
    ArrayToArrayCodec,
    ArrayToBytesCodec,
    Buffer,
    BytesToBytesCodec,
    Codec,
)
from zarr_core.interfaces.data_type import DataType
from zarr_core.interfaces.forking import Forking
from zarr_core.interfaces.format import Format, store_new
from zarr_core.interfaces.keylock import key_lock
from zarr_core.interfaces.keys import check_key, check_prefix, only_keys
from zarr_core.interfaces.metadata_extension import MetadataExtension
from zarr_core.interfaces.progress import Progress
from zarr_core.interfaces.progress import Reporter as ProgressReporter
from zarr_core.interfaces.storage_transformer import StorageTransformer
from zarr_core.interfaces.store import Change, Pieces, Store
from zarr_core.interfaces.value import BufferReader, ByteRange, ValueReader, WrapperReader
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.consolidated import ConsolidatedMetadata
from zarr_core.metadata.group import GroupMetadata
from zarr_core.metadata.problem import Problem, json_pointer
from zarr_core.metadata.schema import Schema, package_schema
from zarr_core.names import is_node_name, normalise_path
from zarr_core.rechunking.boxes import Task as RechunkingTask
from zarr_core.rechunking.moving import (
    may_have_pieces,
    missing_stay_missing,
    read_task,
    tasks_of,
    write_task,
)
from zarr_core.rechunking.note import Note, beside, leftovers
from zarr_core.rechunking.stages import Budget, Chunking, plan_stages
from zarr_core.rechunking.stages import Plan as RechunkingPlan
from zarr_core.rechunking.stages import Stage as RechunkingStage
from zarr_core.registry.installed import entry_points as installed_entry_points
from zarr_core.registry.numpy_types import data_type_for
from zarr_core.registry.provider import Provider
from zarr_core.registry.resolve import make as make_extension
from zarr_core.selection.normalised import Box, Outer, Points, Selection
from zarr_core.selection.projection import Part, project, put, single_chunk, take
from zarr_core.stores.nesting import lies_within
from zarr_core.threads import in_flight, in_one_thread, thread_count
from zarr_core.threads import run as run_in_threads

if TYPE_CHECKING:
    from zarr_core.registry.hookspecs import hookimpl as hookimpl
    from zarr_core.stores.local import LocalStore as LocalStore

__all__ = [
    "JSON",
    "ArrayMetadata",
    "ArrayRepresentation",
    "ArrayToArrayCodec",
    "ArrayToBytesCodec",
    "BoundChain",
    "Box",
    "Budget",
    "Buffer",
    "BufferReader",
    "ByteRange",
    "BytesToBytesCodec",
    "Carrier",
    "Change",
    "ChecksumError",
    "ChunkAxis",
    "ChunkDecodeError",
    "ChunkGrid",
    "ChunkKeyEncoding",
    "ChunkMemoryLayout",
    "Chunking",
    "Codec",
    "CodecChain",
    "CodecChainError",
    "CodecError",
    "ConsolidatedMetadata",
    "DataType",
    "ExtensionConfigurationError",
    "ExtensionDefinition",
    "ExtensionError",
    "ExtensionLoadError",
    "Forking",
    "Format",
    "GroupMetadata",
    "KnownDocuments",
    "MetadataDecodeError",
    "MetadataError",
    "MetadataExtension",
    "MetadataValidationError",
    "Moved",
    "NodeExistsError",
    "NodeNameError",
    "NodeNotFoundError",
    "NodeTypeError",
    "Note",
    "Outer",
    "Pair",
    "Part",
    "Pieces",
    "Points",
    "Problem",
    "Progress",
    "ProgressReporter",
    "Provider",
    "RechunkingPlan",
    "RechunkingStage",
    "RechunkingTask",
    "Schema",
    "Selection",
    "SelectionError",
    "StorageTransformer",
    "Store",
    "StoreCapabilityError",
    "StoreError",
    "StoreKeyError",
    "StoreReadError",
    "StoreReadOnlyError",
    "UnknownExtensionError",
    "UnsupportedFieldError",
    "ValueReader",
    "ValueReplacedError",
    "WrapperReader",
    "ZarrError",
    "beside",
    "check_key",
    "check_prefix",
    "data_type_for",
    "foreign_key",
    "format_named",
    "format_of_new",
    "formats_without",
    "in_flight",
    "in_one_thread",
    "installed_entry_points",
    "is_node_name",
    "json_pointer",
    "key_lock",
    "leftovers",
    "lies_within",
    "make_extension",
    "may_have_pieces",
    "missing_stay_missing",
    "normalise_path",
    "only_keys",
    "package_schema",
    "plan_stages",
    "project",
    "put",
    "read_node",
    "read_task",
    "run_in_threads",
    "scratch",
    "single_chunk",
    "store_new",
    "strictjson",
    "take",
    "tasks_of",
    "thread_count",
    "understanding",
    "write_task",
]


def __getattr__(name: str) -> Any:
    if name == "hookimpl":  # few plugins have hooks; the others need not wait for pluggy
        from zarr_core.registry.hookspecs import hookimpl  # noqa: PLC0415 - lazy: see above

        return hookimpl
    if name == "LocalStore":  # nor for the local store
        from zarr_core.stores.local import LocalStore  # noqa: PLC0415 - lazy: see above

        return LocalStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
