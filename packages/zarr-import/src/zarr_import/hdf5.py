"""HDF5 files, those of NetCDF-4 among them, brought into a hierarchy."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zarr_import._h5py import library
from zarr_import.hdf5_attributes import attributes_of
from zarr_import.hdf5_chunks import EncodedChunks
from zarr_import.hdf5_dimensions import Dimensions, is_bare_dimension, shown_name
from zarr_import.hdf5_filters import filters_of
from zarr_import.hdf5_tree import Choice, Objects
from zarr_import.hdf5_types import elements_of
from zarr_import.importing import bring, open_target
from zarr_import.layout import Layout
from zarr_import.netcdf3 import is_netcdf3, netcdf3_contents
from zarr_import.report import ImportReport
from zarr_import.unsupported import UnsupportedSourceError
from zarr_import.variable import Contents, Folder, Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from zarr_core.extension import Progress

    NDArray = np.ndarray[Any, Any]

_MEMORY = 1 << 28


def import_hdf5(
    source: Any,
    place: Any,
    *,
    path: str = "",
    group: str = "/",
    include: str | Iterable[str] | None = None,
    exclude: str | Iterable[str] | None = None,
    chunks: Any = None,
    shards: Any = None,
    codecs: Any = None,
    copy_chunks: bool = True,
    zarr_format: int | str | None = None,
    consolidated: bool = False,
    max_memory: int = _MEMORY,
    overwrite: bool = False,
    unsupported: Literal["raise", "skip"] = "raise",
    external: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    progress: Callable[[Progress], object] | bool | None = None,
) -> ImportReport:
    """Bring an HDF5 or NetCDF file into a hierarchy.

    Parameters
    ----------
    source : path, binary file object, h5py.File, h5py.Group or h5py.Dataset
        What to import.
    place : store-like
        Where to: a path, a URL, a store, a group; see :func:`zarr_core.open`.
    path : str
        Path in that place, which becomes the root of what is imported.
    group : str
        The group or dataset of the file that becomes it.
    include, exclude : str or iterable of str, optional
        Paths below ``group`` of what is wanted, or is not; ``*`` stands for anything.
    chunks : None, "auto", int, sequence or mapping
        None for the chunks of the source, and chunks of about 1 MiB where it has none; a
        mapping gives them by path.
    shards : None, "auto", int or sequence
        Shards, as for :func:`zarr_core.create_array`.
    codecs : None, "auto", or sequence of codecs
        None for what the filters of the source are here; ``"auto"`` for those of new
        arrays, which is what arrays without filters get in any case.
    copy_chunks : bool
        Whether chunks are taken as they are stored if codecs, chunks and data type are
        just those of the source.  The first of each array is read back and compared.
    zarr_format : int or str, optional
        As for :func:`zarr_core.create_array`.
    consolidated : bool
        Whether metadata are consolidated at the end.
    max_memory : int
        Bytes that elements may take at a time; at least a stored object is held.
    overwrite : bool
        Whether a node that is there already is removed first, with all below it.
    unsupported : {"raise", "skip"}
        What to do about datasets that Zarr has no data type for, or that cannot be read.
    external : bool
        Whether to follow what leads to other files: links, raw data and parts of virtual
        datasets.  Whoever has made the file chooses which files of yours are read.
    storage_options : mapping, optional
        Further arguments for the store that a URL names.
    progress : callable or True, optional
        Called with a :class:`zarr_core.Progress` a few times a second; True draws a line on
        standard error.

    Returns
    -------
    ImportReport
        What was made of what, with what changes; what was left out, and why.

    Raises
    ------
    UnsupportedSourceError
        If something cannot be brought over, before anything is stored.
    NodeExistsError
        If there is something already.
    ImportError
        If h5py is not installed.
    OSError
        If the source cannot be read.

    Notes
    -----
    Documents are stored after what they describe, that of the root last: what was
    interrupted is no hierarchy yet, and is continued by the same call.
    """
    report = ImportReport(_called(source), "")
    with _contents(source, group, Choice(include, exclude), max_memory, external=external) as (
        contents,
        problems,
    ):
        if problems and unsupported == "raise":
            first = problems[0]
            raise UnsupportedSourceError(
                first.source, f'{first.reason}; unsupported="skip" leaves it out'
            )
        contents.left_out.extend((problem.source, problem.reason) for problem in problems)
        target = open_target(place, path, zarr_format, storage_options, overwrite=overwrite)
        report.place = f"{target.store} {'/' + target.path!r}"
        bring(
            contents, target, Layout(chunks, shards, codecs, copy_chunks), report,
            unsupported=unsupported, max_memory=max_memory, consolidated=consolidated,
            progress=progress,
        )  # fmt: skip
    return report


def _called(source: Any) -> str:
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    file = getattr(source, "file", None)
    return str(getattr(file, "filename", None) or getattr(source, "name", None) or source)


@contextmanager
def _contents(
    source: Any, group: str, choice: Choice, max_memory: int, *, external: bool
) -> Iterator[tuple[Contents, list[UnsupportedSourceError]]]:
    """What a source holds; open as long as it is read."""
    if is_netcdf3(source):
        with netcdf3_contents(source, choice) as contents:
            yield contents, []
        return
    h5py = library()
    if isinstance(source, h5py.Group | h5py.Dataset):
        yield _of(
            h5py, source[group] if isinstance(source, h5py.Group) else source, choice, external
        )
        return
    # With room for chunks of the source that several of the new ones need.
    try:
        file = h5py.File(source, "r", rdcc_nbytes=max(1 << 20, max_memory // 4))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnsupportedSourceError(_called(source), f"is no file of HDF5 ({error})") from error
    with file:
        if group not in file:
            raise UnsupportedSourceError(f"{_called(source)} {group!r}", "no such group or dataset")
        yield _of(h5py, file[group], choice, external)


def _of(
    h5py: Any, root: Any, choice: Choice, external: bool
) -> tuple[Contents, list[UnsupportedSourceError]]:
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
            place = f"{parent}/{shown_name(name)}" if parent else shown_name(name)
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
