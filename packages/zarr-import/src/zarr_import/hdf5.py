"""Import HDF5 files, including NetCDF-4."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.messages import listed

from zarr_import.errors import errors_of
from zarr_import.hdf5_tree import PathFilter
from zarr_import.import_nodes import import_contents, open_target
from zarr_import.layout import Layout
from zarr_import.reader_process import open_in_process
from zarr_import.report import ImportReport
from zarr_import.source import open_source, source_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_MEMORY = 1 << 28


def import_hdf5(
    source: Any,
    dest: Any,
    *,
    path: str = "",
    group: str = "/",
    include: str | Iterable[str] | None = None,
    exclude: str | Iterable[str] | None = None,
    chunks: Any = None,
    shards: Any = None,
    codecs: Any = None,
    zarr_format: int | str | None = None,
    consolidated: bool = False,
    max_memory: int = _MEMORY,
    overwrite: bool = False,
    unsupported: Literal["raise", "skip"] = "raise",
    external: bool = False,
    timeout: float | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: Callable[[Any], object] | bool | None = None,
) -> ImportReport:
    """Import an HDF5 or NetCDF file into a hierarchy.

    Parameters
    ----------
    source : path, binary file object, h5py.File, h5py.Group or h5py.Dataset
        The file, group or dataset to import.
    dest : store-like
        The destination: a path, URL, store or group, as for :func:`zarr_core.open`.
    path : str
        Path in ``dest`` of the root of the imported nodes.
    group : str
        Path of the group or dataset in ``source`` that becomes the root.
    include, exclude : str or iterable of str, optional
        Paths below ``group`` of objects to import or not to import; ``*`` matches anything.
    chunks : None, "auto", int, sequence or mapping
        None for the chunks of the source, or chunks of about 1 MiB if it has none; a mapping
        contains them by path.
    shards : None, "auto", int or sequence
        Shards, as for :func:`zarr_core.create_array`.
    codecs : None, "auto", or sequence of codecs
        None for the codecs that correspond to the filters of the source; ``"auto"`` for the
        default codecs, which arrays without filters always get.  With None, encoded chunks are
        copied if chunks and data type are those of the source, too.  The first chunk of each
        array is read back and compared.
    zarr_format : int or str, optional
        As for :func:`zarr_core.create_array`.
    consolidated : bool
        Whether the metadata is consolidated at the end.
    max_memory : int
        Maximum number of bytes of elements in memory; one stored object always fits.
    overwrite : bool
        Whether an existing node is removed first, with everything below it.
    unsupported : {"raise", "skip"}
        What to do with datasets that Zarr does not support, or that cannot be read.
    external : bool
        Whether to follow references to other files: links, raw data and virtual datasets.
        The author of the file chooses which of your files are read.
    timeout : float, optional
        Read the file in a child process, and raise if it does not answer within this number of
        seconds.  Use it for files from untrusted sources: libhdf5 can hang or crash on a
        damaged file, and a hang cannot be stopped within this process.  ``source`` must be
        a path.  None reads the file in this process, without a limit.
    storage_options : mapping, optional
        Options for the store if ``dest`` is a URL.
    progress : callable or True, optional
        Called with a ``zarr_transfer.Progress`` a few times a second; True shows a progress
        bar on standard error.

    Returns
    -------
    ImportReport
        The imported nodes with all differences, and the objects that were not imported.

    Raises
    ------
    UnsupportedSourceError
        If an object is not supported, before anything is stored.
    SourceNotFoundError
        If the file does not exist; also a ``FileNotFoundError``.
    SourceReadError
        If the file, or an object in it, is damaged or cannot be read, or the child process
        does not answer within ``timeout``.  A subclass of ``UnsupportedSourceError``.
    NodeExistsError
        If a node exists at the destination.
    ImportError
        If h5py is not installed.

    Notes
    -----
    Metadata documents are stored after everything below them, that of the root last.  An
    interrupted import is not a hierarchy yet, and the same call resumes it.

    Examples
    --------
    >>> import h5py
    >>> import zarr_core as zarr
    >>> from zarr_import import import_hdf5
    >>> with h5py.File("a.h5", "w") as file:
    ...     file["x"] = [1, 2, 3]
    >>> _ = import_hdf5("a.h5", "from_hdf5.zarr")
    >>> zarr.open("from_hdf5.zarr")["x"][...]
    array([1, 2, 3])
    """
    label = source_name(source)
    report = ImportReport(label, "")
    path_filter = PathFilter(include, exclude)
    open_ = open_source if timeout is None else partial(open_in_process, timeout=timeout)
    opened = open_(source, group, path_filter, max_memory, external=external)
    with errors_of(label), opened as (contents, problems):
        root_failed = not contents.nodes or bool(contents.nodes[0].path)
        if problems and (unsupported == "raise" or root_failed):
            first, *others = problems
            more = f"; also {listed([other.source for other in others], 5)}" if others else ""
            if not root_failed:
                more += '; pass unsupported="skip" to skip such objects'
            raise type(first)(first.source, f"{first.reason}{more}")
        contents.left_out.extend((problem.source, problem.reason) for problem in problems)
        target = open_target(dest, path, zarr_format, storage_options, overwrite=overwrite)
        report.dest = f"{target.store} {'/' + target.path!r}"
        import_contents(
            contents, target, Layout(chunks, shards, codecs), report,
            unsupported=unsupported, max_memory=max_memory, consolidated=consolidated,
            progress=progress,
        )  # fmt: skip
    return report
