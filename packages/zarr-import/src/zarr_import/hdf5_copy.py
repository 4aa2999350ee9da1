"""Copy objects between open HDF5 files and Zarr groups; zarr-compat calls it as zarr-python 2 did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import zarr_core
from zarr_core.errors import NodeExistsError, NodeNotFoundError
from zarr_core.extension import Location

from zarr_import._h5py import import_h5py
from zarr_import.hdf5 import import_hdf5
from zarr_import.hdf5_attributes import attributes_of
from zarr_import.hdf5_export import export_hdf5, set_attributes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

IfExists = Literal["raise", "replace", "skip"]


class CopyResult(NamedTuple):
    """What was copied."""

    copied: int
    """Number of groups and arrays that were copied."""
    skipped: int
    """Number of members that exist at the destination and were skipped."""
    nbytes: int
    """Bytes of the elements that were copied."""


def copy_hdf5(
    source: Any,
    dest: Any,
    name: str | None = None,
    *,
    if_exists: IfExists = "raise",
    log: Callable[[str], object] | Any = None,
    **options: Any,
) -> Any:
    """Copy an object of h5py into a Zarr group, or an array or group into a group of h5py.

    Parameters
    ----------
    source : h5py.Group, h5py.Dataset, Array or Group
        The object to copy.
    dest : Group, store-like or h5py.Group
        The group that contains the copy; with h5py on one of both sides.
    name : str, optional
        Path of the copy in ``dest``; by default the name of the source.
    if_exists : {"raise", "replace", "skip"}
        If there is an object of that name: raise an error, remove it with everything below it, or
        copy nothing.
    log : callable or file, optional
        Receives a line for each copy.
    **options
        As for :func:`import_hdf5` or :func:`export_hdf5`.

    Returns
    -------
    Array, Group, h5py.Dataset or h5py.Group
        The copy, or the existing object.

    Raises
    ------
    TypeError
        If not exactly one side is an object of h5py, or the source has no name.
    NodeExistsError
        If an object of that name exists in ``dest``.
    UnsupportedSourceError
        If an object is not supported, before anything is stored.
    """
    return _copy(source, dest, name, if_exists, log, options)[0]


def copy_all_hdf5(
    source: Any,
    dest: Any,
    *,
    if_exists: IfExists = "raise",
    log: Callable[[str], object] | Any = None,
    **options: Any,
) -> CopyResult:
    """Copy all members and the attributes of a group; parameters as for :func:`copy_hdf5`.

    Raises
    ------
    NodeExistsError
        If one of the members exists in ``dest``, before anything is copied.
    """
    h5py, imports = _direction(source, dest)
    members = [*source] if imports else [*source.keys()]
    if not imports:
        attributes = source.attrs.asdict()
        there: Any = dest
    else:
        attributes = attributes_of(h5py, source, netcdf=False, notes=[])[0]
        there, storage_options = dest, options.pop("storage_options", None)
        if storage_options or not isinstance(dest, zarr_core.Group):
            there = zarr_core.open_group(dest, "a", storage_options=storage_options)
    existing = {name for name in members if name in there}
    if existing and if_exists == "raise":
        raise NodeExistsError(_location(there, min(existing)))
    copied = nbytes = 0
    for name in members:
        if name in existing and if_exists == "skip":
            continue
        node = _copy(source[name], there, name, if_exists, log, options)[1]
        below = [] if isinstance(node, zarr_core.Array) else [*node.members(max_depth=None)]
        nodes = [node, *(member for _, member in below)]
        copied += len(nodes)
        nbytes += sum(item.nbytes for item in nodes if isinstance(item, zarr_core.Array))
    if imports:
        there.attrs.update(attributes)
    else:
        set_attributes(there, attributes)
    return CopyResult(copied, len(existing) if if_exists == "skip" else 0, nbytes)


def _copy(
    source: Any, dest: Any, name: str | None, if_exists: IfExists, log: Any, options: dict[str, Any]
) -> tuple[Any, zarr_core.Array | zarr_core.Group]:
    """Copy one object; return the copy, and the array or group at either side."""
    if if_exists not in ("raise", "replace", "skip"):
        raise ValueError(f'if_exists must be "raise", "replace" or "skip", not {if_exists!r}')
    _, imports = _direction(source, dest)
    name = (name if name is not None else (source.name or "").rpartition("/")[2]).strip("/")
    if not name:
        raise TypeError("the root has no name; pass one, or use copy_all")
    storage_options = options.get("storage_options")
    exists: Any = _find(dest, name, storage_options) if imports else dest.get(name)
    if exists is not None and if_exists == "raise":
        raise NodeExistsError(_location(dest, name))
    if exists is None or if_exists == "replace":
        if imports:
            import_hdf5(source, dest, path=name, overwrite=exists is not None, **options)
            exists = _find(dest, name, storage_options)
        else:
            export_hdf5(source, dest, name=name, overwrite=exists is not None, **options)
            exists = dest[name]
        if log is not None:
            write = log if callable(log) else lambda line: log.write(f"{line}\n")
            write(f"copy {source.name} to {exists.name}")
    return exists, exists if imports else source


def _direction(source: Any, dest: Any) -> tuple[Any, bool]:
    """Return the module h5py, and whether the source is one of its objects."""
    h5py = import_h5py()
    imports = isinstance(source, h5py.Group | h5py.Dataset)
    if imports == isinstance(dest, h5py.Group) or not (
        imports or isinstance(source, zarr_core.Array | zarr_core.Group)
    ):
        raise TypeError(
            "one of source and dest must be a group (or dataset) of h5py, and the other one of "
            f"zarr_core, not {type(source).__name__} and {type(dest).__name__}"
        )
    return h5py, imports


def _find(
    dest: Any, name: str, storage_options: Mapping[str, Any] | None
) -> zarr_core.Array | zarr_core.Group | None:
    try:
        return zarr_core.open(dest, path=name, storage_options=storage_options)
    except NodeNotFoundError:
        return None


def _location(dest: Any, name: str) -> Location | str:
    if isinstance(dest, zarr_core.Group):
        return Location(dest.store, f"{dest.path}/{name}".strip("/"))
    return f"{getattr(dest, 'file', dest)!s} {name!r}"
