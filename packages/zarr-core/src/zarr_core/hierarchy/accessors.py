"""What ``array.oindex`` or ``array.blocks`` gives: something to index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.hierarchy.fields import split_fields

if TYPE_CHECKING:
    from zarr_core.hierarchy.array import Array
    from zarr_core.hierarchy.readable import ReadableArray
    from zarr_core.hierarchy.views import View


class _Accessor:
    __slots__ = ("_array",)

    def __init__(self, array: ReadableArray | View) -> None:
        self._array: Array = array  # type: ignore[assignment]  # what cannot be written says so


class OrthogonalIndex(_Accessor):
    """Indexes every dimension by itself; the result is the outer product."""

    def __getitem__(self, selection: Any) -> Any:
        selection, fields = split_fields(selection)
        return self._array.get_orthogonal_selection(selection, fields=fields)

    def __setitem__(self, selection: Any, value: Any) -> None:
        selection, fields = split_fields(selection)
        self._array.set_orthogonal_selection(selection, value, fields=fields)


class VectorisedIndex(_Accessor):
    """Indexes single elements by coordinates, or by a mask of the whole shape."""

    def __getitem__(self, selection: Any) -> Any:
        selection, fields = split_fields(selection)
        return self._array.get_coordinate_selection(selection, fields=fields)

    def __setitem__(self, selection: Any, value: Any) -> None:
        selection, fields = split_fields(selection)
        self._array.set_coordinate_selection(selection, value, fields=fields)


class BlockIndex(_Accessor):
    """Indexes whole chunks by their grid coordinates."""

    def __getitem__(self, selection: Any) -> Any:
        selection, fields = split_fields(selection)
        return self._array.get_block_selection(selection, fields=fields)

    def __setitem__(self, selection: Any, value: Any) -> None:
        selection, fields = split_fields(selection)
        self._array.set_block_selection(selection, value, fields=fields)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of blocks along each dimension."""
        return self._array.cdata_shape
