"""Zarr hierarchies of arrays, in which every codec, data type, grid or store is a plugin.

Names are loaded when they are first used, so importing this costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

# Not lazy: importing the module anywhere would put it in the place of the settings.
from zarr_core.config import config

if TYPE_CHECKING:
    from typing import Any

    from zarr_core.copying.keys import copy_store, rename
    from zarr_core.copying.moving import move
    from zarr_core.copying.nodes import copy, copy_all
    from zarr_core.hierarchy.array import Array
    from zarr_core.hierarchy.consolidating import (
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
    from zarr_core.hierarchy.from_metadata import array_from_metadata
    from zarr_core.hierarchy.group import Group
    from zarr_core.hierarchy.location import locate
    from zarr_core.hierarchy.measuring import getsize
    from zarr_core.hierarchy.open import open, open_array, open_consolidated, open_group
    from zarr_core.hierarchy.removing import remove, rmdir
    from zarr_core.interfaces.progress import Progress
    from zarr_core.interfaces.store import Store
    from zarr_core.registry.hooks import register_hooks, unregister_hooks
    from zarr_core.registry.listing import installed_extensions
    from zarr_core.registry.scope import extensions
    from zarr_core.stores.local import LocalStore
    from zarr_core.stores.memory import MemoryStore

__version__ = "0.1.0"

_HOMES = {
    "zarr_core.copying.keys": ("copy_store", "rename"),
    "zarr_core.copying.moving": ("move",),
    "zarr_core.copying.nodes": ("copy", "copy_all"),
    "zarr_core.hierarchy.array": ("Array",),
    "zarr_core.hierarchy.consolidating": (
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
    "zarr_core.hierarchy.from_metadata": ("array_from_metadata",),
    "zarr_core.hierarchy.group": ("Group",),
    "zarr_core.hierarchy.location": ("locate",),
    "zarr_core.hierarchy.measuring": ("getsize",),
    "zarr_core.hierarchy.open": ("open", "open_array", "open_consolidated", "open_group"),
    "zarr_core.hierarchy.removing": ("remove", "rmdir"),
    "zarr_core.interfaces.progress": ("Progress",),
    "zarr_core.interfaces.store": ("Store",),
    "zarr_core.registry.hooks": ("register_hooks", "unregister_hooks"),
    "zarr_core.registry.listing": ("installed_extensions",),
    "zarr_core.registry.scope": ("extensions",),
    "zarr_core.stores.local": ("LocalStore",),
    "zarr_core.stores.memory": ("MemoryStore",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Array",
    "Group",
    "LocalStore",
    "MemoryStore",
    "Progress",
    "Store",
    "array",
    "array_from_metadata",
    "check_consolidated",
    "config",
    "consolidate_metadata",
    "copy",
    "copy_all",
    "copy_store",
    "create",
    "create_array",
    "create_group",
    "empty",
    "empty_like",
    "extensions",
    "full",
    "full_like",
    "getsize",
    "group",
    "installed_extensions",
    "load",
    "locate",
    "move",
    "ones",
    "ones_like",
    "open",
    "open_array",
    "open_consolidated",
    "open_group",
    "register_hooks",
    "remove",
    "rename",
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


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        from zarr_core.given.older_names import instead  # noqa: PLC0415 - lazy: only to explain

        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{instead(name)}")
    from importlib import import_module  # noqa: PLC0415 - with the first name that is used

    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
