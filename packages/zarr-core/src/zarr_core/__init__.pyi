"""Names of :mod:`zarr_core` for type checkers."""

from collections.abc import Callable, Mapping
from typing import Any

from zarr_core import errors as errors
from zarr_core.config import config as config
from zarr_core.hierarchy.array import Array as Array
from zarr_core.hierarchy.create import array as array
from zarr_core.hierarchy.create import create as create
from zarr_core.hierarchy.create import create_array as create_array
from zarr_core.hierarchy.create import empty as empty
from zarr_core.hierarchy.create import full as full
from zarr_core.hierarchy.create import ones as ones
from zarr_core.hierarchy.create import zeros as zeros
from zarr_core.hierarchy.delete import remove as remove
from zarr_core.hierarchy.group import Group as Group
from zarr_core.hierarchy.group import create_group as create_group
from zarr_core.hierarchy.node import Attributes as Attributes
from zarr_core.hierarchy.open import array_from_metadata as array_from_metadata
from zarr_core.hierarchy.open import group as group
from zarr_core.hierarchy.open import open as open
from zarr_core.hierarchy.open import open_array as open_array
from zarr_core.hierarchy.open import open_group as open_group
from zarr_core.hierarchy.store_path import StoreLike as StoreLike
from zarr_core.hierarchy.store_path import resolve_store_path as resolve_store_path
from zarr_core.interfaces.store import Store as Store
from zarr_core.normalize.codecs import codec as codec
from zarr_core.registry.hooks import register_hooks as register_hooks
from zarr_core.registry.hooks import unregister_hooks as unregister_hooks
from zarr_core.registry.overrides import override_extensions as override_extensions
from zarr_core.stores.local import LocalStore as LocalStore
from zarr_core.stores.memory import MemoryStore as MemoryStore

__version__: str

def _lazy_names(
    module: str, names: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]: ...

# From other distributions, which this package does not import, not even for types.
ChunkLayout: type[Any]
Progress: type[Any]
check_consolidated: Callable[..., Any]
consolidate_metadata: Callable[..., Any]
convert: Callable[..., Any]
copy: Callable[..., Any]
copy_all: Callable[..., Any]
copy_store: Callable[..., Any]
empty_like: Callable[..., Any]
full_like: Callable[..., Any]
getsize: Callable[..., Any]
installed_extensions: Callable[..., Any]
load: Callable[..., Any]
move: Callable[..., Any]
ones_like: Callable[..., Any]
open_consolidated: Callable[..., Any]
rmdir: Callable[..., Any]
save: Callable[..., Any]
unconsolidate_metadata: Callable[..., Any]
zeros_like: Callable[..., Any]
