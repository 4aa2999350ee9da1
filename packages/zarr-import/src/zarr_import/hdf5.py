"""HDF5 files, those of NetCDF-4 among them, brought into a hierarchy."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from zarr_import._h5py import library
from zarr_import.hdf5_contents import hdf5_contents
from zarr_import.hdf5_tree import Choice
from zarr_import.importing import bring, open_target
from zarr_import.layout import Layout
from zarr_import.netcdf3 import is_netcdf3, netcdf3_contents
from zarr_import.report import ImportReport
from zarr_import.unsupported import UnsupportedSourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from zarr_core.extension import Progress

    from zarr_import.variable import Contents

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
            first, *others = problems
            more = f"; the same goes for {_some(others)}" if others else ""
            raise UnsupportedSourceError(
                first.source, f'{first.reason}{more}; unsupported="skip" leaves such things out'
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


def _some(problems: list[UnsupportedSourceError]) -> str:
    named = ", ".join(problem.source for problem in problems[:5])
    return named if len(problems) <= 5 else f"{named} and {len(problems) - 5} others"


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
        root = source[group] if isinstance(source, h5py.Group) else source
        yield hdf5_contents(h5py, root, choice, external=external)
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
        yield hdf5_contents(h5py, file[group], choice, external=external)
