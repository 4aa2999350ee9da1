"""Writing datasets, data arrays, trees of datasets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from xarray import DataArray, Dataset
from zarr_core.extension import NodeExistsError

from zarr_xarray import _xarray
from zarr_xarray.store import DatasetStore
from zarr_xarray.target import open_target

if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import Literal

    Mode = Literal["w", "w-", "a", "a-", "r+"]

_UNNAMED = "xarray_dataarray_variable"


def to_zarr(
    data: Dataset | DataArray | _xarray.DataTree,
    store: Any = None,
    mode: Mode | None = None,
    group: str | None = None,
    encoding: Mapping[Any, Any] | None = None,
    *,
    compute: bool = True,
    consolidated: bool | None = None,
    append_dim: Hashable | None = None,
    region: Mapping[Any, slice | str] | str | None = None,
    safe_chunks: bool = True,
    align_chunks: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    zarr_format: int | str | None = None,
    write_empty_chunks: bool | None = None,
    chunkmanager_store_kwargs: Mapping[str, Any] | None = None,
    write_inherited_coords: bool = False,
) -> DatasetStore | Any:
    """Write to a Zarr hierarchy, as :meth:`xarray.Dataset.to_zarr` does; without zarr-python.

    Parameters
    ----------
    data : Dataset, DataArray or DataTree
        What to write.  Each variable becomes an array, each node of a tree a group.
    store : store-like
        Where: what :func:`zarr_core.open` takes; None for memory.
    mode : {"w", "w-", "a", "a-", "r+"}, optional
        ``w``: in place of what is there; ``w-``: unless something is there; ``a``: over
        variables that are there, and new ones; ``a-``: the same, but with ``append_dim`` only
        over those that have it; ``r+``: over variables that are there.  By default ``a`` with
        ``append_dim``, ``r+`` with ``region``, else ``w-``.
    group : str, optional
        Path of the group below the store.
    encoding : mapping, optional
        By variable: ``chunks``, ``shards``, ``filters``, ``serializer``, ``compressors``,
        ``chunk_key_encoding``, ``fill_value`` (version 3), ``write_empty_chunks``, and what
        xarray encodes itself, such as ``dtype``, ``scale_factor``, ``_FillValue``.  By
        path of the group first for a tree.
    compute : bool
        False to store documents, coordinates and whatever else is in memory, and give a
        ``dask.delayed.Delayed`` that writes the rest.
    consolidated : bool, optional
        Whether to consolidate the metadata of the store; yes, by default, unless the mode
        is ``r+``.  Consolidated metadata that are there are kept in step in any case.
    append_dim : hashable, optional
        Dimension along which to append.
    region : mapping, str or None
        Part of the stored arrays to write, by dimension: slices, or ``"auto"`` to find them
        by the coordinates; ``"auto"`` for all.
    safe_chunks : bool
        Whether to refuse chunks of Dask that would meet in one stored chunk or shard.
    align_chunks : bool
        Whether to make chunks of Dask fit instead.
    storage_options : mapping, optional
        Further arguments for the store that a URL names.
    zarr_format : {2, 3}, optional
        The format; by default that of the hierarchy, 3 for a new one.
    write_empty_chunks : bool, optional
        Whether to store chunks that hold nothing but the fill value.
    chunkmanager_store_kwargs : mapping, optional
        Further arguments for ``dask.array.store``.
    write_inherited_coords : bool
        Whether nodes of a tree store coordinates that they have from their parents.

    Returns
    -------
    DatasetStore or dask.delayed.Delayed
        The second if ``compute`` is false.

    Raises
    ------
    FileExistsError
        If there is something and the mode is ``w-``.
    FileNotFoundError
        If there is nothing and the mode is ``r+``.
    ValueError
        If the data do not fit what is there, or chunks would meet.

    Notes
    -----
    Nothing is stored before everything was planned.  Of several processes that make one
    store, one succeeds.  A dataset that is appended along a dimension finds its place under
    the locks of the documents, so that two who append at the same time lose nothing.
    """
    tree = isinstance(data, _xarray.DataTree)
    if tree and append_dim is not None:
        raise ValueError("append_dim goes with a dataset; append each node of a tree by itself")
    mode_chosen = _xarray.choose_mode(mode=mode, append_dim=append_dim, region=region)
    nodes = _nodes(data, write_inherited_coords)
    given = dict(encoding or {})
    if tree and (unknown := given.keys() - {node.path for _, node in _subtree(data)}):
        raise ValueError(f"unexpected encoding group name(s) provided: {unknown}")
    target = open_target(
        store, mode_chosen, group,
        consolidate=mode_chosen != "r+" and consolidated is not False,
        storage_options=storage_options, zarr_format=zarr_format, keep_empty=write_empty_chunks,
    )  # fmt: skip
    root = DatasetStore(target, mode_chosen, append_dim, region, safe_chunks, align_chunks)
    if tree:
        root.held = []
    writer = _xarray.ArrayWriter()
    try:
        for path, dataset, key in nodes:
            node = root if not path else root.get_child_store(path)
            own = _renamed(given.get(key) if tree else given)
            dataset = node.in_region(dataset)
            node.check_encoding(own)
            _xarray.dump_to_store(dataset, node, writer, encoding=own)
        root.store_held()
        target.copies.finish()
        writes = writer.sync(
            compute=compute, chunkmanager_store_kwargs=dict(chunkmanager_store_kwargs or {})
        )
    except NodeExistsError as error:
        raise FileExistsError(str(error)) from error
    finally:
        if compute:
            root.close()
    return root if compute else _xarray.close_after(writes, root)


def _nodes(data: Any, inherited: bool) -> list[tuple[str, Dataset, str]]:
    """Relative path, dataset, path in the encoding: of all that is to be written."""
    if isinstance(data, DataArray):
        data = _as_dataset(data)
    if not isinstance(data, _xarray.DataTree):
        _xarray.check_names(data)
        return [("", data, "")]
    return [
        (
            "" if node is data else path,
            node.to_dataset(inherit=inherited or node is data),
            node.path,
        )
        for path, node in _subtree(data)
    ]


def _subtree(tree: Any) -> Any:
    return tree.subtree_with_keys


def _as_dataset(array: DataArray) -> Dataset:
    """A dataset of one variable, that ``xr.open_dataarray`` makes the same array of.

    xarray's own name for arrays without one begins with ``__``, which version 3 keeps
    for itself; that the array has none is said by xarray's attribute instead.
    """
    if array.name is not None and array.name not in (*array.coords, *array.dims):
        return array.to_dataset()
    dataset = array.to_dataset(name=_UNNAMED)
    dataset.attrs[_xarray.NAME_KEY] = array.name
    return dataset


def _renamed(encoding: Mapping[Any, Any] | None) -> dict[Any, Any]:
    """Encodings, with the name that zarr-python 2 had for the compressor understood."""
    found = {}
    for name, given in (encoding or {}).items():
        found[name] = given
        if isinstance(given, Mapping) and "compressor" in given:
            own = dict(given)
            own["compressors"] = own.pop("compressor")
            found[name] = own
    return found
