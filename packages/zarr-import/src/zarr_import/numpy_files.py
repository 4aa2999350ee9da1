"""NumPy files as sources of hierarchies, or made of their arrays."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core import Array, Group
from zarr_core.extension import ProgressReporter

from zarr_import.dtypes import packed
from zarr_import.elements import parts
from zarr_import.importing import bring, open_target
from zarr_import.layout import Layout
from zarr_import.report import ImportReport
from zarr_import.unsupported import UnsupportedSourceError
from zarr_import.variable import Contents, Folder, Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zarr_core.extension import Progress

    NDArray = np.ndarray[Any, Any]

_MEMORY = 1 << 28
_ENDING = ".npy"


def import_numpy(
    source: Any,
    place: Any,
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
    progress: Callable[[Progress], object] | bool | None = None,
) -> ImportReport:
    """Bring NumPy's files, or arrays in memory, into a hierarchy.

    Parameters
    ----------
    source : path, array or mapping of names to arrays
        An ``.npy`` file becomes an array; an ``.npz`` file, or a mapping, a group of arrays.
    place : store-like
        Where to: a path, a URL, a store, a group; see :func:`zarr_core.open`.
    path : str
        Path in that place; in a group that is open, by default the name of the file.
    chunks, shards, codecs
        As for :func:`import_hdf5`.
    attributes : mapping, optional
        Attributes of the array, or of the group.
    dimension_names : sequence of (str or None), optional
        Names of the dimensions, of a single array.
    fill_value : scalar, optional
        What elements are that are not stored; zero by default.
    zarr_format, max_memory, overwrite, storage_options, progress
        As for :func:`import_hdf5`.

    Returns
    -------
    ImportReport

    Raises
    ------
    UnsupportedSourceError
        If elements are Python objects, or there is no data type for them.
    NodeExistsError
        If there is something already.
    OSError, ValueError
        If the source cannot be read.

    Notes
    -----
    Files are mapped into memory, so that arrays may be larger than that; compressed ones
    are unpacked to a temporary file before.
    """
    named = isinstance(source, str | os.PathLike)
    if isinstance(place, Group) and not path and named:
        path = Path(source).stem
    report = ImportReport(os.fspath(source) if named else type(source).__name__, "")
    with ExitStack() as stack:
        found = _arrays(source, stack)
        single = not isinstance(found, Mapping)
        told = dict(attributes or {})
        nodes: list[Folder | Variable] = []
        if isinstance(found, Mapping):
            if dimension_names is not None:
                raise ValueError("dimension_names are those of one array, and these are several")
            nodes = [*_folders(found, told)]
            found = dict(sorted(found.items()))
        for name, values in ({"": found} if single else found).items():
            dtype = _checked(values, f"{report.source} {name}".strip())
            nodes.append(
                Variable(
                    name,
                    name or report.source,
                    values.shape,
                    dtype,
                    _reading(values, dtype),
                    told if single else {},
                    fill_value=fill_value,
                    dimension_names=None if dimension_names is None else tuple(dimension_names),
                )
            )
        target = open_target(place, path, zarr_format, storage_options, overwrite=overwrite)
        report.place = f"{target.store} {'/' + target.path!r}"
        bring(
            Contents(nodes), target, Layout(chunks, shards, codecs), report,
            unsupported="raise", max_memory=max_memory, consolidated=False, progress=progress,
        )  # fmt: skip
    return report


def _arrays(source: Any, stack: ExitStack) -> Any:
    """One array, or several by name; files are mapped into memory as long as the stack lasts."""
    if isinstance(source, Mapping):
        return {str(name).strip("/"): np.asarray(values) for name, values in source.items()}
    if not isinstance(source, str | os.PathLike):
        return np.asarray(source)
    if not zipfile.is_zipfile(source):
        return _mapped(source)
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    found = {}
    with zipfile.ZipFile(source) as archive:
        for number, name in enumerate(archive.namelist()):
            unpacked = Path(folder, f"{number}{_ENDING}")
            with archive.open(name) as packed_file, open(unpacked, "wb") as file:
                shutil.copyfileobj(packed_file, file)
            found[name.removesuffix(_ENDING).strip("/")] = _mapped(unpacked, f"{source} {name}")
    return found


def _mapped(path: Any, called: str = "") -> NDArray:
    try:
        try:
            mapped: NDArray = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError:  # of what has no elements there is nothing to map
            mapped = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise UnsupportedSourceError(
            called or os.fspath(path),
            f"is no file of NumPy's with elements of a fixed size ({error}); Python objects "
            "cannot be imported, as reading them may run any code",
        ) from error
    return mapped


def _folders(found: Mapping[str, Any], attributes: dict[str, Any]) -> Iterator[Folder]:
    """The groups that lead to some arrays, parents first."""
    yield Folder("", "/", attributes)
    paths = {
        "/".join(name.split("/")[:depth])
        for name in found
        for depth in range(1, name.count("/") + 1)
    }
    for path in sorted(paths):
        yield Folder(path, path)


def _checked(values: NDArray, name: str) -> Any:
    if values.dtype.kind == "O":
        raise UnsupportedSourceError(
            name, "elements are Python objects; convert them, as in array.astype(str)"
        )
    return values.dtype if values.dtype.kind == "T" else packed(values.dtype, name)


def _reading(values: NDArray, dtype: Any) -> Callable[[tuple[slice, ...]], NDArray]:
    return lambda box: np.asarray(values[box]).astype(dtype, copy=False)


def export_numpy(
    source: Array | Group,
    file: str | os.PathLike[str],
    *,
    max_memory: int = _MEMORY,
    overwrite: bool = False,
    progress: Callable[[Progress], object] | bool | None = None,
) -> None:
    """Write an array as an ``.npy`` file, or all arrays of a group as an ``.npz`` file.

    Parameters
    ----------
    source : Array or Group
        What to write; of a group all arrays, at any depth.
    file : path
        The file, which appears once it is complete.
    max_memory : int
        Bytes that elements may take at a time; at least a stored object is held.
    overwrite : bool
        Whether a file that is there is replaced.
    progress : callable or True, optional
        As for :func:`import_numpy`.

    Raises
    ------
    FileExistsError
        If there is a file and ``overwrite`` is false.
    UnsupportedSourceError
        If elements are of variable size, for which such files have no place.
    """
    path = Path(file)
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} is there already; overwrite=True replaces it")
    arrays = [("", source)] if isinstance(source, Array) else _members(source)
    for name, array in arrays:
        if array.dtype.hasobject or array.dtype.kind == "T":
            raise UnsupportedSourceError(
                name or array.name,
                f"elements of {array.metadata.data_type.name} have no fixed size, as NumPy's "
                "files need; read them, and save astype(str) of that",
            )
    with ProgressReporter(progress, len(arrays)) as reporter, _beside(path) as folder:
        made = folder / f"made{_ENDING}"
        if isinstance(source, Array):
            _write(source, made, max_memory, reporter)
        else:
            single, made = made, folder / "made.npz"
            with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
                for name, array in arrays:
                    _write(array, single, max_memory, reporter)
                    archive.write(single, f"{name}{_ENDING}")
        os.replace(made, path)


def _members(group: Group) -> list[tuple[str, Array]]:
    members = group.members(max_depth=None)
    return [(name, node) for name, node in members if isinstance(node, Array)]


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """A temporary folder in the same file system."""
    with tempfile.TemporaryDirectory(dir=path.absolute().parent, prefix=f".{path.name}.") as name:
        yield Path(name)


def _write(array: Array, path: Path, max_memory: int, reporter: ProgressReporter) -> None:
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
