"""Lengths of the arrays of a group along one dimension, which change by one atomic write."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xarray import conventions
from zarr_core import consolidate_metadata, open_group
from zarr_core.extension import (
    ArrayMetadata,
    Format,
    GroupMetadata,
    NodeNotFoundError,
    Store,
    ZarrError,
)
from zarr_core.names import join
from zarr_core.threads import concurrent_map

from zarr_xarray.consolidated_metadata import consolidated_key, update_copies
from zarr_xarray.dimensions import sizes_of
from zarr_xarray.encoded_elements import StoredForm, time_decoder
from zarr_xarray.group_arrays import array_at, stored_arrays
from zarr_xarray.variables import variable_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    import numpy as np
    from xarray import Variable
    from zarr_core import Array
    from zarr_core.extension import Buffers, ByteReader


class LengthsChangedError(Exception):
    """The committed lengths are not those that were read before."""


@dataclass(slots=True)
class Growing:
    """An array that grows."""

    array: Array  # with its committed shape
    axis: int  # that grows
    raw: Variable  # as stored
    decoded: Variable  # as xarray decodes it
    unit: int  # steps of a chunk, or of a shard
    tail: np.ndarray[Any, Any] | None = None  # stored elements of an incomplete last unit, if read
    step_shape: tuple[int, ...] = field(init=False)  # without the axis that grows

    def __post_init__(self) -> None:
        shape = self.array.shape
        self.step_shape = shape[: self.axis] + shape[self.axis + 1 :]

    @property
    def form(self) -> StoredForm:
        """How its elements are stored."""
        return StoredForm.of(self.array, self.raw, self.decoded)

    def region(self, start: int, stop: int) -> tuple[slice, ...]:
        """The selection of some steps."""
        return (*[slice(None)] * self.axis, slice(start, stop))

    def resized(self, store: Store, format_: Format, length: int) -> Array:
        """Return the array with another length; the store is not accessed."""
        shape = list(self.array.shape)
        shape[self.axis] = length
        metadata = self.array.metadata.replace(shape=tuple(shape))
        # Chunks are never removed, since services cannot remove a value conditionally.
        return array_at(store, self.array.path, format_, metadata, True)


@dataclass(slots=True)
class Committed:
    """The arrays of a group, and the one length of those that have a dimension."""

    store: Store
    path: str
    format: Format  # version 2 or 3
    length: int  # number of committed steps
    growing: dict[str, Growing]  # the arrays with the dimension, by name
    fixed: dict[str, Array]  # the other arrays
    ancestors: list[str]  # groups above with consolidated metadata
    incomplete: Collection[str]  # arrays whose creation was interrupted

    def commit(self, length: int) -> None:
        """Commit another length; raise LengthsChangedError if the committed lengths have changed."""
        relative = {name: (item.axis, length) for name, item in self.growing.items()}
        if not set_lengths(self.store, self.path, self.format, relative, self.length):
            raise LengthsChangedError(self.path)
        self.store_copies(length)
        for item in self.growing.values():
            item.array = item.resized(self.store, self.format, length)
        self.length = length

    def store_copies(self, length: int) -> None:
        """Set the lengths in the documents of the arrays and of groups above."""

        def update(item: Growing) -> None:
            def change(metadata: Any) -> Any:
                shape = list(metadata.shape)
                shape[item.axis] = length
                return metadata.replace(shape=tuple(shape))

            with suppress(NodeNotFoundError):  # the next append reports that it was removed
                self.format.update(self.store, item.array.path, change)

        _for_each(self.growing.values(), update, self.store)
        for path in self.ancestors:
            below = self.path[len(path) :].lstrip("/")
            relative = {
                join(below, name): (item.axis, length) for name, item in self.growing.items()
            }
            set_lengths(self.store, path, self.format, relative)


def _for_each(items: Iterable[Any], work: Callable[[Any], None], store: Store) -> None:
    for _ in concurrent_map(items, work, store.max_concurrency):
        pass


def set_lengths(
    store: Store,
    path: str,
    format_: Format,
    lengths: Mapping[str, tuple[int, int]],
    expected: int | None = None,
) -> bool:
    """Set lengths in the consolidated metadata of a group by one atomic write; return whether.

    ``lengths`` has the axis and its new length by path.  Nothing is changed if an array is missing
    or does not have the ``expected`` length; None replaces any.
    """
    fits = False
    name = "/.zarray" if format_.zarr_format == 2 else ""

    def change(copies: dict[str, Any]) -> bool:
        nonlocal fits
        shapes = [
            (copies.get(array + name, {}).get("shape"), *new) for array, new in lengths.items()
        ]
        fits = all(
            shape is not None and expected in (None, shape[axis]) for shape, axis, _ in shapes
        )
        changes = fits and any(shape[axis] != length for shape, axis, length in shapes)
        for shape, axis, length in shapes if changes else ():
            shape[axis] = length
        return changes

    return update_copies(store, path, format_, change) and fits


def invalidate_pending_commits(store: Store, key: str) -> None:
    """Rewrite consolidated metadata with other white space at its end.

    A conditional write that a former owner of the lock has begun then fails.
    """

    def change(reader: ByteReader | None) -> Buffers | None:
        if reader is None:
            return None
        text = bytes(reader.read(0, reader.size))
        bare = text.rstrip(b"\n")
        return bare + b"\n" * ((len(text) - len(bare)) % 7 + 1)

    store.update(key, change)


def read_committed(
    store: Store, path: str, root: str, format_: Format, dim: str, interrupted: bool
) -> Committed:
    """Read the committed state of a group, and repair copies after an interrupted append.

    The lock is held.  ``root`` is the path of the location that was opened.
    """
    if interrupted:
        invalidate_pending_commits(store, consolidated_key(format_, path))
    where = f"{store} {'/' + path!r}"
    group = open_group(store, "r", path=path, zarr_format=format_.name)
    is_consolidated = group.metadata.consolidated is not None
    arrays = dict(group.arrays()) if is_consolidated else {}
    unlisted = _unlisted_arrays(store, path, format_, arrays.keys())
    has_steps = any(sizes_of(array).get(dim) for array in (*arrays.values(), *unlisted.values()))
    # Arrays are created without steps, and consolidated when all elements of the others are stored.
    created = unlisted if interrupted and not has_steps else {}
    growing_unlisted = [name for name, array in unlisted.items() if dim in sizes_of(array)]
    if not is_consolidated and not created:
        consolidate_metadata(store, path, format_.name)
    elif growing_unlisted and not created:
        raise ZarrError(
            f"cannot append to {where} along {dim!r}: its consolidated metadata does not contain "
            f"{', '.join(map(repr, growing_unlisted))}; call zarr_core.consolidate_metadata()"
        )
    if not is_consolidated or created:
        arrays |= unlisted
    raw: dict[str, Variable] = {}
    fixed: dict[str, Array] = {}
    for name, array in arrays.items():
        if dim in sizes_of(array):
            raw[name] = variable_of(array)
        else:
            fixed[name] = array
    decoders: dict[str, Any] = {}
    for name, variable in raw.items():
        if "calendar" in variable.attrs:
            decoder = time_decoder(variable.attrs)
            decoders |= {name: decoder, variable.attrs.get("bounds", name): decoder}
    decoded, _, _ = conventions.decode_cf_variables(raw, {}, decode_times=decoders)
    growing = {}
    for name, variable in raw.items():
        axis = variable.dims.index(dim)
        unit = _unit(name, arrays[name], axis)
        growing[name] = Growing(arrays[name], axis, variable, decoded[name], unit)
    lengths = {name: item.array.shape[item.axis] for name, item in growing.items()}
    if len(set(lengths.values())) > 1:
        raise ZarrError(
            f"cannot append to {where} along {dim!r}: its arrays differ in length ({lengths}); "
            "resize() them to one length and call consolidate_metadata()"
        )
    committed = Committed(
        store, path, format_, next(iter(lengths.values()), 0), growing, fixed,
        _consolidated_ancestors(store, path, root, format_), created.keys(),
    )  # fmt: skip
    _compare_documents(committed, interrupted, where)
    return committed


def _unlisted_arrays(
    store: Store, path: str, format_: Format, listed: Collection[str]
) -> dict[str, Array]:
    """Return the arrays directly below a group that its consolidated metadata does not contain."""
    names = format_.child_candidates(store, path) if store.supports_listing else ()
    return stored_arrays(store, path, format_, [name for name in names if name not in listed], True)


def _unit(name: str, array: Array, axis: int) -> int:
    """Return the steps of one stored object."""
    unit = (array.chunks if array.shards is None else array.shards)[axis]
    if isinstance(unit, tuple):
        raise ValueError(
            f"cannot append to {array.store} {array.name!r}: {name!r} has irregular chunks along "
            "the dimension; rechunk it"
        )
    return int(unit)


def _compare_documents(committed: Committed, interrupted: bool, where: str) -> None:
    """Compare the documents of the arrays with the committed length, and repair them."""
    names = list(committed.growing)
    stored = concurrent_map(
        names,
        lambda name: committed.format.read(committed.store, join(committed.path, name)),
        committed.store.max_concurrency,
    )
    shorter = {}
    for name, metadata in stored:
        axis = committed.growing[name].axis
        shape = metadata.shape if isinstance(metadata, ArrayMetadata) else None
        shorter[name] = None if shape is None or len(shape) <= axis else shape[axis]
    wrong = {name: length for name, length in shorter.items() if length != committed.length}
    if not wrong:
        return
    if interrupted and all(
        length is not None and length < committed.length for length in wrong.values()
    ):
        committed.store_copies(committed.length)
        return
    raise ZarrError(
        f"cannot append to {where}: its consolidated metadata has the length {committed.length}, "
        f"but arrays have other lengths ({wrong}; None: missing), because another program changed "
        "them; call zarr_core.consolidate_metadata() if the arrays are right"
    )


def _consolidated_ancestors(store: Store, path: str, root: str, format_: Format) -> list[str]:
    """Return the groups above that have consolidated metadata, up to the opened location."""
    ancestors = []
    while path != root and path:
        path = path.rpartition("/")[0]
        metadata = format_.read(store, path)
        if isinstance(metadata, GroupMetadata) and metadata.consolidated is not None:
            ancestors.append(path)
    return ancestors
