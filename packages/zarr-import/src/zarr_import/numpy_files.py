"""Import NumPy files, and export arrays as NumPy files."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core import Array, Group
from zarr_core.optional import Reporter, reporter_for

from zarr_import.dtypes import pack_dtype
from zarr_import.elements import parts
from zarr_import.errors import (
    SourceReadError,
    UnsupportedSourceError,
    check_exists,
    describe,
    errors_of,
    read_error,
    read_errors,
)
from zarr_import.import_nodes import import_contents, open_target
from zarr_import.layout import Layout
from zarr_import.report import ImportReport
from zarr_import.variable import Contents, SourceGroup, Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    NDArray = np.ndarray[Any, Any]

_MEMORY = 1 << 28
_ENDING = ".npy"
_ZIP = (b"PK\3\4", b"PK\5\6")
_NPY = b"\x93NUMPY"


def import_numpy(
    source: Any,
    dest: Any,
    *,
    path: str = "",
    chunks: Any = "auto",
    shards: Any = None,
    codecs: Any = "auto",
    attributes: Mapping[str, Any] | None = None,
    dimension_names: Sequence[str | None] | None = None,
    fill_value: Any = None,
    zarr_format: int | str | None = None,
    max_memory: int = _MEMORY,
    overwrite: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    progress: Callable[[Any], object] | bool | None = None,
) -> ImportReport:
    """Import NumPy files, or arrays in memory, into a hierarchy.

    Parameters
    ----------
    source : path, array or mapping of names to arrays
        An ``.npy`` file becomes an array; an ``.npz`` file, or a mapping, a group of arrays.
    dest : store-like
        The destination: a path, URL, store or group, as for :func:`zarr_core.open`.
    path : str
        Path in ``dest``; for an open group by default the name of the file.
    chunks, shards, codecs
        As for :func:`import_hdf5`.
    attributes : mapping, optional
        Attributes of the array, or of the group.
    dimension_names : sequence of (str or None), optional
        Dimension names of a single array.
    fill_value : scalar, optional
        Value of elements that are not stored; by default zero.
    zarr_format, max_memory, overwrite, storage_options, progress
        As for :func:`import_hdf5`.

    Returns
    -------
    ImportReport

    Raises
    ------
    UnsupportedSourceError
        If elements are Python objects, or the data type is not supported.
    NodeExistsError
        If a node exists at the destination.
    SourceNotFoundError, SourceReadError
        If the file does not exist; if the file or a member is damaged or cannot be read.

    Notes
    -----
    Files are memory-mapped, so arrays can be larger than memory.  Compressed files are
    decompressed to a temporary file first.

    Examples
    --------
    >>> import numpy as np
    >>> import zarr_core as zarr
    >>> from zarr_import import import_numpy
    >>> np.save("a.npy", np.arange(6))
    >>> _ = import_numpy("a.npy", "imported.zarr", chunks=3)
    >>> zarr.open("imported.zarr")[4]
    np.int64(4)
    """
    named = isinstance(source, str | os.PathLike)
    if isinstance(dest, Group) and not path and named:
        path = Path(source).stem
    report = ImportReport(os.fspath(source) if named else type(source).__name__, "")
    with errors_of(report.source if named else ""), ExitStack() as stack:
        arrays = _arrays(source, stack)
        single = not isinstance(arrays, Mapping)
        plain_attributes = dict(attributes or {})
        nodes: list[SourceGroup | Variable] = []
        if isinstance(arrays, Mapping):
            if dimension_names is not None:
                raise ValueError("dimension_names is supported for a single array only")
            nodes = [*_source_groups(arrays, plain_attributes)]
            arrays = dict(sorted(arrays.items()))
        for name, values in ({"": arrays} if single else arrays).items():
            label = f"{report.source} {name}".strip()
            dtype = _check_dtype(values, label)
            variable = Variable(
                name, name or report.source, values.shape, dtype, _reader(values, dtype, label),
                plain_attributes if single else {}, fill_value=fill_value,
                dimension_names=None if dimension_names is None else tuple(dimension_names),
            )  # fmt: skip
            nodes.append(variable)
        target = open_target(dest, path, zarr_format, storage_options, overwrite=overwrite)
        report.dest = f"{target.store} {'/' + target.path!r}"
        import_contents(
            Contents(nodes), target, Layout(chunks, shards, codecs), report,
            unsupported="raise", max_memory=max_memory, consolidated=False, progress=progress,
        )  # fmt: skip
    return report


def _arrays(source: Any, stack: ExitStack) -> Any:
    """Return one array, or a mapping by name; files are mapped until the stack is closed."""
    if isinstance(source, Mapping):
        return {str(name).strip("/"): np.asarray(values) for name, values in source.items()}
    if not isinstance(source, str | os.PathLike):
        return np.asarray(source)
    check_exists(source)
    file_name = os.fspath(source)
    with read_errors(file_name), open(source, "rb") as opened:
        first = opened.read(6)
        is_zip = first.startswith(_ZIP) or (first != _NPY and zipfile.is_zipfile(opened))
    if not is_zip:
        return _load_mapped(source, file_name)
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    arrays: dict[str, NDArray] = {}
    with read_errors(file_name, "the list of members; the file is not a complete .npz file"):
        archive = stack.enter_context(zipfile.ZipFile(source))
        members = archive.infolist()
    for number, member in enumerate(members):
        label = f"{file_name} {member.filename}"
        name = member.filename.removesuffix(_ENDING).strip("/")
        if not name or name in arrays:
            reason = "has the name of another member" if name else "has no name"
            raise SourceReadError(label, f"this member of the file {reason}")
        unpacked = Path(folder, f"{number}{_ENDING}")
        with (
            read_errors(label, "this member of the file"),
            archive.open(member) as packed_file,
            open(unpacked, "wb") as file,
        ):
            shutil.copyfileobj(packed_file, file)
        arrays[name] = _load_mapped(unpacked, label)
    return arrays


def _load_mapped(path: Any, label: str) -> NDArray:
    try:
        try:
            mapped = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError:  # empty arrays cannot be mapped
            mapped = np.load(path, allow_pickle=False)
    except Exception as error:  # NumPy parses the header as Python: SyntaxError, TokenError, ...
        reason = (
            f"is not a complete .npy file with fixed-size elements ({describe(error)}); Python "
            "objects are not supported, because unpickling can run arbitrary code"
        )
        raise read_error(label, error, reason) from error
    if not isinstance(mapped, np.ndarray):  # np.load also opens nested archives
        mapped.close()
        raise SourceReadError(label, "is an archive of arrays, not an .npy file")
    return mapped


def _source_groups(arrays: Mapping[str, Any], attributes: dict[str, Any]) -> Iterator[SourceGroup]:
    """Yield the groups above some arrays, parents first."""
    yield SourceGroup("", "/", attributes)
    paths = {
        "/".join(name.split("/")[:depth])
        for name in arrays
        for depth in range(1, name.count("/") + 1)
    }
    for path in sorted(paths):
        yield SourceGroup(path, path)


def _check_dtype(values: NDArray, name: str) -> Any:
    if values.dtype.kind == "O":
        raise UnsupportedSourceError(
            name, "elements are Python objects; convert them, for example with array.astype(str)"
        )
    return values.dtype if values.dtype.kind == "T" else pack_dtype(values.dtype, name)


def _reader(values: NDArray, dtype: Any, label: str) -> Callable[[tuple[slice, ...]], NDArray]:
    def read(box: tuple[slice, ...]) -> NDArray:
        with read_errors(label):
            return np.asarray(values[box]).astype(dtype, copy=False)

    return read


def export_numpy(
    source: Array | Group,
    file: str | os.PathLike[str],
    *,
    max_memory: int = _MEMORY,
    overwrite: bool = False,
    progress: Callable[[Any], object] | bool | None = None,
) -> None:
    """Write an array as an ``.npy`` file, or all arrays of a group as an ``.npz`` file.

    Parameters
    ----------
    source : Array or Group
        The array or group to write; of a group, all arrays at any depth.
    file : path
        The file, which is created after it is complete.
    max_memory : int
        Maximum number of bytes of elements in memory; one stored object always fits.
    overwrite : bool
        Whether to overwrite an existing file.
    progress : callable or True, optional
        As for :func:`import_numpy`.

    Raises
    ------
    FileExistsError
        If the file exists and ``overwrite`` is false.
    UnsupportedSourceError
        If elements have a variable length, which NumPy files do not support.
    """
    path = Path(file)
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists; pass overwrite=True to overwrite it")
    arrays = [("", source)] if isinstance(source, Array) else [*source.arrays(max_depth=None)]
    for name, array in arrays:
        if array.dtype.hasobject or array.dtype.kind == "T":
            raise UnsupportedSourceError(
                name or array.name,
                f"elements of {array.metadata.data_type.name} have no fixed size, which NumPy "
                "files require; read the array and save array.astype(str)",
            )
    parent = path.absolute().parent  # in the file system of the file
    with (
        reporter_for(progress, len(arrays)) as reporter,
        tempfile.TemporaryDirectory(dir=parent, prefix=f".{path.name}.") as folder,
    ):
        temporary = Path(folder, f"temporary{_ENDING}")
        if isinstance(source, Array):
            _write(source, temporary, max_memory, reporter)
        else:
            single, temporary = temporary, Path(folder, "temporary.npz")
            with zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
                for name, array in arrays:
                    _write(array, single, max_memory, reporter)
                    archive.write(single, f"{name}{_ENDING}")
        os.replace(temporary, path)


def _write(array: Array, path: Path, max_memory: int, reporter: Reporter) -> None:
    reporter.begin(array.path, array.size, "elements")
    if not array.ndim or not array.size:
        np.save(path, np.asarray(array[...]))
    else:
        mapped = np.lib.format.open_memmap(path, "w+", array.dtype, array.shape)
        stored = array.shards or array.chunks
        for box in parts(array.shape, stored, max_memory // array.dtype.itemsize):
            values = array[box]
            mapped[box] = values
            reporter.advance(values.size)
        mapped.flush()
        del mapped
    reporter.end()
