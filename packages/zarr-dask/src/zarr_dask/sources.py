"""The stored arrays that a Dask array is computed from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zarr_core import resolve_store_path

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEADING = {
    "dask": ("args", "kwargs", "value"),  # of tasks
    "xarray": ("array", "_array"),  # of wrapped arrays
    "zarr_xarray": ("array",),
    "zarr": (),
    "zarr_core": (),
}
"""Attributes of objects in a Dask graph that lead to their sources, by top-level package."""


def check_not_source(
    x: Any, store_like: Any, path: str | None, storage_options: Mapping[str, Any] | None
) -> None:
    """Raise an error if a Dask array is computed from arrays that will be removed.

    ``path`` below ``store_like`` is the node that is removed, with all nodes below.  The
    ValueError contains the location of the array.
    """
    arrays = list(source_arrays(x))
    if not arrays:
        return
    store, base = resolve_store_path(store_like, read_only=True, storage_options=storage_options)
    prefix = "".join(f"{part}/" for part in (base, path) if part)
    for array in arrays:
        same = array.store == store or str(array.store) == str(store)
        if same and f"{array.path}/".startswith(prefix):
            raise ValueError(
                f"x is computed from {array.store} {'/' + array.path!r}, which overwrite=True "
                "would remove first: write to another location, or into the existing array"
            )


def source_arrays(x: Any) -> Iterator[Any]:
    """Yield each Zarr array in the graph of a Dask array once; functions are not searched."""
    left: list[Any] = [x.__dask_graph__()]
    seen: dict[int, object] = {}
    while left:
        part = left.pop()
        origin = type(part).__module__.partition(".")[0]
        if isinstance(part, list | tuple | set | frozenset | Mapping):
            left += part.values() if isinstance(part, Mapping) else part
        elif origin in _LEADING and id(part) not in seen:
            seen[id(part)] = part
            if origin in ("zarr", "zarr_core") and hasattr(part, "store"):
                yield part
            left += [getattr(part, name) for name in _LEADING[origin] if hasattr(part, name)]
