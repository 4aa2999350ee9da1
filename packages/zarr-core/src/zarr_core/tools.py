"""Functions of the core for other distributions; see also :mod:`zarr_core.extension`.

Names are imported on first use; ``tools.pyi`` has their types.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from zarr_core import strictjson, system_calls  # noqa: F401 - public names of this module

if TYPE_CHECKING:
    from typing import Any

# The module of each name, and the name there if it is another one.
_MODULE_OF = {
    "CHECKPOINT_NAME": "zarr_core.names",
    "CHUNK_BYTES": "zarr_core.normalize.chunk_shapes",
    "Cache": "zarr_core.cache",
    "ChunkProjection": "zarr_core.selection.projection",
    "ChunkReader": "zarr_core.engine.chunk_reader",
    "CodecChain": "zarr_core.engine.chain",
    "ConsolidatedMetadata": "zarr_core.metadata.consolidated",
    "KeyOrder": "zarr_core.formats.key_order",
    "LocalStore": "zarr_core.stores.local",
    "MANIFEST_NAMES": "zarr_core.names",
    "MaskIndexer": "zarr_core.interfaces.selection",
    "MemoryLimiter": "zarr_core.engine.scratch",
    "NewValue": "zarr_core.interfaces.store",
    "Node": "zarr_core.hierarchy.node",
    "PreparedCodecChain": "zarr_core.engine.prepared_chain",
    "Progress": "zarr_core.interfaces.progress",
    "ProgressReporter": "zarr_core.interfaces.progress:Reporter",
    "RegularAxis": "zarr_core.chunk_grids",
    "Rollback": "zarr_core.hierarchy.rollback",
    "SHARD_BYTES": "zarr_core.normalize.chunk_shapes",
    "Schema": "zarr_core.metadata.schema",
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
    "file_lock": "zarr_core.stores.local_files",
    "fill_value_test": "zarr_core.engine.fill_value:fill_test",
    "find_provider": "zarr_core.registry.resolve",
    "format_named": "zarr_core.formats.lookup",
    "format_of_new": "zarr_core.formats.detect",
    "formats_without": "zarr_core.formats.lookup",
    "holds_anything": "zarr_core.hierarchy.rollback",
    "in_one_thread": "zarr_core.threads",
    "inner_order": "zarr_core.engine.inner_order",
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
    "providers_of": "zarr_core.registry.registry:providers",
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
    "update_additional_fields": "zarr_core.hierarchy.node",
    "waiting": "zarr_core.threads",
    "walk": "zarr_core.formats.walk",
    "without_chunks": "zarr_core.formats.unmanaged_keys",
}

# In the order of ruff: constants, classes, functions.
__all__ = sorted(
    {*_MODULE_OF, "strictjson", "system_calls"} - {"LocalStore"},  # zarr_core has it
    key=lambda name: (not name.isupper(), not name[0].isupper(), name),
)


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
