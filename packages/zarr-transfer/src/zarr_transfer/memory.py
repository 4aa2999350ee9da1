"""The memory for copying the elements of an array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_core.tools import thread_count

from zarr_transfer.copy_region import supports_intermediate
from zarr_transfer.rechunk import Budget, Chunking, plan_stages

if TYPE_CHECKING:
    from zarr_core import Array

    from zarr_transfer.rechunk import RechunkPlan
    from zarr_transfer.spec import CopyOptions

BUFFER = 1 << 26
"""Default size of a region in bytes; a larger chunk or shard is one region."""


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory that a user allows for copying an array.

    ``most`` is the number of bytes for elements, and for chunks that threads decode and encode.
    ``copies`` is the number of copies of the elements of a region in memory.
    """

    most: int | None = None
    copies: int = 1

    @classmethod
    def of(cls, old: Array, new: Array, options: CopyOptions) -> Memory:
        """Return the memory for one array; casting and comparison need copies of elements."""
        return cls(options.max_memory, 1 + options.verify + (old.dtype != new.dtype))


def plan_rechunk(old: Array, new: Array, memory: Memory) -> RechunkPlan:
    """Return the plan for copying an array, directly or with an intermediate array.

    Raises ValueError if a chunk or shard needs more memory than allowed.
    """
    source, dest = (Chunking.of(array, thread_count()) for array in (old, new))
    firm = memory.most is not None
    most = memory.copies * BUFFER if memory.most is None else memory.most
    between = supports_intermediate(old, new.store)
    return plan_stages(source, dest, Budget(most, memory.copies, between=between, firm=firm))
