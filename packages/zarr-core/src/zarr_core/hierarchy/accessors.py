"""What ``array.oindex`` or ``array.blocks`` gives: something to index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zarr_core.hierarchy.array import Array


class _Accessor:
    __slots__ = ("_array",)

    def __init__(self, array: Array) -> None:
        self._array = array


class OrthogonalIndex(_Accessor):
    """Indexes every dimension by itself; the result is the outer product."""

    def __getitem__(self, selection: Any) -> Any:
        return self._array.get_orthogonal_selection(selection)

    def __setitem__(self, selection: Any, value: Any) -> None:
        self._array.set_orthogonal_selection(selection, value)


class VectorisedIndex(_Accessor):
    """Indexes single elements by coordinates, or by a mask of the whole shape."""

    def __getitem__(self, selection: Any) -> Any:
        return self._array.get_coordinate_selection(selection)

    def __setitem__(self, selection: Any, value: Any) -> None:
        self._array.set_coordinate_selection(selection, value)


class BlockIndex(_Accessor):
    """Indexes whole chunks by their grid coordinates."""

    def __getitem__(self, selection: Any) -> Any:
        return self._array.get_block_selection(selection)

    def __setitem__(self, selection: Any, value: Any) -> None:
        self._array.set_block_selection(selection, value)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of blocks along each dimension."""
        return self._array.cdata_shape
