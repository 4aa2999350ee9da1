"""Native execution: batches of chunks processed by compiled code.

The entry point ``default`` of group ``zarr_core.native`` provides it.  Compiled code does whole
chunks where all is well; Python does the others, and raises all errors.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import numpy as np

    from zarr_core.interfaces.selection import MaskIndexer, Selection

    Array = np.ndarray[Any, Any]


class NativePlan(ABC):
    """How the chunks of one array are processed by compiled code; immutable.

    The methods return the coordinates of the stored objects (chunks or shards) of the selection
    that they did not process and that Python must process; None for all of them.
    """

    __slots__ = ()

    @abstractmethod
    def read(
        self, array: Any, selection: Selection | MaskIndexer, out: Array
    ) -> Collection[tuple[int, ...]] | None:
        """Read a selection.

        Parameters
        ----------
        array : StoredArray
            The array of the plan.
        selection : Selection
            The elements to read, at least one.
        out : ndarray
            Array for the elements; shape of the selection, dtype of the array, any strides.  The
            elements of stored objects that are left to Python may contain anything.
        """

    def read_index(self, array: Any, index: Any) -> Any:
        """Read ``array[index]`` as a whole, for single chunks, where parsing takes longer than reading.

        Parameters
        ----------
        array : StoredArray
            The array of the plan; its data type has no fields.
        index : object
            What the user passed.

        Returns
        -------
        ndarray, scalar or None
            None for an index that is not supported or invalid, and if Python must read the chunk.
        """
        return None

    @abstractmethod
    def write(
        self, array: Any, selection: Selection | MaskIndexer, value: Array
    ) -> Collection[tuple[int, ...]] | None:
        """Write a selection; chunks that are not written completely must be left to Python.

        ``value`` has the shape of the selection and the dtype of the array.  A stored object that
        is left to Python is unchanged.
        """


class NativeExecutor(ABC):
    """Plans for arrays; an instance is created for every array, without arguments."""

    @abstractmethod
    def plan(self, array: Any) -> NativePlan | str:
        """Return the plan of a StoredArray, or the reason why Python processes its chunks."""

    def describe(self) -> Mapping[str, str]:
        """What compiled code uses, such as the names of libraries, each with its origin or state."""
        return {}
