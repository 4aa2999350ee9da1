"""Save and load arrays in one call."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core import Array, create_array, create_group
from zarr_core import open as open_node
from zarr_core.hierarchy.rollback import Rollback
from zarr_core.optional import check_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core import Group, StoreLike

_ARGUMENTS = signature(create_array).parameters.keys() | signature(open_node).parameters.keys()


def save(
    store: StoreLike,
    *arrays: Any,
    path: str | None = None,
    zarr_format: int | str | None = None,
    overwrite: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    **named: Any,
) -> None:
    """Store one array, or several in a group.

    Parameters
    ----------
    store : store-like
        Location of the new node.
    *arrays, **named : array-like
        A single unnamed array becomes the node itself.  If there are several, the unnamed ones are
        called ``arr_0``, ``arr_1``, ...
    path, zarr_format, overwrite, storage_options
        As for :func:`zarr_core.create_array`.

    Raises
    ------
    NodeExistsError
        If a node exists already, and ``overwrite`` is false.
    TypeError
        If an array has the name of an argument of :func:`zarr_core.create_array` or :func:`zarr_core.open`.
    ValueError
        If no array is passed, or if two arrays have the same name.

    Notes
    -----
    If the call fails or is interrupted, everything that it has created is removed, or named in a
    note of the exception.

    Examples
    --------
    >>> import numpy as np
    >>> import zarr_core as zarr
    >>> zarr.save("both.zarr", x=np.arange(3), y=np.ones(2))
    >>> zarr.load("both.zarr")["x"]
    array([0, 1, 2])
    """
    options: dict[str, Any] = {
        "path": path, "zarr_format": zarr_format, "overwrite": overwrite,
        "storage_options": storage_options,
    }  # fmt: skip
    if len(arrays) == 1 and not named:
        create_array(store, data=arrays[0], **options).store.close()  # a zip file is complete
        return
    members = {f"arr_{number}": values for number, values in enumerate(arrays)}
    if both := sorted(members.keys() & named.keys()):
        raise ValueError(
            f"cannot save two arrays as {both[0]!r}: unnamed arrays are called arr_0, arr_1, ...; "
            "rename the keyword argument"
        )
    members.update(named)
    if not members:
        raise ValueError("nothing to save: pass at least one array")
    if wrong := sorted(named.keys() & _ARGUMENTS):
        raise TypeError(
            f"{wrong[0]!r} is an argument of create_array and open, and cannot be the name of a saved "
            "array: for one array pass it to create_array, for several to create_group and "
            f"group.create_array, which also accepts {wrong[0]!r} as a name"
        )
    with Rollback() as rollback, rollback.nested():
        group = create_group(store, **options)
        for name, value in members.items():
            group.create_array(name, data=value)
        group.store.close()


def load(store: StoreLike, *, path: str | None = None, **options: Any) -> Any:
    """Read an array, or all arrays directly below a group, into memory.

    Options as for :func:`zarr_core.open`.

    Returns
    -------
    ndarray, or dict of str to ndarray

    Examples
    --------
    >>> import numpy as np
    >>> import zarr_core as zarr
    >>> zarr.save("one.zarr", np.arange(3))
    >>> zarr.load("one.zarr")
    array([0, 1, 2])
    """
    check_names(options, _ARGUMENTS - {"mode"})
    node: Array | Group = open_node(store, "r", path=path, **options)
    if isinstance(node, Array):
        return np.asarray(node[...])
    return {name: np.asarray(member[...]) for name, member in node.arrays()}
