"""Zarr arrays and groups, with every codec, data type, chunk grid and store as a plugin.

Names are imported on first use; ``__init__.pyi`` has their types.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

# Not lazy: importing the module zarr_core.config would replace the object with that name.
from zarr_core.config import config  # noqa: F401 - a public name

__version__ = "0.1.0"


if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _lazy_names(
    module: str, names: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a module whose names are in others.

    ``names`` has the names of each module; ``name:public`` for one that has another name here.
    Names of ``zarr_core`` are modules.
    """
    homes = {
        item.rpartition(":")[2]: (home, item.partition(":")[0])
        for home, items in names.items()
        for item in items.split()
    }
    # In the order of ruff: constants, classes, functions.
    public = sorted(homes, key=lambda name: (not name.isupper(), not name[0].isupper(), name))

    def get(name: str) -> Any:
        if name not in homes:
            raise import_module("zarr_core.optional").MissingAttributeError(
                f"module {module!r} has no attribute {name!r}", name=name, obj=sys.modules[module]
            )
        home, attribute = homes[name]
        if home == __name__:
            return import_module(f"{home}.{attribute}")
        contents = vars(import_module(home))
        if attribute not in contents:  # of another distribution
            return contents["optional_function"](attribute)
        return vars(sys.modules[module]).setdefault(name, contents[attribute])

    def shown() -> list[str]:
        dunder = (name for name in vars(sys.modules[module]) if name.startswith("__"))
        return sorted({*public, *dunder})

    return get, shown, public


_NAMES = {
    "zarr_core": "errors",
    "zarr_core.config": "config",
    "zarr_core.hierarchy.array": "Array",
    "zarr_core.hierarchy.create": "array create create_array empty full ones zeros",
    "zarr_core.hierarchy.delete": "remove",
    "zarr_core.hierarchy.group": "Group create_group",
    "zarr_core.hierarchy.node": "Attributes",
    "zarr_core.hierarchy.open": "array_from_metadata group open open_array open_group",
    "zarr_core.hierarchy.store_path": "StoreLike resolve_store_path",
    "zarr_core.interfaces.store": "Store",
    "zarr_core.normalize.codecs": "codec",
    "zarr_core.optional": (
        "ChunkLayout Progress check_consolidated consolidate_metadata convert copy copy_all "
        "copy_store empty_like full_like getsize installed_extensions load move ones_like open_consolidated rmdir "
        "save unconsolidate_metadata zeros_like"
    ),
    "zarr_core.registry.hooks": "register_hooks unregister_hooks",
    "zarr_core.registry.overrides": "override_extensions",
    "zarr_core.stores.local": "LocalStore",
    "zarr_core.stores.memory": "MemoryStore",
}
__getattr__, __dir__, __all__ = _lazy_names(__name__, _NAMES)
