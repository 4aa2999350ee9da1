"""The stored arrays that an array of Dask is computed from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zarr_core import locate

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEADING = {
    "dask": ("args", "kwargs", "value"),  # of tasks
    "xarray": ("array", "_array"),  # of one wrapper in another
    "zarr_xarray": ("array",),
    "zarr": (),
    "zarr_core": (),
}
"""Where the parts of a graph have what they are made of, by who made them."""


def refuse_to_replace_sources(
    x: Any, place: Any, path: str | None, storage_options: Mapping[str, Any] | None
) -> None:
    """Raise if blocks would be read from what is removed before.

    Parameters
    ----------
    x : dask.array.Array
        What is going to be stored.
    place : store-like
        Where: what :func:`zarr_core.open` takes.
    path : str, optional
        Path below that place of the node that is removed, with all that is below.
    storage_options : mapping, optional
        Further arguments for the store that a URL names.

    Raises
    ------
    ValueError
        Says which array that is.
    """
    arrays = list(_arrays(x.__dask_graph__()))
    if not arrays:
        return
    store, base = locate(place, read_only=True, storage_options=storage_options)
    prefix = "".join(f"{part}/" for part in (base, path) if part)
    for array in arrays:
        same = array.store == store or str(array.store) == str(store)
        if same and f"{array.path}/".startswith(prefix):
            raise ValueError(
                f"x is computed from {array.store} {'/' + array.path!r}, which overwrite=True "
                "would remove first: write to another place, or into the array that is there"
            )


def _arrays(graph: object) -> Iterator[Any]:
    left = [graph]
    seen: dict[int, object] = {}
    while left:
        part: Any = left.pop()
        origin = type(part).__module__.partition(".")[0]
        if isinstance(part, list | tuple | set | frozenset):
            left += part
        elif isinstance(part, Mapping):
            left += part.values()
        elif origin in _LEADING and id(part) not in seen:
            seen[id(part)] = part
            if origin in ("zarr", "zarr_core") and hasattr(part, "store"):
                yield part
            left += [getattr(part, name) for name in _LEADING[origin] if hasattr(part, name)]
