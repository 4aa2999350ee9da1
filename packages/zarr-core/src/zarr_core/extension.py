"""The interface for authors of extensions.

All errors are in :mod:`zarr_core.errors`.  Names are imported on first use; ``extension.pyi`` has
their types.
"""

from zarr_core import _lazy_names

_NAMES = {
    "zarr_core": "strictjson",
    "zarr_core.definition": "JSON ExtensionDefinition",
    "zarr_core.engine.chain": "inner_order",
    "zarr_core.engine.native": "native_reason_against",
    "zarr_core.engine.stored_array": "StoredArray",
    "zarr_core.errors": (
        "ChecksumError ChunkDecodeError CodecError ExtensionConfigurationError "
        "MetadataValidationError NodeNotFoundError StoreCapabilityError StoreError "
        "StoreKeyError StoreReadError StoreReadOnlyError ValidationProblem ValueReplacedError ZarrError "
        "json_pointer"
    ),
    "zarr_core.hierarchy.node": "update_additional_fields",
    "zarr_core.interfaces.byte_reader": "Buffer BufferByteReader ByteRange ByteReader",
    "zarr_core.interfaces.chunk_grid": "ChunkAxis ChunkGrid",
    "zarr_core.interfaces.chunk_key_encoding": "ChunkKeyEncoding",
    "zarr_core.interfaces.chunk_memory_layout": "ChunkMemoryLayout",
    "zarr_core.interfaces.chunk_observer": "ChunkObserver",
    "zarr_core.interfaces.codec": (
        "ArrayRepresentation ArrayToArrayCodec ArrayToBytesCodec BytesToBytesCodec Codec "
        "PartialDecodeCodec PartialEncodeCodec SubchunkCodec"
    ),
    "zarr_core.interfaces.data_type": "DataType",
    "zarr_core.interfaces.display": "Display",
    "zarr_core.interfaces.format": "Format store_new",
    "zarr_core.interfaces.key_value_store": "KeyValueStore",
    "zarr_core.interfaces.keys": "check_key check_prefix encode_key key_lock",
    "zarr_core.interfaces.metadata_document": "read_metadata",
    "zarr_core.interfaces.metadata_extension": "MetadataExtension",
    "zarr_core.interfaces.native": "NativeExecutor NativePlan",
    "zarr_core.interfaces.selection": "BasicIndexer CoordinateIndexer OrthogonalIndexer Selection",
    "zarr_core.interfaces.storage_transformer": "StorageTransformer",
    "zarr_core.interfaces.store": "Buffers CachingStore Change Store StoreTraits",
    "zarr_core.interfaces.wrapper_store": "WrapperStore",
    "zarr_core.location": "Location",
    "zarr_core.messages": "escape_controls",
    "zarr_core.metadata.array": "ArrayMetadata",
    "zarr_core.metadata.group": "GroupMetadata",
    "zarr_core.metadata.schema": "Schema package_schema",
    "zarr_core.normalize.data_types": "data_type_for",
    "zarr_core.registry.entry_points": "installed_entry_points",
    "zarr_core.registry.hookspecs": "hookimpl",
    "zarr_core.registry.provider": "Provider",
    "zarr_core.registry.resolve": "create_extension",
}
__getattr__, __dir__, __all__ = _lazy_names(__name__, _NAMES)
