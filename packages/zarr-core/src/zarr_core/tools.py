"""Functions of the core for other distributions; see also :mod:`zarr_core.extension`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core import strictjson
from zarr_core.cache import Cache
from zarr_core.engine.chain import CodecChain, codec_definition
from zarr_core.engine.fill_value import fill_test as fill_value_test
from zarr_core.engine.prepared_chain import PreparedCodecChain
from zarr_core.engine.scratch import scratch
from zarr_core.engine.stored_array import StoredArray
from zarr_core.engine.stored_node import StoredGroup
from zarr_core.formats.detect import conflicting_format, format_of_new, read_node
from zarr_core.formats.key_order import KeyOrder, key_order
from zarr_core.formats.lookup import format_named, formats_without
from zarr_core.formats.reserved_names import allow_reserved_names, check_reserved_names
from zarr_core.formats.walk import walk
from zarr_core.hierarchy.create_node import create_ancestors, make_room, occupied
from zarr_core.hierarchy.delete import erase_documents, erase_node, require_erasing
from zarr_core.hierarchy.from_metadata import stored_node
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.rollback import Rollback, holds_anything
from zarr_core.hierarchy.store_path import opened_store, refuse_misspelt
from zarr_core.interfaces.byte_reader import WrapperReader
from zarr_core.interfaces.format import store_new
from zarr_core.interfaces.keylock import key_lock
from zarr_core.interfaces.keys import only_keys
from zarr_core.interfaces.metadata_document import read_metadata, read_metadata_from
from zarr_core.interfaces.progress import Progress, reporting
from zarr_core.interfaces.progress import Reporter as ProgressReporter
from zarr_core.metadata.consolidated import ConsolidatedMetadata
from zarr_core.metadata.schema import Schema, package_schema
from zarr_core.metadata.validation_problem import json_pointer
from zarr_core.names import (
    CHECKPOINT_NAME,
    MANIFEST_NAMES,
    is_node_name,
    is_reserved_name,
    join,
    normalise_path,
)
from zarr_core.normalize.attributes import check_attributes
from zarr_core.normalize.data_types import data_type_for
from zarr_core.printable import escape_controls, escape_json, listed, printable_message, quoted
from zarr_core.registry.entry_points import entry_points as installed_entry_points
from zarr_core.registry.registry import every_provider as providers_of
from zarr_core.registry.resolve import create_extension, find_implementation, require_extension
from zarr_core.selection.projection import ChunkProjection, project, put, take
from zarr_core.stores.same_location import is_within_location, path_within
from zarr_core.strictjson import keep_nonfinite
from zarr_core.threads import (
    available_threads,
    concurrent_map,
    in_one_thread,
    parallel_for,
    thread_count,
)

if TYPE_CHECKING:
    from zarr_core.hierarchy.store_path import StoreLike as StoreLike
    from zarr_core.interfaces.format import NodeMetadata as NodeMetadata
    from zarr_core.stores.local import LocalStore as LocalStore

__all__ = [
    "CHECKPOINT_NAME",
    "MANIFEST_NAMES",
    "Cache",
    "ChunkProjection",
    "CodecChain",
    "ConsolidatedMetadata",
    "KeyOrder",
    "Node",
    "PreparedCodecChain",
    "Progress",
    "ProgressReporter",
    "Rollback",
    "Schema",
    "StoredArray",
    "StoredGroup",
    "WrapperReader",
    "allow_reserved_names",
    "available_threads",
    "check_attributes",
    "check_reserved_names",
    "codec_definition",
    "concurrent_map",
    "conflicting_format",
    "create_ancestors",
    "create_extension",
    "data_type_for",
    "erase_documents",
    "erase_node",
    "escape_controls",
    "escape_json",
    "fill_value_test",
    "find_implementation",
    "format_named",
    "format_of_new",
    "formats_without",
    "holds_anything",
    "in_one_thread",
    "installed_entry_points",
    "is_node_name",
    "is_reserved_name",
    "is_within_location",
    "join",
    "json_pointer",
    "keep_nonfinite",
    "key_lock",
    "key_order",
    "listed",
    "make_room",
    "normalise_path",
    "occupied",
    "only_keys",
    "opened_store",
    "package_schema",
    "parallel_for",
    "path_within",
    "printable_message",
    "project",
    "providers_of",
    "put",
    "quoted",
    "read_metadata",
    "read_metadata_from",
    "read_node",
    "refuse_misspelt",
    "reporting",
    "require_erasing",
    "require_extension",
    "scratch",
    "store_new",
    "stored_node",
    "strictjson",
    "take",
    "thread_count",
    "walk",
]


if not TYPE_CHECKING:  # type checkers would accept any name

    def __getattr__(name: str) -> Any:
        if name == "LocalStore":  # most distributions do not need it
            from zarr_core.stores.local import LocalStore

            return LocalStore
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
