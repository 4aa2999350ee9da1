"""Test classes to inherit from, one for each extension point."""

from pkgutil import iter_modules

try:
    import hypothesis  # noqa: F401 - what it takes, looked for at once
    import pytest
    import zarr_core  # noqa: F401 - as above
except ImportError as error:
    raise ImportError(f"{error}; the kit takes: pip install 'zarr-conformance[kit]'") from error

# So that a failing assertion shows its values, as those of the author's own tests do.
pytest.register_assert_rewrite(*(f"{__name__}.{module.name}" for module in iter_modules(__path__)))

from zarr_conformance.kit.array_to_array import ArrayToArrayCodecTests  # noqa: E402 - after that
from zarr_conformance.kit.array_to_bytes import ArrayToBytesCodecTests  # noqa: E402 - as above
from zarr_conformance.kit.bridge import BridgeTests  # noqa: E402 - as above
from zarr_conformance.kit.bytes_to_bytes import BytesToBytesCodecTests  # noqa: E402 - as above
from zarr_conformance.kit.chunk_grid import ChunkGridTests  # noqa: E402 - as above
from zarr_conformance.kit.chunk_key_encoding import ChunkKeyEncodingTests  # noqa: E402 - as above
from zarr_conformance.kit.chunk_memory_layout import (  # noqa: E402 - as above
    ChunkMemoryLayoutTests,
)
from zarr_conformance.kit.data_type import DataTypeTests  # noqa: E402 - as above
from zarr_conformance.kit.display import DisplayTests  # noqa: E402 - as above
from zarr_conformance.kit.format import FormatTests  # noqa: E402 - as above
from zarr_conformance.kit.hooks import HooksTests  # noqa: E402 - as above
from zarr_conformance.kit.metadata_extension import (  # noqa: E402 - as above
    MetadataExtensionTests,
)
from zarr_conformance.kit.native_codec import NativeCodecTests  # noqa: E402 - as above
from zarr_conformance.kit.native_executor import NativeExecutorTests  # noqa: E402 - as above
from zarr_conformance.kit.storage_transformer import (  # noqa: E402 - as above
    StorageTransformerTests,
)
from zarr_conformance.kit.store import StoreTests  # noqa: E402 - as above

__all__ = [
    "ArrayToArrayCodecTests",
    "ArrayToBytesCodecTests",
    "BridgeTests",
    "BytesToBytesCodecTests",
    "ChunkGridTests",
    "ChunkKeyEncodingTests",
    "ChunkMemoryLayoutTests",
    "DataTypeTests",
    "DisplayTests",
    "FormatTests",
    "HooksTests",
    "MetadataExtensionTests",
    "NativeCodecTests",
    "NativeExecutorTests",
    "StorageTransformerTests",
    "StoreTests",
]
