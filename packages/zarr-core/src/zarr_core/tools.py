"""Functions of the core for other distributions; see also :mod:`zarr_core.extension`.

Names are imported on first use.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from zarr_core import strictjson, system_calls

if TYPE_CHECKING:
    from typing import Any

    from zarr_core.cache import Cache
    from zarr_core.chunk_grids import RegularAxis
    from zarr_core.config import max_encoded_nbytes
    from zarr_core.engine.chain import CodecChain, codec_definition
    from zarr_core.engine.chunk_reader import read_open
    from zarr_core.engine.fill_value import fill_test as fill_value_test
    from zarr_core.engine.prepared_chain import PreparedCodecChain
    from zarr_core.engine.scratch import MemoryLimiter, remote_memory, scratch
    from zarr_core.engine.scratch import Reservation as Reservation
    from zarr_core.engine.stored_array import StoredArray
    from zarr_core.engine.stored_node import StoredGroup
    from zarr_core.engine.write import write_fields
    from zarr_core.formats.detect import conflicting_format, format_of_new, read_node
    from zarr_core.formats.key_order import KeyOrder, key_order
    from zarr_core.formats.lookup import format_named, formats_without
    from zarr_core.formats.reserved_names import allow_reserved_names, check_reserved_names
    from zarr_core.formats.unmanaged_keys import (
        is_auxiliary,
        without_chunks,
    )
    from zarr_core.formats.walk import walk
    from zarr_core.hierarchy.consolidate import require_consolidating
    from zarr_core.hierarchy.create_node import (
        StoreSnapshot,
        allow_conflicting_formats,
        create_ancestors,
        make_room,
        occupied,
    )
    from zarr_core.hierarchy.delete import erase_documents, erase_node, require_erasing
    from zarr_core.hierarchy.from_metadata import stored_node
    from zarr_core.hierarchy.node import Node
    from zarr_core.hierarchy.rollback import Rollback, holds_anything
    from zarr_core.hierarchy.store_path import StoreLike as StoreLike
    from zarr_core.hierarchy.store_path import opened_store, refuse_misspelt
    from zarr_core.interfaces.byte_reader import SubrangeReader, WrapperReader
    from zarr_core.interfaces.format import NodeMetadata as NodeMetadata
    from zarr_core.interfaces.format import store_new
    from zarr_core.interfaces.keylock import key_lock
    from zarr_core.interfaces.keys import only_keys
    from zarr_core.interfaces.metadata_document import read_metadata, read_metadata_from
    from zarr_core.interfaces.progress import Progress, WaitNotices, reporting
    from zarr_core.interfaces.progress import Reporter as ProgressReporter
    from zarr_core.interfaces.selection import MaskIndexer
    from zarr_core.interfaces.store import NewValue
    from zarr_core.log import log
    from zarr_core.metadata.consolidated import ConsolidatedMetadata
    from zarr_core.metadata.nonstandard import number_from_text
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
    from zarr_core.normalize.chunk_shapes import (
        CHUNK_BYTES,
        SHARD_BYTES,
        divisor_below,
        parse_lengths,
    )
    from zarr_core.normalize.data_types import data_type_for
    from zarr_core.optional import optional_function
    from zarr_core.printable import escape_controls, escape_json, listed, printable_message, quoted
    from zarr_core.registry.entry_points import entry_points as installed_entry_points
    from zarr_core.registry.extension_names import is_provided
    from zarr_core.registry.hints import other_providers
    from zarr_core.registry.registry import every_provider as providers_of
    from zarr_core.registry.resolve import create_extension, find_implementation, require_extension
    from zarr_core.selection.parsed_selection import ParsedSelection as ParsedSelection
    from zarr_core.selection.parsed_selection import is_integer
    from zarr_core.selection.projection import (
        ChunkProjection,
        chunk_count,
        project,
        project_dimension,
        put,
        take,
    )
    from zarr_core.stores.local import LocalStore as LocalStore
    from zarr_core.stores.local import path_from_url
    from zarr_core.stores.local_write import file_lock
    from zarr_core.strictjson import keep_nonfinite
    from zarr_core.threads import (
        UnconfirmedKeys,
        available_threads,
        call_interruptibly,
        concurrent_map,
        in_one_thread,
        parallel_for,
        thread_count,
        waiting,
    )

# The module of each name, and the name there if it is another one.
_MODULE_OF = {
    "CHECKPOINT_NAME": "zarr_core.names",
    "CHUNK_BYTES": "zarr_core.normalize.chunk_shapes",
    "Cache": "zarr_core.cache",
    "ChunkProjection": "zarr_core.selection.projection",
    "CodecChain": "zarr_core.engine.chain",
    "ConsolidatedMetadata": "zarr_core.metadata.consolidated",
    "KeyOrder": "zarr_core.formats.key_order",
    "LocalStore": "zarr_core.stores.local",
    "MANIFEST_NAMES": "zarr_core.names",
    "MaskIndexer": "zarr_core.interfaces.selection",
    "MemoryLimiter": "zarr_core.engine.scratch",
    "NewValue": "zarr_core.interfaces.store",
    "Node": "zarr_core.hierarchy.node",
    "NodeMetadata": "zarr_core.interfaces.format",
    "PreparedCodecChain": "zarr_core.engine.prepared_chain",
    "Progress": "zarr_core.interfaces.progress",
    "ParsedSelection": "zarr_core.selection.parsed_selection",
    "ProgressReporter": "zarr_core.interfaces.progress:Reporter",
    "RegularAxis": "zarr_core.chunk_grids",
    "Reservation": "zarr_core.engine.scratch",
    "Rollback": "zarr_core.hierarchy.rollback",
    "SHARD_BYTES": "zarr_core.normalize.chunk_shapes",
    "Schema": "zarr_core.metadata.schema",
    "StoreLike": "zarr_core.hierarchy.store_path",
    "StoreSnapshot": "zarr_core.hierarchy.create_node",
    "StoredArray": "zarr_core.engine.stored_array",
    "StoredGroup": "zarr_core.engine.stored_node",
    "UnconfirmedKeys": "zarr_core.threads",
    "SubrangeReader": "zarr_core.interfaces.byte_reader",
    "WaitNotices": "zarr_core.interfaces.progress",
    "WrapperReader": "zarr_core.interfaces.byte_reader",
    "allow_conflicting_formats": "zarr_core.hierarchy.create_node",
    "allow_reserved_names": "zarr_core.formats.reserved_names",
    "available_threads": "zarr_core.threads",
    "call_interruptibly": "zarr_core.threads",
    "check_attributes": "zarr_core.normalize.attributes",
    "check_reserved_names": "zarr_core.formats.reserved_names",
    "chunk_count": "zarr_core.selection.projection",
    "codec_definition": "zarr_core.engine.chain",
    "concurrent_map": "zarr_core.threads",
    "conflicting_format": "zarr_core.formats.detect",
    "create_ancestors": "zarr_core.hierarchy.create_node",
    "create_extension": "zarr_core.registry.resolve",
    "data_type_for": "zarr_core.normalize.data_types",
    "divisor_below": "zarr_core.normalize.chunk_shapes",
    "erase_documents": "zarr_core.hierarchy.delete",
    "erase_node": "zarr_core.hierarchy.delete",
    "escape_controls": "zarr_core.printable",
    "escape_json": "zarr_core.printable",
    "file_lock": "zarr_core.stores.local_write",
    "fill_value_test": "zarr_core.engine.fill_value:fill_test",
    "find_implementation": "zarr_core.registry.resolve",
    "format_named": "zarr_core.formats.lookup",
    "format_of_new": "zarr_core.formats.detect",
    "formats_without": "zarr_core.formats.lookup",
    "holds_anything": "zarr_core.hierarchy.rollback",
    "in_one_thread": "zarr_core.threads",
    "installed_entry_points": "zarr_core.registry.entry_points:entry_points",
    "is_auxiliary": "zarr_core.formats.unmanaged_keys",
    "is_integer": "zarr_core.selection.parsed_selection",
    "is_node_name": "zarr_core.names",
    "is_provided": "zarr_core.registry.extension_names",
    "is_reserved_name": "zarr_core.names",
    "join": "zarr_core.names",
    "json_pointer": "zarr_core.metadata.validation_problem",
    "keep_nonfinite": "zarr_core.strictjson",
    "key_lock": "zarr_core.interfaces.keylock",
    "key_order": "zarr_core.formats.key_order",
    "listed": "zarr_core.printable",
    "log": "zarr_core.log",
    "make_room": "zarr_core.hierarchy.create_node",
    "normalise_path": "zarr_core.names",
    "number_from_text": "zarr_core.metadata.nonstandard",
    "occupied": "zarr_core.hierarchy.create_node",
    "only_keys": "zarr_core.interfaces.keys",
    "opened_store": "zarr_core.hierarchy.store_path",
    "optional_function": "zarr_core.optional",
    "package_schema": "zarr_core.metadata.schema",
    "other_providers": "zarr_core.registry.hints",
    "parallel_for": "zarr_core.threads",
    "parse_lengths": "zarr_core.normalize.chunk_shapes",
    "path_from_url": "zarr_core.stores.local",
    "printable_message": "zarr_core.printable",
    "project": "zarr_core.selection.projection",
    "project_dimension": "zarr_core.selection.projection",
    "providers_of": "zarr_core.registry.registry:every_provider",
    "put": "zarr_core.selection.projection",
    "quoted": "zarr_core.printable",
    "read_metadata": "zarr_core.interfaces.metadata_document",
    "read_metadata_from": "zarr_core.interfaces.metadata_document",
    "read_node": "zarr_core.formats.detect",
    "max_encoded_nbytes": "zarr_core.config",
    "read_open": "zarr_core.engine.chunk_reader",
    "refuse_misspelt": "zarr_core.hierarchy.store_path",
    "reporting": "zarr_core.interfaces.progress",
    "remote_memory": "zarr_core.engine.scratch",
    "require_consolidating": "zarr_core.hierarchy.consolidate",
    "require_erasing": "zarr_core.hierarchy.delete",
    "require_extension": "zarr_core.registry.resolve",
    "scratch": "zarr_core.engine.scratch",
    "store_new": "zarr_core.interfaces.format",
    "stored_node": "zarr_core.hierarchy.from_metadata",
    "take": "zarr_core.selection.projection",
    "thread_count": "zarr_core.threads",
    "waiting": "zarr_core.threads",
    "walk": "zarr_core.formats.walk",
    "without_chunks": "zarr_core.formats.unmanaged_keys",
    "write_fields": "zarr_core.engine.write",
}

__all__ = [
    "CHECKPOINT_NAME",
    "CHUNK_BYTES",
    "MANIFEST_NAMES",
    "SHARD_BYTES",
    "Cache",
    "ChunkProjection",
    "CodecChain",
    "ConsolidatedMetadata",
    "KeyOrder",
    "MaskIndexer",
    "MemoryLimiter",
    "NewValue",
    "Node",
    "PreparedCodecChain",
    "Progress",
    "ProgressReporter",
    "RegularAxis",
    "Rollback",
    "Schema",
    "StoreSnapshot",
    "StoredArray",
    "StoredGroup",
    "SubrangeReader",
    "UnconfirmedKeys",
    "WaitNotices",
    "WrapperReader",
    "allow_conflicting_formats",
    "allow_reserved_names",
    "available_threads",
    "call_interruptibly",
    "check_attributes",
    "check_reserved_names",
    "chunk_count",
    "codec_definition",
    "concurrent_map",
    "conflicting_format",
    "create_ancestors",
    "create_extension",
    "data_type_for",
    "divisor_below",
    "erase_documents",
    "erase_node",
    "escape_controls",
    "escape_json",
    "file_lock",
    "fill_value_test",
    "find_implementation",
    "format_named",
    "format_of_new",
    "formats_without",
    "holds_anything",
    "in_one_thread",
    "installed_entry_points",
    "is_auxiliary",
    "is_integer",
    "is_node_name",
    "is_provided",
    "is_reserved_name",
    "join",
    "json_pointer",
    "keep_nonfinite",
    "key_lock",
    "key_order",
    "listed",
    "log",
    "make_room",
    "max_encoded_nbytes",
    "normalise_path",
    "number_from_text",
    "occupied",
    "only_keys",
    "opened_store",
    "optional_function",
    "other_providers",
    "package_schema",
    "parallel_for",
    "parse_lengths",
    "path_from_url",
    "printable_message",
    "project",
    "project_dimension",
    "providers_of",
    "put",
    "quoted",
    "read_metadata",
    "read_metadata_from",
    "read_node",
    "read_open",
    "refuse_misspelt",
    "remote_memory",
    "reporting",
    "require_consolidating",
    "require_erasing",
    "require_extension",
    "scratch",
    "store_new",
    "stored_node",
    "strictjson",
    "system_calls",
    "take",
    "thread_count",
    "waiting",
    "walk",
    "without_chunks",
    "write_fields",
]


if not TYPE_CHECKING:  # type checkers would accept any name

    def __getattr__(name: str) -> Any:
        module, _, attribute = _MODULE_OF.get(name, "").partition(":")
        if not module:
            raise AttributeError(
                f"module {__name__!r} has no attribute {name!r}",
                name=name,
                obj=sys.modules[__name__],
            )
        value = getattr(import_module(module), attribute or name)
        globals()[name] = value
        return value
