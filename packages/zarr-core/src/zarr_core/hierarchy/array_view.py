"""Other ways to index an array: ``oindex``, ``vindex``, ``blocks`` and fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from zarr_core.errors import SelectionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    Fields: TypeAlias = str | Sequence[str] | None


def split_fields(selection: Any) -> tuple[Any, str | list[str] | None]:
    """Split a selection into indices and fields: ``z["a"]``, ``z[["a", "b"]]``, ``z["a", 0]``."""
    items = selection if isinstance(selection, tuple) else (selection,)
    found: list[str] = []
    others = []
    several = False
    for item in items:
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, list) and item and all(isinstance(name, str) for name in item):
            found += item
            several = True
        else:
            others.append(item)
    if not found:
        return selection, None
    rest = tuple(others) if isinstance(selection, tuple) and others else ...
    return rest, found if several or len(found) > 1 else found[0]


def as_index(dtype: np.dtype[Any], fields: Fields) -> str | list[str]:
    """Return the NumPy index of fields; raise a SelectionError for unknown fields."""
    names = dtype.names or ()
    wanted = [fields] if isinstance(fields, str) else list(fields or ())
    if not names:
        raise SelectionError(f"the data type {dtype} has no fields, so none of {wanted}")
    if unknown := [name for name in wanted if name not in names]:
        raise SelectionError(f"no fields {unknown} in the data type, which has {list(names)}")
    return fields if isinstance(fields, str) else wanted


class IndexAccessor:
    """Another way to index an array: ``oindex``, ``vindex`` or ``blocks``.

    Calls the methods ``get_{kind}_selection`` and ``set_{kind}_selection``.
    """

    __slots__ = ("_array", "_kind")

    def __init__(self, array: Any, kind: Literal["orthogonal", "coordinate", "block"]) -> None:
        self._array = array
        self._kind = kind

    def __getitem__(self, selection: Any) -> Any:
        selection, fields = split_fields(selection)
        return getattr(self._array, f"get_{self._kind}_selection")(selection, fields=fields)

    def __setitem__(self, selection: Any, value: Any) -> None:
        selection, fields = split_fields(selection)
        getattr(self._array, f"set_{self._kind}_selection")(selection, value, fields=fields)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array; for ``blocks``, the number of chunks along each dimension."""
        shape: tuple[int, ...] = (
            self._array.cdata_shape if self._kind == "block" else self._array.shape
        )
        return shape
