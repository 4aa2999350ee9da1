"""Zarr arrays and groups, with every codec, data type, chunk grid and store as a plugin.

Names are imported on first use; ``__init__.pyi`` has their types.
"""

from __future__ import annotations

import sys
from typing import Any

# Not lazy: importing the module zarr_core.config would replace the object with that name.
from zarr_core.config import config  # noqa: F401 - a public name

__version__ = "0.1.0"

_NAMES = {
    "zarr_core.hierarchy.array": "Array",
    "zarr_core.hierarchy.attributes": "Attributes",
    "zarr_core.hierarchy.consolidate": (
        "check_consolidated consolidate_metadata unconsolidate_metadata"
    ),
    "zarr_core.hierarchy.convenience": (
        "array create empty empty_like full full_like getsize group load ones ones_like save zeros "
        "zeros_like"
    ),
    "zarr_core.hierarchy.create": "create_array create_group",
    "zarr_core.hierarchy.delete": "remove rmdir",
    "zarr_core.hierarchy.group": "Group",
    "zarr_core.hierarchy.open": "array_from_metadata open open_array open_consolidated open_group",
    "zarr_core.hierarchy.store_path": "StoreLike resolve_store_path",
    "zarr_core.hierarchy.progress": "Progress",
    "zarr_core.interfaces.store": "Store",
    "zarr_core.normalize.codecs": "codec",
    "zarr_core.optional": "ChunkLayout convert copy copy_all copy_store move rename",
    "zarr_core.registry.extension_list": "installed_extensions",
    "zarr_core.registry.hooks": "register_hooks unregister_hooks",
    "zarr_core.registry.scope": "override_extensions",
    "zarr_core.stores.local": "LocalStore",
    "zarr_core.stores.memory": "MemoryStore",
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(["config", "errors", *_MODULE_OF], key=lambda name: (not name[0].isupper(), name))


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "errors":
        return import_module("zarr_core.errors")
    if name not in _MODULE_OF:
        raise import_module("zarr_core.optional").MissingAttributeError(
            f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__]
        )
    module = import_module(_MODULE_OF[name])
    if module.__name__ == "zarr_core.optional":  # of another distribution
        return module.optional_function(name)
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
