"""Write hierarchies as HDF5 files, which NetCDF libraries can read."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core import Array, Group
from zarr_core.optional import Reporter, reporter_for
from zarr_transfer.conventions import DIMENSIONS, MASK, decode_mask

from zarr_import._h5py import import_h5py
from zarr_import.elements import parts
from zarr_import.errors import UnsupportedSourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


_MEMORY = 1 << 28
_NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable. {:10}"
_GZIP = {"compression": "gzip", "compression_opts": 4, "shuffle": True}


def export_hdf5(
    source: Array | Group,
    file: str | os.PathLike[str] | Any,
    *,
    name: str | None = None,
    filters: Mapping[str, Any] | None = None,
    max_memory: int = _MEMORY,
    overwrite: bool = False,
    progress: Callable[[Any], object] | bool | None = None,
) -> None:
    """Write an array, or a group with everything below it, to HDF5.

    Parameters
    ----------
    source : Array or Group
        The array or group to write.
    file : path or h5py.Group
        The file, which is created after it is complete; or a group of an open file.
    name : str, optional
        Path of the array in the file, by default its own name; or of the group, by default the
        root of the file, or the group that is passed.
    filters : mapping, optional
        Arguments of h5py's ``create_dataset`` for the encoding of chunks; by default gzip and
        byte shuffle, which all HDF5 libraries support.
    max_memory : int
        Maximum number of bytes of elements in memory; one stored object always fits.
    overwrite : bool
        Whether to overwrite an existing file, or existing objects in a group.
    progress : callable or True, optional
        As for :func:`zarr_import.import_hdf5`.

    Raises
    ------
    FileExistsError
        If the file or an object in the group exists and ``overwrite`` is false.
    UnsupportedSourceError
        If HDF5 does not support the data type of an array, before anything is written.

    Notes
    -----
    Dimension names become dimension scales, as in NetCDF; if arrays of a group use a name
    with several lengths, they become labels only.  Attributes that are objects, or lists of
    values of several types, are written as JSON.
    """
    h5py = import_h5py()
    path = None if isinstance(file, h5py.Group) else Path(file)
    if path is not None and path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists; pass overwrite=True to overwrite it")
    members: list[tuple[str, Array | Group]] = (
        [(name or source.basename or "data", source)]
        if isinstance(source, Array)
        else [*source.members(max_depth=None)]
    )
    arrays = {member: node for member, node in members if isinstance(node, Array)}
    types = {member: _type(h5py, array) for member, array in arrays.items()}
    with reporter_for(progress, len(arrays)) as reporter:

        def write(target: Any) -> None:
            if isinstance(source, Group):
                set_attributes(target, source.attrs.asdict())
            for member, node in members:
                if isinstance(node, Group):
                    set_attributes(target.require_group(member), node.attrs.asdict())
                else:
                    _write(
                        h5py, target, member, node, types[member],
                        _GZIP if filters is None else filters, max_memory, reporter,
                    )  # fmt: skip
            _name_dimensions(target, arrays)

        below = (name or "") if isinstance(source, Group) else ""
        if path is None:
            _write_within(file, below, [member for member, _ in members], overwrite, write)
            return
        with tempfile.TemporaryDirectory(
            dir=path.absolute().parent, prefix=f".{path.name}."
        ) as folder:
            temporary = os.path.join(folder, "temporary.h5")
            with h5py.File(temporary, "w") as target:
                write(target.create_group(below) if below.strip("/") else target)
            os.replace(temporary, path)


def _write_within(
    file: Any,
    below: str,
    paths: Sequence[str],
    overwrite: bool,
    write: Callable[[Any], None],
) -> None:
    """Write to a group of an open file; after an error, new objects are removed."""
    below = below.strip("/")
    created = [below] if below else [path for path in paths if path.rpartition("/")[0] not in paths]
    for new in created:
        if new in file:
            if not overwrite:
                raise FileExistsError(
                    f"{file.file.filename} has {file.name.rstrip('/')}/{new}; pass "
                    "overwrite=True to overwrite it"
                )
            del file[new]
    try:
        write(file.create_group(below) if below else file)
    except BaseException:
        for new in created:
            if new in file:
                del file[new]
        raise


def _type(h5py: Any, array: Array) -> Any:
    """Return the data type of the elements in the file."""
    dtype = array.dtype
    if dtype.kind == "T" or array.metadata.data_type.name == "string":
        return h5py.string_dtype()
    if dtype.kind in "mM":
        return h5py.opaque_dtype(dtype)
    # Data types that other packages add to NumPy would become opaque.
    foreign = dtype.kind == "V" and dtype.names is None and dtype.type is not np.void
    if foreign or dtype.hasobject:
        raise UnsupportedSourceError(
            array.name, f"HDF5 does not support the data type {array.metadata.data_type.name}"
        )
    return dtype


def _write(
    h5py: Any,
    target: Any,
    path: str,
    array: Array,
    dtype: Any,
    filters: Mapping[str, Any],
    max_memory: int,
    reporter: Reporter,
) -> None:
    reporter.begin(path, array.size, "elements")
    text = h5py.check_string_dtype(dtype) is not None and array.dtype.kind not in "SU"
    options: dict[str, Any] = {}
    if array.ndim and array.size and isinstance(array.chunks[0], int):
        chunks = tuple(
            min(length, size) for length, size in zip(array.chunks, array.shape, strict=True)
        )
        options = {"chunks": chunks, **filters}
    if not text and array.fill_value is not None and array.dtype.kind in "biufc":
        options["fillvalue"] = array.fill_value
    dataset = target.create_dataset(path, array.shape, dtype, **options)
    attributes = array.attrs.asdict()
    attributes.pop(DIMENSIONS, None)
    missing = attributes.pop(MASK, None)
    if missing is not None:
        dataset.attrs[MASK] = array.dtype.type(decode_mask(missing, array.dtype))
    elif array.zarr_format == 2 and "fillvalue" in options:
        dataset.attrs[MASK] = array.dtype.type(options["fillvalue"])
    set_attributes(dataset, attributes)
    stored = array.shards or array.chunks
    size = array.dtype.itemsize or 64
    if not array.ndim:
        dataset[()] = str(array[()]) if text else np.asarray(array[()]).astype(dtype)
    elif array.size:
        for box in parts(array.shape, stored, max_memory // (2 * size)):
            values = np.asarray(array[box])
            # h5py attaches information to the dtype, so a copy is passed.
            dataset[box] = values.astype(object) if text else values.astype(dtype)
            reporter.advance(values.size)
    reporter.end()


def set_attributes(target: Any, attributes: Mapping[str, Any]) -> None:
    """Set attributes of an object of h5py; those that HDF5 does not support become JSON."""
    for name, value in attributes.items():
        kinds = {type(item) for item in value} if isinstance(value, list) else {type(value)}
        plain = len(kinds) == 1 and kinds <= {str, int, float, bool}
        target.attrs[name] = value if plain else json.dumps(value)


def _name_dimensions(target: Any, arrays: Mapping[str, Array]) -> None:
    """Create dimension scales for dimension names, or labels if lengths differ."""
    lengths: dict[tuple[str, str], set[int]] = {}
    for path, array in arrays.items():
        for name, size in zip(_names(array), array.shape, strict=True):
            if name:
                lengths.setdefault((path.rpartition("/")[0], name), set()).add(size)
    for path, array in arrays.items():
        dataset = target[path]
        group = path.rpartition("/")[0]
        for axis, name in enumerate(_names(array)):
            if not name or len(lengths[group, name]) > 1 or "/" in name:
                dataset.dims[axis].label = name or ""
                continue
            scale = _scale(target[group] if group else target, name, array.shape[axis])
            if scale is None:
                dataset.dims[axis].label = name
            elif scale != dataset:
                dataset.dims[axis].attach_scale(scale)


def _names(array: Array) -> tuple[str | None, ...]:
    names: Any = array.dimension_names or array.attrs.get(DIMENSIONS) or ()
    return tuple(names) if len(names) == array.ndim else (None,) * array.ndim


def _scale(group: Any, name: str, size: int) -> Any:
    """Return the scale of a dimension: the variable of that name, or one without a variable."""
    if name not in group:
        scale = group.create_dataset(name, (size,), ">f4")
        scale.make_scale(_NO_VARIABLE.format(size))
        return scale
    scale = group[name]
    if getattr(scale, "shape", None) != (size,):
        return None
    if not scale.is_scale:
        scale.make_scale(name)
    return scale
