"""Modules whose names are imported on first use."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy_names(module: str, names: Mapping[str, str]) -> tuple[Callable[[str], Any], list[str]]:
    """``__getattr__`` and ``__all__`` of a module that has names of others.

    ``names`` has the names of each module; ``name:public`` for one that has another name here.
    Names of ``zarr_core`` are modules.
    """
    homes = {
        item.rpartition(":")[2]: (home, item.partition(":")[0])
        for home, items in names.items()
        for item in items.split()
    }

    def get(name: str) -> Any:
        if name not in homes:
            message = f"module {module!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=sys.modules[module])
        home, attribute = homes[name]
        if home == "zarr_core":
            value: Any = import_module(f"{home}.{attribute}")
        else:
            value = getattr(import_module(home), attribute)
        return vars(sys.modules[module]).setdefault(name, value)

    # In the order of ruff: constants, classes, functions.
    order = sorted(homes, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    return get, order
