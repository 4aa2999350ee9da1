"""Contents of HDF5 files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_import.errors import UnsupportedSourceError, read_errors
from zarr_import.hdf5_attributes import attributes_of
from zarr_import.hdf5_chunks import EncodedChunks
from zarr_import.hdf5_dimensions import Dimensions, is_dimension_without_variable, netcdf_name
from zarr_import.hdf5_filters import filters_of
from zarr_import.hdf5_tree import Objects
from zarr_import.hdf5_types import dtype_of, elements_of, field_of, is_divided
from zarr_import.variable import Contents, SourceGroup, Variable

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core.extension import JSON

    from zarr_import.hdf5_tree import PathFilter

    NDArray = np.ndarray[Any, Any]


def hdf5_contents(
    h5py: Any, root: Any, path_filter: PathFilter, *, external: bool
) -> tuple[Contents, list[UnsupportedSourceError]]:
    """Find all objects below a group, or one dataset, that becomes the root.

    Also returns an error for each object that is not supported or damaged.  ``external`` tells
    whether to follow references to other files.  Raises SourceReadError if the root cannot be read.
    """
    objects = Objects(h5py, root, external=external) if isinstance(root, h5py.Group) else None
    nodes: list[tuple[str, Any]] = [("", root)]
    left_out: list[tuple[str, str]] = []
    if objects is not None:
        nodes = path_filter.select([*objects.found, *objects.problems])
        left_out += ((f"/{path}", reason) for path, reason in objects.left_out if path_filter(path))
    every = [node for _, node in (nodes if objects is None else objects.found)]
    datasets = [node for node in every if isinstance(node, h5py.Dataset)]
    dimensions = Dimensions(datasets)
    with read_errors(f"{root.file.filename} {root.name}", "the attributes"):
        netcdf = "_NCProperties" in root.file.attrs or dimensions.has_dimids
    contents = Contents([], left_out)
    problems: list[UnsupportedSourceError] = []
    for path, node in nodes:
        if isinstance(node, UnsupportedSourceError):
            problems.append(node)
            continue
        parent, _, name = path.rpartition("/")
        try:
            with read_errors(f"/{path}"):
                if isinstance(node, h5py.Group):
                    contents.nodes.append(_source_group(h5py, node, path, problems, netcdf=netcdf))
                elif is_dimension_without_variable(node):
                    left_out.append((node.name, "a NetCDF dimension without a variable"))
                else:
                    name = netcdf_name(name) if netcdf else name
                    new_path = f"{parent}/{name}" if parent else name
                    if not external:
                        _check_external_files(node)
                    contents.nodes.extend(_nodes(h5py, node, new_path, dimensions, netcdf=netcdf))
        except UnsupportedSourceError as problem:
            problems.append(problem)
    return contents, problems


def _source_group(
    h5py: Any, group: Any, path: str, problems: list[UnsupportedSourceError], *, netcdf: bool
) -> SourceGroup:
    """Read a group; drop damaged attributes so that its members stay readable."""
    notes: list[str] = []
    attributes: dict[str, JSON] = {}
    try:
        with read_errors(f"/{path}", "the attributes of this group"):
            attributes, _ = attributes_of(h5py, group, netcdf=netcdf, notes=notes)
    except UnsupportedSourceError as problem:
        problems.append(problem)
        notes.append("the attributes cannot be read and are ignored")
    return SourceGroup(path, group.name, attributes, notes)


def _nodes(
    h5py: Any, dataset: Any, path: str, dimensions: Dimensions, *fields: str, netcdf: bool
) -> list[SourceGroup | Variable]:
    """Return the array of a dataset, or of a field; or a group with an array for each field."""
    dtype = dtype_of(dataset, fields)
    notes: list[str] = []
    attributes: dict[str, JSON] = {}
    missing = None
    if not fields:  # otherwise they are attributes of the group
        attributes, missing = attributes_of(h5py, dataset, netcdf=netcdf, notes=notes)
    if not is_divided(dtype) or any("/" in name for name in dtype.names or ()):
        return [_variable(h5py, dataset, path, dimensions, fields, attributes, missing, notes)]
    notes += ["has fields that are arrays or of variable length; stored as an array for each field"]
    nodes: list[SourceGroup | Variable]
    nodes = [SourceGroup(path, "/".join((dataset.name, *fields)), attributes, notes)]
    for name in dtype.names or ():
        member = f"{path}/{name}" if path else name
        nodes += _nodes(h5py, dataset, member, dimensions, *fields, name, netcdf=netcdf)
    return nodes


def _variable(
    h5py: Any, dataset: Any, path: str, dimensions: Dimensions, fields: tuple[str, ...],
    attributes: dict[str, JSON], missing: Any, notes: list[str],
) -> Variable:  # fmt: skip
    elements = elements_of(h5py, dataset, fields)
    filters = filters_of(h5py, dataset, elements.itemsize)
    notes[:0] = [*elements.notes, *filters.notes]
    names = dimensions.names(dataset)
    if names is not None:
        names += (None,) * len(elements.inner_shape)
    shape = dataset.shape
    if shape is None:
        notes.append("has no dataspace; stored as an array of shape (0,)")
        shape = (0,)
    opened = LazyDataset(dataset, fields)
    stored = None
    if elements.exact and filters.exact and dataset.chunks is not None:
        stored = EncodedChunks(opened, elements.inner_shape)
    inner_shape = elements.inner_shape
    return Variable(
        path=path, source="/".join((dataset.name, *fields)), shape=shape + inner_shape,
        dtype=elements.dtype, read=lambda box: opened.read(box, elements.convert, len(inner_shape)),
        attributes={**elements.attributes, **attributes},
        chunks=None if dataset.chunks is None else dataset.chunks + inner_shape,
        dimension_names=names, fill_value=_fill_value(dataset, fields, elements.dtype),
        missing_value=missing, codecs=filters.codecs, serializer=elements.serializer,
        stored=stored, notes=notes, close=opened.close,
    )  # fmt: skip


class LazyDataset:
    """A dataset that is open, with h5py's chunk cache, only while it is read."""

    def __init__(self, dataset: Any, fields: tuple[str, ...]) -> None:
        self._parent, self._name, self._fields = dataset.file, dataset.name, fields
        self._called = f"{dataset.file.filename} {dataset.name}"
        self._dataset: Any = None

    def dataset(self) -> Any:
        """Return the dataset, opened if necessary."""
        if self._dataset is None:
            self._dataset = self._parent[self._name]
        return self._dataset

    def read(
        self, box: tuple[slice, ...], convert: Callable[[NDArray], NDArray] | None, inner_ndim: int
    ) -> NDArray:
        """Read elements with the data type of the new array."""
        box = box[: len(box) - inner_ndim]
        with read_errors(self._called):
            dataset, fields = self.dataset(), self._fields
            values = np.asarray((dataset.fields(fields[0]) if fields else dataset)[box])
            read: NDArray = field_of(values, fields[1:])
            return read if convert is None else convert(read)

    def read_chunk(self, corner: tuple[int, ...]) -> bytes:
        """Read the bytes of a chunk as they are stored."""
        with read_errors(self._called, f"the chunk at {corner}"):
            _, data = self.dataset().id.read_direct_chunk(corner)
            return bytes(data)

    def each_chunk(self, visit: Callable[[Any], None]) -> None:
        """Call a function with the h5py information about each stored chunk."""
        with read_errors(self._called, "the index of the chunks"):
            self.dataset().id.chunk_iter(visit)

    def close(self) -> None:
        """Close the dataset until it is read again."""
        self._dataset = None


def _fill_value(dataset: Any, fields: tuple[str, ...], dtype: Any) -> Any:
    """Return the value of elements that are not stored; None for zeros."""
    value = dataset.fillvalue if isinstance(dtype, np.dtype) else None
    if value is None:
        return None
    value = field_of(value, fields)
    if isinstance(value, np.ndarray):  # elements that are arrays
        value = value.reshape(-1)[0]
    fill = np.asarray(value).astype(dtype)[()]
    return fill if np.any(np.frombuffer(fill.tobytes(), "u1")) else None


def _check_external_files(dataset: Any) -> None:
    """Raise if elements are in other files, which the author of the file chose."""
    files = [name for name, *_ in dataset.external or ()]
    if dataset.is_virtual:
        files += [part.file_name for part in dataset.virtual_sources() if part.file_name != "."]
    if files:
        raise UnsupportedSourceError(
            dataset.name,
            f"elements are in other files ({files[0]!r}); pass external=True to read them if you "
            "trust this file",
        )
