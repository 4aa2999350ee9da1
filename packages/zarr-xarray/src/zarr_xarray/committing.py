"""Storing the documents of all that was planned, before any element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import NodeExistsError, in_flight

from zarr_xarray.documents import StaleError, array_at, grow
from zarr_xarray.lazy import arrays_read_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from zarr_core import Array

    from zarr_xarray.plans import Plan
    from zarr_xarray.target import Target

    Grown = tuple[Array, tuple[int, ...]]


def commit(
    target: Target, plans: Sequence[Plan], attributes: Mapping[str, Any], mode: str
) -> list[Array]:
    """Store all documents; the arrays, in the order of the plans.

    Parameters
    ----------
    target : Target
        The group.
    plans : sequence of Plan
        What is stored in it.
    attributes : mapping
        The attributes that it gets.
    mode : str
        As for :meth:`xarray.Dataset.to_zarr`.

    Raises
    ------
    NodeExistsError
        If something is in the way of the group, or of a new array.
    StaleError
        If an array that shall grow is not what was planned with; none has grown then.
    """
    if target.group is None and not target.nothing_there:
        target.make()
    arrays = [_array(target, item) for item in plans]
    new = [item for item in plans if item.metadata is not None]
    grown = [
        (item.known, item.shape)
        for item in plans
        if item.known is not None and item.shape != item.known.shape
    ]
    if target.group is None:
        _record(target, new)
        target.copies.create_root(attributes)
    _create(target, new)
    if grown:
        _grow(target, grown)
    paths = {array.path for array, _ in grown}
    for array in arrays:
        if array.path in paths:
            target.copies.record(array.path, array.metadata)
    if target.group is not None and mode != "r+":
        _record(target, new)
        _set_attributes(target, attributes)
    return arrays


def load_what_is_replaced(target: Target, plans: Iterable[Plan]) -> None:
    """Read what may have to be read from what is going to be removed.

    Parameters
    ----------
    target : Target
        The group that is going to be written to.
    plans : iterable of Plan
        All that will be stored in it, and below it.

    Raises
    ------
    ValueError
        If chunks of Dask would be read from there later.
    """
    for item in plans if target.overwrite and not target.nothing_there else ():
        if item.variable.chunks is None:
            item.variable.load()
            continue
        for array in arrays_read_by(item.variable.data):
            same = array.store == target.store or str(array.store) == str(target.store)
            if same and f"{array.path}/".startswith(target.path_of("")):
                raise ValueError(
                    f"the variable {item.name!r} is computed from {array.store} {array.path!r}, "
                    "which mode='w' would remove first: write to another place, or load() it"
                )


def _array(target: Target, item: Plan) -> Array:
    """The array of a plan, as it will be."""
    metadata = item.metadata
    if metadata is None:
        assert item.known is not None, "what is not new is known"
        metadata = item.known.metadata
        if item.shape != item.known.shape:
            metadata = metadata.replace(shape=item.shape)
    path = target.path_of(item.name)
    return array_at(target.store, path, target.format, metadata, item.keep_empty)


def _record(target: Target, new: Iterable[Plan]) -> None:
    for item in new:
        assert item.metadata is not None, "new arrays have metadata"
        target.copies.record(target.path_of(item.name), item.metadata)


def _create(target: Target, new: Iterable[Plan]) -> None:
    def create(item: Plan) -> None:
        path = target.path_of(item.name)
        assert item.metadata is not None, "new arrays have metadata"
        if target.group is None:
            target.format.write_new(target.store, path, item.metadata)
        elif not target.format.create(target.store, path, item.metadata):
            raise NodeExistsError(
                f"{target.store} {'/' + path!r}",
                f"is in the way of the variable {item.name!r}, and is no array that can be "
                "written to",
            )

    for _ in in_flight(new, create, target.store.requests):
        pass


def _grow(target: Target, grown: Iterable[Grown]) -> None:
    """Let all arrays grow, or none.

    All who append begin with the same array: one of them is first, and the others find out
    before they have changed anything.
    """

    def attempt(item: Grown) -> bool:
        try:
            grow(*item, target.format)
        except StaleError:
            return False
        return True

    first, *others = sorted(grown, key=lambda item: item[0].path)
    if not attempt(first):
        raise StaleError(first[0].path)
    found = [*in_flight(others, attempt, target.store.requests)]
    if all(has_grown for _, has_grown in found):
        return
    for array, shape in (first, *(item for item, has_grown in found if has_grown)):
        new = array.metadata.replace(shape=shape)
        there = array_at(target.store, array.path, target.format, new, None)
        grow(there, array.shape, target.format)
    raise StaleError(target.path)


def _set_attributes(target: Target, attributes: Mapping[str, Any]) -> None:
    group = target.group
    assert group is not None, "groups that are there have attributes"
    if target.path == target.copies.root:
        target.copies.change_root(attributes, group.attrs.asdict())
        return
    if group.attrs.asdict() != attributes:
        group.attrs.put(attributes)
    target.copies.record(group.path, group.metadata)
