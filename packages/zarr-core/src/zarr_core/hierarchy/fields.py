"""Fields of structured data types, named in a selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from zarr_core.errors import SelectionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    Fields: TypeAlias = str | Sequence[str] | None


def split_fields(selection: Any) -> tuple[Any, str | list[str] | None]:
    """Take the names of fields out of a selection: ``z["a"]``, ``z[["a", "b"]]``, ``z["a", 0]``."""
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
    """Check names of fields, and give what NumPy indexes with them.

    Raises
    ------
    SelectionError
        If the data type has no fields, or none of such a name.
    """
    names = dtype.names or ()
    wanted = [fields] if isinstance(fields, str) else list(fields or ())
    if not names:
        raise SelectionError(f"the data type {dtype} has no fields, so none of {wanted}")
    if unknown := [name for name in wanted if name not in names]:
        raise SelectionError(f"no fields {unknown} in the data type, which has {list(names)}")
    return fields if isinstance(fields, str) else wanted
