"""Write datasets, data arrays and trees of datasets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from xarray import DataArray, Dataset, DataTree
from zarr_core.errors import NodeExistsError
from zarr_core.hierarchy.rollback import Rollback

from zarr_xarray import _xarray
from zarr_xarray.plans import Rules
from zarr_xarray.store import DatasetStore
from zarr_xarray.target import open_target

if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import Literal

    Mode = Literal["w", "w-", "a", "a-", "r+"]


def to_zarr(
    data: Dataset | DataArray | DataTree,
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
    """Write to a Zarr hierarchy, as :meth:`xarray.Dataset.to_zarr` does, without zarr-python.

    Parameters
    ----------
    data : Dataset, DataArray or DataTree
        The data.  Each variable becomes an array, each node of a tree a group.
    store : store-like
        Path, URL or store, as for :func:`zarr_core.open`; by default a new store in memory.
    mode : {"w", "w-", "a", "a-", "r+"}, optional
        ``w``: overwrite existing contents; ``w-``: create, and raise if anything exists;
        ``a``: overwrite existing variables and create new ones; ``a-``: like ``a``, but with
        ``append_dim`` only write existing variables that have that dimension; ``r+``:
        overwrite existing variables only.  By default ``a`` with ``append_dim``, ``r+`` with
        ``region``, otherwise ``w-``.
    group : str, optional
        Path of the group below the store.
    encoding : mapping, optional
        By variable: ``chunks``, ``shards``, ``filters``, ``serializer``, ``compressors``,
        ``chunk_key_encoding``, ``fill_value`` (version 3), ``write_empty_chunks``, and the
        encodings of xarray itself, such as ``dtype``, ``scale_factor``, ``_FillValue``.  For
        trees by path of the group, then by variable.
    compute : bool
        If false, store only metadata and data in memory, such as coordinates, and return a
        ``dask.delayed.Delayed`` that writes the rest.
    consolidated : bool, optional
        Whether to consolidate the metadata of the store; by default true unless the mode is
        ``r+``, or the store needs none, such as a session of Icechunk.  Existing consolidated
        metadata is always updated.
    append_dim : hashable, optional
        Dimension along which to append.  The dataset contains all variables with this dimension.
    region : mapping, str or None
        Part of the stored arrays to write: slices by dimension, or ``"auto"`` to find them
        by the coordinates, for one dimension or for all.
    safe_chunks : bool
        Whether to raise if two chunks of Dask overlap the same stored chunk or shard.
    align_chunks : bool
        Whether to rechunk Dask arrays so that they do not.
    storage_options : mapping, optional
        Options for the store if it is a URL.
    zarr_format : {2, 3}, optional
        The format; by default that of the hierarchy, or 3 for a new one.
    write_empty_chunks : bool, optional
        Whether to store chunks that contain only the fill value.
    chunkmanager_store_kwargs : mapping, optional
        Arguments for ``dask.array.store``.
    write_inherited_coords : bool
        Whether nodes of a tree also store coordinates that they inherit from their parents.

    Returns
    -------
    DatasetStore or dask.delayed.Delayed
        A ``Delayed`` if ``compute`` is false.

    Raises
    ------
    FileExistsError
        If anything exists and the mode is ``w-``.
    FileNotFoundError
        If the group does not exist and the mode is ``r+``.
    ValueError
        If the data does not fit existing arrays, or chunks of Dask would overlap stored ones.

    Notes
    -----
    Everything is planned before anything is stored.  If several processes create the same
    store, or append to it, at the same time, one succeeds, and the others raise an error before
    they change anything; with :class:`Appender`, they take turns.

    If writing fails or is interrupted, the arrays and groups that were created are removed.
    Notes of the exception list everything that remains.

    Examples
    --------
    >>> import xarray as xr
    >>> from zarr_xarray import to_zarr
    >>> data = xr.Dataset({"t": ("x", [1.0, 2.0])}, coords={"x": [10, 20]})
    >>> _ = to_zarr(data, "data.zarr")
    >>> float(xr.open_dataset("data.zarr", engine="zarr_core")["t"].sum())
    3.0
    """
    tree = isinstance(data, DataTree)
    if tree and append_dim is not None:
        raise ValueError("append_dim is not supported for trees; append to each node separately")
    mode_chosen = _xarray.choose_mode(mode=mode, append_dim=append_dim, region=region)
    nodes = _nodes(data, write_inherited_coords)
    encodings = dict(encoding or {})
    if tree and (unknown := encodings.keys() - {node.path for _, node in _subtree(data)}):
        raise ValueError(f"unexpected encoding group name(s) provided: {unknown}")
    target = open_target(
        store, mode_chosen, group,
        consolidated=consolidated if mode_chosen != "r+" else False,
        storage_options=storage_options, zarr_format=zarr_format, write_empty_chunks=write_empty_chunks,
    )  # fmt: skip
    rollback = Rollback()
    root = DatasetStore(
        target, Rules(mode_chosen, append_dim, safe_chunks, align_chunks), region, rollback=rollback
    )  # fmt: skip
    writer = _xarray.ArrayWriter()
    try:
        with rollback:
            for path, dataset, key in nodes:
                node = root if not path else root.get_child_store(path)
                own = _accept_v2_names(encodings.get(key) if tree else encodings)
                dataset = node.in_region(dataset)
                node.check_encoding(own, dataset.variables)
                _xarray.dump_to_store(dataset, node, writer, encoding=own)
            root.write()
            rollback.add_cleanup(target.consolidated.remove_rolled_back)
            target.consolidated.write()
            writes = writer.sync(
                compute=compute, chunkmanager_store_kwargs=dict(chunkmanager_store_kwargs or {})
            )
    except NodeExistsError as error:
        # Users of xarray pass a mode instead of overwrite=True.
        message = re.sub(r"\w+ overwrite=True", 'use mode="w"', str(error))
        raise FileExistsError(message) from error
    finally:
        if compute:
            root.close()
    return root if compute else _xarray.close_after(writes, root)


def _nodes(data: Any, inherited: bool) -> list[tuple[str, Dataset, str]]:
    """Return the relative path, the dataset and the path in the encoding of each node."""
    if isinstance(data, DataArray):
        data = as_dataset(data)
    if not isinstance(data, DataTree):
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


def as_dataset(array: DataArray) -> Dataset:
    """Convert to a dataset of one variable, as :meth:`xarray.DataArray.to_zarr` does.

    xarray's name for unnamed arrays begins with ``__``, which version 3 reserves.  With any
    other name, xarray could not append to the variable.
    """
    if array.name is None:
        return array.to_dataset(name=_xarray.NAME_OF_UNNAMED)
    if array.name not in (*array.coords, *array.dims):
        return array.to_dataset()
    dataset = array.to_dataset(name=_xarray.NAME_OF_UNNAMED)
    dataset.attrs[_xarray.NAME_KEY] = array.name
    return dataset


def _accept_v2_names(encoding: Mapping[Any, Any] | None) -> dict[Any, Any]:
    """Return encodings with ``compressor``, the name of zarr-python 2, replaced."""
    accepted = {}
    for name, members in (encoding or {}).items():
        accepted[name] = members
        if isinstance(members, Mapping) and "compressor" in members:
            own = dict(members)
            own["compressors"] = own.pop("compressor")
            accepted[name] = own
    return accepted
