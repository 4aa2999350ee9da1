"""Functions of the core for other distributions; see also :mod:`zarr_core.extension`.

Names are imported on first use; ``tools.pyi`` has their types.
"""

from zarr_core import _lazy_names

_NAMES = {
    "zarr_core": "strictjson",
    "zarr_core.cache": "Cache",
    "zarr_core.chunk_grids": "RegularAxis",
    "zarr_core.config": "max_encoded_nbytes",
    "zarr_core.engine.chain": "CodecChain PreparedCodecChain codec_definition inner_order",
    "zarr_core.engine.fill_value": "fill_test:fill_value_test",
    "zarr_core.engine.read": "ChunkReader read_open",
    "zarr_core.engine.scratch": "MemoryLimiter Scratch remote_memory",
    "zarr_core.engine.stored_array": "StoredArray",
    "zarr_core.engine.stored_node": "StoredGroup",
    "zarr_core.engine.native": "reason_against:native_reason_against",
    "zarr_core.engine.write": "UnconfirmedKeys",
    "zarr_core.formats.detect": "conflicting_format format_of_new read_node",
    "zarr_core.formats.key_order": "KeyOrder key_order",
    "zarr_core.formats.lookup": "format_named formats_without",
    "zarr_core.formats.unmanaged_keys": "is_auxiliary without_chunks",
    "zarr_core.formats.walk": "walk",
    "zarr_core.hierarchy.array": "check_out field_index parse_selection",
    "zarr_core.hierarchy.assigned_values": "assigned_values is_chunked",
    "zarr_core.hierarchy.consolidate": "require_consolidating",
    "zarr_core.hierarchy.create_node": (
        "StoreSnapshot check_reserved_names prepare_path node_exists_error permit_nodes"
    ),
    "zarr_core.hierarchy.delete": "erase_node require_erasing",
    "zarr_core.hierarchy.display": "chunk_lengths data_type_text stored_lengths",
    "zarr_core.hierarchy.node": "Node update_additional_fields",
    "zarr_core.hierarchy.rollback": "Rollback",
    "zarr_core.hierarchy.store_path": "check_location opened_store",
    "zarr_core.interfaces.byte_reader": "SubrangeReader WrapperReader",
    "zarr_core.interfaces.format": "store_new",
    "zarr_core.interfaces.keylock": "key_lock",
    "zarr_core.interfaces.keys": "encode_key only_keys",
    "zarr_core.interfaces.metadata_document": "read_metadata read_metadata_from",
    "zarr_core.interfaces.selection": "MaskIndexer",
    "zarr_core.interfaces.store": "SetIfMissing store_from_object to_bytes",
    "zarr_core.metadata.consolidated": "ConsolidatedMetadata",
    "zarr_core.metadata.nonstandard": "number_from_text",
    "zarr_core.metadata.schema": "Schema package_schema",
    "zarr_core.metadata.validation_problem": "json_pointer",
    "zarr_core.names": (
        "CHECKPOINT_NAME MANIFEST_NAMES is_node_name is_reserved_name join normalise_path"
    ),
    "zarr_core.metadata.attributes": "check_attributes",
    "zarr_core.normalize.chunk_shapes": "CHUNK_BYTES SHARD_BYTES divisor_below parse_lengths",
    "zarr_core.normalize.compare_metadata": "metadata_differences",
    "zarr_core.normalize.constraints": "parse_partial_metadata",
    "zarr_core.normalize.data_types": "data_type_for",
    "zarr_core.messages": (
        "escape_controls escape_json format_bytes listed log pluralize printable_message quoted "
        "shorten warn"
    ),
    "zarr_core.optional": "Reporter optional_function reporter_for",
    "zarr_core.registry.entry_points": "entry_points:installed_entry_points",
    "zarr_core.registry.hints": "other_providers",
    "zarr_core.registry.discovery": "is_provided providers:providers_of",
    "zarr_core.registry.resolve": "create_extension find_class find_provider",
    "zarr_core.selection.parse": "is_integer",
    "zarr_core.selection.projection": "ChunkProjection project project_dimension put take",
    "zarr_core.stores.local": "LocalStore path_from_url",
    "zarr_core.stores.local_files": "file_lock",
    "zarr_core.strictjson": "keep_nonfinite",
    "zarr_core.threads": (
        "available_threads call_after_fork call_interruptibly concurrent_map in_one_thread "
        "longest_wait parallel_for thread_count waiting"
    ),
}
__getattr__, __dir__, __all__ = _lazy_names(__name__, _NAMES)
