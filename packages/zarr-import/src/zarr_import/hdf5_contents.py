"""What an HDF5 file holds, as nodes of a hierarchy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_import.hdf5_attributes import attributes_of
from zarr_import.hdf5_chunks import EncodedChunks
from zarr_import.hdf5_dimensions import Dimensions, is_bare_dimension, shown_name
from zarr_import.hdf5_filters import filters_of
from zarr_import.hdf5_tree import Objects
from zarr_import.hdf5_types import elements_of
from zarr_import.unsupported import UnsupportedSourceError
from zarr_import.variable import Contents, Folder, Variable

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_import.hdf5_tree import Choice

    NDArray = np.ndarray[Any, Any]


def hdf5_contents(
    h5py: Any, root: Any, choice: Choice, *, external: bool
) -> tuple[Contents, list[UnsupportedSourceError]]:
    """Find what is below a group; or a dataset alone.

    Parameters
    ----------
    h5py : module
        The library.
    root : h5py.Group or h5py.Dataset
        What becomes the root.
    choice : Choice
        What is wanted.
    external : bool
        Whether what leads to other files is followed.

    Returns
    -------
    contents : Contents
    problems : list of UnsupportedSourceError
        One for each dataset that cannot be brought over.
    """
    objects = Objects(h5py, root, external=external) if isinstance(root, h5py.Group) else None
    found = [("", root)] if objects is None else choice.of(objects.found)
    left_out = [] if objects is None else [
        (f"/{path}", reason) for path, reason in objects.left_out if choice(path)
    ]  # fmt: skip
    every = [node for _, node in found] if objects is None else [it for _, it in objects.found]
    datasets = [node for node in every if isinstance(node, h5py.Dataset)]
    dimensions = Dimensions(datasets)
    netcdf = "_NCProperties" in root.file.attrs or any(
        "_Netcdf4Dimid" in node.attrs for node in datasets
    )
    contents = Contents([], left_out)
    problems: list[UnsupportedSourceError] = []
    for path, node in found:
        notes: list[str] = []
        if isinstance(node, h5py.Group):
            attributes, _ = attributes_of(h5py, node, netcdf=netcdf, notes=notes)
            contents.nodes.append(Folder(path, node.name, attributes, notes))
        elif is_bare_dimension(node):
            left_out.append((node.name, "a dimension of NetCDF without a variable"))
        else:
            parent, _, name = path.rpartition("/")
            name = shown_name(name) if netcdf else name
            place = f"{parent}/{name}" if parent else name
            try:
                contents.nodes.append(
                    _variable(h5py, node, place, dimensions, netcdf=netcdf, external=external)
                )
            except UnsupportedSourceError as problem:
                problems.append(problem)
    return contents, problems


def _variable(
    h5py: Any, dataset: Any, path: str, dimensions: Dimensions, *, netcdf: bool, external: bool
) -> Variable:
    if not external:
        _refuse_other_files(dataset)
    elements = elements_of(h5py, dataset)
    filters = filters_of(h5py, dataset, elements.itemsize)
    notes = [*elements.notes, *filters.notes]
    attributes, missing = attributes_of(h5py, dataset, netcdf=netcdf, notes=notes)
    names = dimensions.names(dataset)
    if names is not None:
        names += (None,) * len(elements.within)
    shape = dataset.shape
    if shape is None:
        notes.append("has no dataspace, which becomes an array of shape (0,)")
        shape = (0,)
    opened = Reopened(dataset)
    stored = None
    if elements.exact and filters.exact and dataset.chunks is not None:
        stored = EncodedChunks(opened.dataset, elements.within)
    within = elements.within
    return Variable(
        path=path, source=dataset.name, shape=shape + within, dtype=elements.dtype,
        read=lambda box: opened.read(box, elements.convert, len(within)),
        attributes={**elements.attributes, **attributes},
        chunks=None if dataset.chunks is None else dataset.chunks + within,
        dimension_names=names, fill_value=_fill_value(dataset, elements.dtype),
        missing_value=missing, codecs=filters.codecs, serializer=elements.serializer,
        stored=stored, notes=notes, close=opened.close,
    )  # fmt: skip


class Reopened:
    """A dataset that is open, with the chunks that h5py remembers, only while it is read.

    Parameters
    ----------
    dataset : h5py.Dataset
        The dataset.
    """

    def __init__(self, dataset: Any) -> None:
        self._parent, self._name = dataset.file, dataset.name
        self._dataset: Any = None

    def dataset(self) -> Any:
        """The dataset, opened if it is not."""
        if self._dataset is None:
            self._dataset = self._parent[self._name]
        return self._dataset

    def read(
        self, box: tuple[slice, ...], convert: Callable[[NDArray], NDArray] | None, within: int
    ) -> NDArray:
        """Elements as those of the new array."""
        box = box[: len(box) - within]
        read = np.asarray(self.dataset()[box])
        return read if convert is None else convert(read)

    def close(self) -> None:
        """Forget it, until it is read again."""
        self._dataset = None


def _fill_value(dataset: Any, dtype: Any) -> Any:
    """What elements are that are not stored; None for zeros."""
    if not isinstance(dtype, np.dtype):
        return None
    value = dataset.fillvalue
    if value is None:
        return None
    if isinstance(value, np.ndarray):  # of elements that are arrays
        value = value.reshape(-1)[0]
    fill = np.asarray(value).astype(dtype)[()]
    return fill if np.any(np.frombuffer(fill.tobytes(), "u1")) else None


def _refuse_other_files(dataset: Any) -> None:
    """Raise if elements are in files that someone else has chosen."""
    files = [name for name, *_ in dataset.external or ()]
    if dataset.is_virtual:
        files += [part.file_name for part in dataset.virtual_sources() if part.file_name != "."]
    if files:
        raise UnsupportedSourceError(
            dataset.name,
            f"elements are in other files ({files[0]!r}); external=True reads them, if you trust "
            "who made this one",
        )
