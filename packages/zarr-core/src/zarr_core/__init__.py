"""Zarr arrays and groups, with every codec, data type, chunk grid and store as a plugin.

Names are imported on first use.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

# Not lazy: importing the module zarr_core.config would replace the object with that name.
from zarr_core.config import config

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from zarr_core import errors
    from zarr_core.display.info import Info
    from zarr_core.hierarchy.array import Array
    from zarr_core.hierarchy.attributes import Attributes
    from zarr_core.hierarchy.consolidate import (
        check_consolidated,
        consolidate_metadata,
        unconsolidate_metadata,
    )
    from zarr_core.hierarchy.convenience import (
        array,
        create,
        empty,
        empty_like,
        full,
        full_like,
        getsize,
        group,
        load,
        ones,
        ones_like,
        save,
        save_array,
        save_group,
        tree,
        zeros,
        zeros_like,
    )
    from zarr_core.hierarchy.create import create_array, create_group
    from zarr_core.hierarchy.delete import remove, rmdir
    from zarr_core.hierarchy.group import Group
    from zarr_core.hierarchy.open import (
        array_from_metadata,
        open,
        open_array,
        open_consolidated,
        open_group,
    )
    from zarr_core.hierarchy.store_path import StoreLike, resolve_store_path
    from zarr_core.interfaces.progress import Progress
    from zarr_core.interfaces.store import Store
    from zarr_core.normalize.codecs import codec
    from zarr_core.normalize.partial_metadata import PartialArrayMetadata
    from zarr_core.registry.extension_list import installed_extensions
    from zarr_core.registry.hooks import register_hooks, unregister_hooks
    from zarr_core.registry.scope import override_extensions
    from zarr_core.stores.local import LocalStore
    from zarr_core.stores.memory import MemoryStore

    # From other distributions, which this package does not import, not even for types.
    ChunkLayout: type[Any]
    convert: Callable[..., Any]
    copy: Callable[..., Any]
    copy_all: Callable[..., Any]
    copy_store: Callable[..., Any]
    move: Callable[..., Any]
    rename: Callable[..., Any]

__version__ = "0.1.0"

_MODULES = {
    "zarr_core.display.info": ("Info",),
    "zarr_core.hierarchy.attributes": ("Attributes",),
    "zarr_core.hierarchy.array": ("Array",),
    "zarr_core.hierarchy.consolidate": (
        "check_consolidated",
        "consolidate_metadata",
        "unconsolidate_metadata",
    ),
    "zarr_core.hierarchy.convenience": (
        "array",
        "create",
        "empty",
        "empty_like",
        "full",
        "full_like",
        "getsize",
        "group",
        "load",
        "ones",
        "ones_like",
        "save",
        "save_array",
        "save_group",
        "tree",
        "zeros",
        "zeros_like",
    ),
    "zarr_core.hierarchy.create": ("create_array", "create_group"),
    "zarr_core.hierarchy.group": ("Group",),
    "zarr_core.hierarchy.store_path": ("StoreLike", "resolve_store_path"),
    "zarr_core.hierarchy.open": (
        "array_from_metadata",
        "open",
        "open_array",
        "open_consolidated",
        "open_group",
    ),
    "zarr_core.hierarchy.delete": ("remove", "rmdir"),
    "zarr_core.interfaces.progress": ("Progress",),
    "zarr_core.interfaces.store": ("Store",),
    "zarr_core.normalize.codecs": ("codec",),
    "zarr_core.normalize.partial_metadata": ("PartialArrayMetadata",),
    "zarr_core.registry.hooks": ("register_hooks", "unregister_hooks"),
    "zarr_core.registry.extension_list": ("installed_extensions",),
    "zarr_core.registry.scope": ("override_extensions",),
    "zarr_core.stores.local": ("LocalStore",),
    "zarr_core.stores.memory": ("MemoryStore",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Array",
    "Attributes",
    "ChunkLayout",
    "Group",
    "Info",
    "LocalStore",
    "MemoryStore",
    "PartialArrayMetadata",
    "Progress",
    "Store",
    "StoreLike",
    "array",
    "array_from_metadata",
    "check_consolidated",
    "codec",
    "config",
    "consolidate_metadata",
    "convert",
    "copy",
    "copy_all",
    "copy_store",
    "create",
    "create_array",
    "create_group",
    "empty",
    "empty_like",
    "errors",
    "full",
    "full_like",
    "getsize",
    "group",
    "installed_extensions",
    "load",
    "move",
    "ones",
    "ones_like",
    "open",
    "open_array",
    "open_consolidated",
    "open_group",
    "override_extensions",
    "register_hooks",
    "remove",
    "rename",
    "resolve_store_path",
    "rmdir",
    "save",
    "save_array",
    "save_group",
    "tree",
    "unconsolidate_metadata",
    "unregister_hooks",
    "zeros",
    "zeros_like",
]


if not TYPE_CHECKING:  # type checkers would accept any name

    def __getattr__(name: str) -> Any:
        from importlib import import_module

        if name == "errors":
            return import_module("zarr_core.errors")
        if name not in __all__:
            raise AttributeError(
                f"module {__name__!r} has no attribute {name!r}",
                name=name,
                obj=sys.modules[__name__],
            )
        module = _MODULE_OF.get(name)
        if module is None:
            return import_module("zarr_core.optional").optional_function(name)
        value = getattr(import_module(module), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
