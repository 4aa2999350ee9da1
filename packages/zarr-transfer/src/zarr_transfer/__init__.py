"""Copies, moves, rechunks and converts arrays and hierarchies.

Names are imported on first use; ``__init__.pyi`` has their types.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

_NAMES = {
    "arrays_like": "empty_like full_like ones_like zeros_like",
    "conversion": "convert plan_conversion",
    "copy_elements": "plan_rechunk",
    "copy_executor": "CopyExecutor CopyResult",
    "copy_keys": "copy_store getsize rmdir",
    "copy_nodes": "copy copy_all",
    "errors": "ConversionError ElementsDifferError",
    "move_node": "move",
    "plan": "CopyPlan CopyStep",
    "progress": "Progress WaitNotices",
    "rechunk": "Budget Chunking RechunkPlan RechunkStage",
    "regions": "ChunkEdges",
    "save_arrays": "load save",
    "selection_plan": "Plan plan_selection",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [*sorted(_HOMES)]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"zarr_transfer.{home}"), name)
    return globals().setdefault(name, value)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
