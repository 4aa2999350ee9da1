"""Copies, moves, rechunks and converts arrays and hierarchies.

Names are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from zarr_transfer.access.array_plan import plan_selection
    from zarr_transfer.access.plan import Plan
    from zarr_transfer.access.within_limit import read_within, write_within
    from zarr_transfer.checkpoint import Checkpoint
    from zarr_transfer.chunk_edges import ChunkEdges
    from zarr_transfer.conversion.convert import convert
    from zarr_transfer.conversion.plan_conversion import plan_conversion
    from zarr_transfer.conversion.remove_documents import remove_documents
    from zarr_transfer.copy_executor import CopyExecutor, CopyResult, KeyPair
    from zarr_transfer.copy_keys import copy_store, rename
    from zarr_transfer.copy_nodes import copy, copy_all
    from zarr_transfer.copy_region import (
        keeps_missing_chunks,
        read_region,
        regions_of,
        supports_intermediate,
        write_region,
    )
    from zarr_transfer.errors import ConversionError, ElementsDifferError, MemoryLimitError
    from zarr_transfer.intermediate import intermediate_array, intermediate_path
    from zarr_transfer.move_node import move
    from zarr_transfer.plan import CopyPlan, CopyStep
    from zarr_transfer.progress import Progress
    from zarr_transfer.progress_bar import WaitNotices
    from zarr_transfer.rechunk import Budget, Chunking, RechunkPlan, RechunkStage, plan_stages
    from zarr_transfer.regions import Region

__version__ = "0.1.0"

_HOMES = {
    "access.array_plan": ("plan_selection",),
    "access.plan": ("Plan",),
    "access.within_limit": ("read_within", "write_within"),
    "checkpoint": ("Checkpoint",),
    "chunk_edges": ("ChunkEdges",),
    "conversion.convert": ("convert",),
    "errors": ("ConversionError", "ElementsDifferError", "MemoryLimitError"),
    "conversion.plan_conversion": ("plan_conversion",),
    "conversion.remove_documents": ("remove_documents",),
    "copy_executor": ("CopyExecutor", "CopyResult", "KeyPair"),
    "copy_keys": ("copy_store", "rename"),
    "copy_nodes": ("copy", "copy_all"),
    "copy_region": (
        "keeps_missing_chunks",
        "read_region",
        "regions_of",
        "supports_intermediate",
        "write_region",
    ),
    "intermediate": ("intermediate_array", "intermediate_path"),
    "move_node": ("move",),
    "plan": ("CopyPlan", "CopyStep"),
    "progress": ("Progress",),
    "progress_bar": ("WaitNotices",),
    "rechunk": ("Budget", "Chunking", "RechunkPlan", "RechunkStage", "plan_stages"),
    "regions": ("Region",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Budget",
    "Checkpoint",
    "ChunkEdges",
    "Chunking",
    "ConversionError",
    "CopyExecutor",
    "CopyPlan",
    "CopyResult",
    "CopyStep",
    "ElementsDifferError",
    "KeyPair",
    "MemoryLimitError",
    "Plan",
    "Progress",
    "RechunkPlan",
    "RechunkStage",
    "Region",
    "WaitNotices",
    "convert",
    "copy",
    "copy_all",
    "copy_store",
    "intermediate_array",
    "intermediate_path",
    "keeps_missing_chunks",
    "move",
    "plan_conversion",
    "plan_selection",
    "plan_stages",
    "read_region",
    "read_within",
    "regions_of",
    "remove_documents",
    "rename",
    "supports_intermediate",
    "write_region",
    "write_within",
]


if not TYPE_CHECKING:  # type checkers would take any name for one that exists

    def __getattr__(name: str) -> Any:
        home = _HOME_OF.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"zarr_transfer.{home}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
