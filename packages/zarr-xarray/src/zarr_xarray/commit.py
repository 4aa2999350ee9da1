"""Store the metadata documents of all plans, before any element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.errors import NodeExistsError
from zarr_core.extension import ArrayMetadata, Location, NodeNotFoundError, ZarrError, strictjson
from zarr_core.hierarchy.rollback import Rollback
from zarr_core.optional import optional_function
from zarr_core.threads import concurrent_map

from zarr_xarray.consolidated_metadata import json_attributes
from zarr_xarray.group_arrays import array_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from zarr_core import Array
    from zarr_core.extension import GroupMetadata

    from zarr_xarray.plans import Plan
    from zarr_xarray.target import Target

    Resize = tuple[Array, tuple[int, ...]]


def commit(
    target: Target, plans: Sequence[Plan], attributes: Mapping[str, Any], mode: str
) -> list[Array]:
    """Store all metadata documents and return the arrays, in the order of the plans.

    Raises NodeExistsError if another node or unmanaged keys exist at the path of the group or of a
    new array, and ZarrError if an array to resize has changed since it was planned.
    """
    with Rollback() as rollback:
        if target.group is None and not target.is_empty:
            with rollback.nested():
                target.create()
        arrays = [_array(target, item) for item in plans]
        new = [item for item in plans if item.metadata is not None]
        resized = [
            (item.existing, item.shape)
            for item in plans
            if item.existing is not None and item.shape != item.existing.shape
        ]
        if target.group is None:
            _record(target, arrays)
            target.consolidated.create_root(attributes, rollback)
        _create(target, new, rollback)
        if resized:
            _resize(target, resized, rollback)
        if target.group is not None and mode != "r+":
            _record(target, arrays)
            _set_attributes(target, attributes)
        return arrays


_SOURCE_ARRAYS = "to_zarr(mode='w') of Dask arrays"  # requires zarr-dask


def load_overwritten(target: Target, plans: Iterable[Plan]) -> None:
    """Load variables from arrays that are about to be overwritten.

    ``plans`` are those for the target and for groups below it.  Raises ValueError if a variable
    has chunks of Dask that are computed from such arrays.
    """
    below = f"{target.path}/" if target.path else ""
    for item in plans if target.overwrite and not target.is_empty else ():
        if item.variable.chunks is None:
            item.variable.load()
            continue
        data = item.variable.data
        is_dask = hasattr(data, "__dask_graph__")
        for array in optional_function(_SOURCE_ARRAYS)(data) if is_dask else ():
            same = array.store == target.store or str(array.store) == str(target.store)
            if same and f"{array.path}/".startswith(below):
                raise ValueError(
                    f"the variable {item.name!r} is computed from {array.store} {array.path!r}, "
                    "which mode='w' would remove first; write to another location, or load() it"
                )


def _array(target: Target, item: Plan) -> Array:
    """Return the array of a plan, as it will be stored."""
    metadata = item.metadata
    if metadata is None:
        assert item.existing is not None, "a plan without metadata has an existing array"
        metadata = item.existing.metadata
        if item.shape != item.existing.shape:
            metadata = metadata.replace(shape=item.shape)
    path = target.path_of(item.name)
    return array_at(target.store, path, target.format, metadata, item.write_empty_chunks)


def _record(target: Target, arrays: Iterable[Array]) -> None:
    """Record all arrays: a writer that was killed may have created some without consolidating."""
    for array in arrays:
        target.consolidated.record(array.path, array.metadata)


def _create(target: Target, new: Iterable[Plan], rollback: Rollback) -> None:
    store, format_ = target.store, target.format

    def create(item: Plan) -> None:
        path = target.path_of(item.name)
        assert item.metadata is not None, "new arrays have metadata"
        if target.group is None:  # in an empty store, no check for existing nodes is necessary
            rollback.write(store, path, format_, item.metadata)
        elif not rollback.create(store, path, format_, item.metadata):
            raise NodeExistsError(
                Location(store, path),
                f"exists, and is not an array that can be overwritten by the variable "
                f"{item.name!r}",
            )

    for _ in concurrent_map(new, create, target.store.max_concurrency):
        pass


def _resize(target: Target, resized: Sequence[Resize], rollback: Rollback) -> None:
    """Resize arrays; raise ZarrError if anything but the attributes of one has changed.

    All processes that append start with the same array, so only one of them succeeds; the others
    fail before they change anything.
    """

    def changed(array: Array) -> ZarrError:
        return ZarrError(
            f"cannot append to {array.store} {array.name!r}: another process has changed or "
            "removed it meanwhile; try again, or use Appender, with which processes take turns"
        )

    def resize(item: Resize) -> None:
        array, shape = item
        expected = array.metadata.replace(attributes={})

        def change(stored: ArrayMetadata | GroupMetadata) -> ArrayMetadata:
            if not isinstance(stored, ArrayMetadata) or stored.replace(attributes={}) != expected:
                raise changed(array)
            return stored.replace(shape=shape)

        try:
            target.format.update(target.store, array.path, change)
        except NodeNotFoundError:
            raise changed(array) from None
        rollback.note(
            f"{array.store} {array.name!r}: was resized from {array.shape} to {shape}; the new "
            "elements may be incomplete"
        )

    first, *others = sorted(resized, key=lambda item: item[0].path)
    resize(first)
    for _ in concurrent_map(others, resize, target.store.max_concurrency):
        pass


def _set_attributes(target: Target, attributes: Mapping[str, Any]) -> None:
    group = target.group
    assert group is not None, "the group exists"
    if group.attrs.asdict() != json_attributes(attributes):
        group.attrs.put(strictjson.keep_nonfinite(attributes))
    if target.path != target.consolidated.root:
        target.consolidated.record(group.path, group.metadata)
