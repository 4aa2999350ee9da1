"""Open arrays and groups, or create them if the mode requires it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from zarr_core.engine.stored_array import StoredArray
from zarr_core.errors import (
    NodeExistsError,
    NodeNotFoundError,
    NodeTypeError,
    StoreReadOnlyError,
)
from zarr_core.formats.detect import read_node
from zarr_core.formats.lookup import format_named
from zarr_core.hierarchy.array import Array
from zarr_core.hierarchy.coerce import described
from zarr_core.hierarchy.from_metadata import stored_node
from zarr_core.hierarchy.group import Group
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.store_path import resolve_store_path, split_format
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata
from zarr_core.registry.scope import override_extensions

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from zarr_core.engine.stored_node import StoredGroup
    from zarr_core.hierarchy.store_path import StoreLike
    from zarr_core.interfaces.store import Store
    from zarr_core.normalize.partial_metadata import PartialArrayMetadata

Mode = Literal["r", "r+", "a", "w", "w-", "x"]
_IS_GROUP = "is a group, not an array; open it with open_group"
_MODES = ("r", "r+", "a", "w", "w-", "x")


def open(
    store: StoreLike = None,
    mode: Mode | None = None,
    *,
    path: str | None = None,
    zarr_format: int | str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    use_consolidated: bool | None = None,
    config: Mapping[str, Any] | None = None,
    synchronizer: Any = None,
    extensions: Mapping[str, Mapping[str, Any]] | None = None,
    metadata: Mapping[str, Any] | ArrayMetadata | PartialArrayMetadata | None = None,
    match: bool = True,
    verify: bool | str | os.PathLike[str] | None = None,
    **create: Any,
) -> Array | Group:
    """Open an array or a group.

    Parameters
    ----------
    store : store-like
        Location: a path, a URL, a store, a mapping, an array or group.
    mode : {"r", "r+", "a", "w", "w-"}, optional
        ``r``: read; ``r+``: read and write; ``a``: read and write, created if missing; ``w``:
        created, or overwritten if it exists; ``w-`` or ``x``: created, an error if it exists.  By
        default ``r+``, or ``r`` if the store or node that is passed is read-only.
    path : str, optional
        Path of the node in the store.
    zarr_format : int or str, optional
        Open or create this format only.
    storage_options : mapping, optional
        Further arguments for the store of a URL.
    use_consolidated : bool, optional
        Whether members of a group are looked up in its consolidated metadata.  By default, if it
        exists and the group is opened for reading.
    config : mapping, optional
        ``write_empty_chunks`` and ``missing_chunks`` for this array; see :func:`create_array`.
    synchronizer : object, optional
        As for :func:`create_array`; also for all nodes below a group.
    extensions : mapping, optional
        Code for the node and its members: ``{"codec": {"acme.xor": Xor}}``.
    metadata : mapping, ArrayMetadata or PartialArrayMetadata, optional
        What is expected of an array, as a part of a ``zarr.json``.  An existing array is compared,
        a new one is created with it.  See :class:`zarr_core.PartialArrayMetadata`.
    match : bool
        Whether an existing array must also be as ``**create`` describes it.  Only given arguments
        are compared; ``"auto"`` is any value, and so is None, except no filters or compressors.
    verify : bool or path, optional
        Compare every value with a manifest when it is read; the node is read-only.  True for the
        manifest that is stored in the node or above it, or the file of a manifest of the node.
        Requires zarr-stores.
    **create
        For modes that create a node: arguments of :func:`create_array` if ``shape``, ``data`` or
        ``metadata`` is given, else of :func:`create_group`.

    Raises
    ------
    NodeNotFoundError
        If there is no node.
    NodeExistsError
        If a node exists and the mode is ``w-``.
    MetadataMismatchError
        If an array exists and is not as expected; has all differences.
    NodeTypeError
        If an array is expected and a group exists.
    StoreReadOnlyError
        If the mode requires writing and the store is read-only.
    MetadataError, ExtensionError
        If the metadata is invalid or names unknown extensions.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> _ = zarr.create_array("heights.zarr", data=[[1, 2], [3, 4]])
    >>> array = zarr.open("heights.zarr", mode="r")
    >>> array[1]
    array([3, 4])
    """
    is_array = "shape" in create or create.get("data") is not None or metadata is not None
    return _open(
        Array if is_array else None, store, mode, path, zarr_format, storage_options,
        use_consolidated, config, synchronizer, extensions, create, metadata, match,
        _wrapper(verify),
    )  # fmt: skip


def open_array(
    store: StoreLike = None,
    mode: Mode | None = None,
    *,
    path: str | None = None,
    zarr_format: int | str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
    synchronizer: Any = None,
    extensions: Mapping[str, Mapping[str, Any]] | None = None,
    metadata: Mapping[str, Any] | ArrayMetadata | PartialArrayMetadata | None = None,
    match: bool = True,
    verify: bool | str | os.PathLike[str] | None = None,
    **create: Any,
) -> Array:
    """Open an array; parameters as for :func:`open`.

    Raises
    ------
    NodeTypeError
        If the node is a group.
    NodeNotFoundError
        If there is no node.
    MetadataMismatchError
        If the array exists and is not as expected; has all differences.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> array = zarr.open_array("counts.zarr", mode="a", shape=(4,), dtype="int16")
    >>> array[:2] = 7
    >>> zarr.open_array("counts.zarr", mode="r")[...]
    array([7, 7, 0, 0], dtype=int16)
    """
    found = _open(
        Array, store, mode, path, zarr_format, storage_options, None, config, synchronizer,
        extensions, create, metadata, match, _wrapper(verify),
    )  # fmt: skip
    if not isinstance(found, Array):
        raise NodeTypeError(found.stored.location, _IS_GROUP)
    return found


def open_group(
    store: StoreLike = None,
    mode: Mode | None = None,
    *,
    path: str | None = None,
    zarr_format: int | str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    use_consolidated: bool | None = None,
    synchronizer: Any = None,
    extensions: Mapping[str, Mapping[str, Any]] | None = None,
    attributes: Mapping[str, Any] | None = None,
    verify: bool | str | os.PathLike[str] | None = None,
) -> Group:
    """Open a group; parameters as for :func:`open`.

    Raises
    ------
    NodeTypeError
        If the node is an array.
    NodeNotFoundError
        If there is no node.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> root = zarr.open_group("survey.zarr", mode="a")
    >>> _ = root.create_array("north/height", data=[1.5, 2.5])
    >>> zarr.open_group("survey.zarr", mode="r")["north/height"].shape
    (2,)
    """
    create = {} if attributes is None else {"attributes": attributes}
    found = _open(
        Group, store, mode, path, zarr_format, storage_options, use_consolidated, None,
        synchronizer, extensions, create, wrap=_wrapper(verify),
    )  # fmt: skip
    if not isinstance(found, Group):
        raise NodeTypeError(
            found.stored.location, "is an array, not a group; open it with open_array"
        )
    return found


def open_consolidated(store: StoreLike, mode: Mode | None = None, **options: Any) -> Group:
    """Open a group whose members are listed in its consolidated metadata.

    Parameters as for :func:`open_group`.  By default the group is opened for reading and writing,
    as in zarr-python; changes through it also change the consolidated metadata.

    Raises
    ------
    ValueError
        If the group has no consolidated metadata.
    """
    return open_group(store, mode, use_consolidated=True, **options)


def _open(
    kind: type[Array | Group] | None,
    place: StoreLike,
    mode: Mode | None,
    path: str | None,
    zarr_format: int | str | None,
    storage_options: Mapping[str, Any] | None,
    use_consolidated: bool | None,
    config: Mapping[str, Any] | None,
    synchronizer: Any,
    extensions: Mapping[str, Mapping[str, Any]] | None,
    create: dict[str, Any],
    metadata: Any = None,
    match: bool = False,
    wrap: Callable[[Store, str], Store] | None = None,
) -> Array | Group:
    with override_extensions(extensions):
        if mode not in _MODES and mode is not None:
            raise ValueError(f"mode must be one of {', '.join(_MODES)}, not {mode!r}")
        # Arguments are checked also if no node is created.
        if create:
            from zarr_core.hierarchy.create import check_arguments  # slow to import

            check_arguments(create)
        place, path, zarr_format = split_format(place, path, zarr_format)
        store, below = resolve_store_path(
            place, path, read_only=mode == "r", storage_options=storage_options,
            synchronizer=synchronizer,
        )  # fmt: skip
        if wrap is not None:
            store = wrap(store, below)
        if store.read_only and mode not in (None, "r"):
            raise StoreReadOnlyError(
                f'the store is read-only, and mode="{mode}" requires writing', store
            )
        if mode in ("w", "w-", "x"):
            return _create(
                kind, store, below, zarr_format, config, metadata, create, overwrite=mode == "w"
            )
        try:
            format_, stored = read_node(store, below, zarr_format)
        except NodeNotFoundError as error:
            if mode != "a":
                if place is None:
                    reason = (
                        "no location is given, and new memory is empty; pass a path, URL or Store"
                    )
                    raise NodeNotFoundError(error.location, reason) from None
                raise
            try:
                return _create(
                    kind, store, below, zarr_format, config, metadata, create, overwrite=False
                )
            except NodeExistsError as error:
                try:
                    format_, stored = read_node(store, below, zarr_format)
                except NodeNotFoundError:
                    raise error from None  # something else exists at the path
        read_only = mode == "r" or store.read_only
        if mode is None and isinstance(place, Node):
            read_only = place.read_only
        found = stored_node(
            store, below, format_, stored,
            read_only=read_only, use_consolidated=use_consolidated, config=config,
        )  # fmt: skip
        if metadata is not None or (match and create):
            _check(kind, found, metadata, create if match else {})
        return Array(found) if isinstance(found, StoredArray) else Group(found)


def _wrapper(
    verify: bool | str | os.PathLike[str] | None,
) -> Callable[[Store, str], Store] | None:
    """The function that wraps the store of a node as the arguments of the call require."""
    if not verify:
        return None
    from zarr_core.optional import optional_function  # only for such nodes

    verified = optional_function("open(verify=...)")
    return lambda store, path: verified(store, None if verify is True else verify, path)


def _create(
    kind: type[Array | Group] | None,
    store: Store,
    path: str,
    zarr_format: int | str | None,
    config: Mapping[str, Any] | None,
    metadata: Any,
    create: dict[str, Any],
    *,
    overwrite: bool,
) -> Array | Group:
    from zarr_core.hierarchy.create import create_array, create_group  # slow to import

    if kind is Array:
        return create_array(
            store, path=path, zarr_format=zarr_format, config=config, overwrite=overwrite,
            metadata=metadata, **create,
        )  # fmt: skip
    return create_group(store, path=path, zarr_format=zarr_format, overwrite=overwrite, **create)


def _check(
    kind: type[Array | Group] | None,
    found: StoredArray | StoredGroup,
    metadata: Any,
    create: Mapping[str, Any],
) -> None:
    """Compare an existing node with what is expected of an array."""
    if isinstance(found, StoredArray):
        from zarr_core.normalize.constraints import check_array  # seldom needed

        check_array(found, metadata, described(create))
    elif kind is Array:
        raise NodeTypeError(found.location, _IS_GROUP)


def array_from_metadata(
    store: StoreLike,
    metadata: Mapping[str, Any] | ArrayMetadata | PartialArrayMetadata | None = None,
    *,
    path: str | None = None,
    zarr_format: int | str = 3,
    read_only: bool = False,
    config: Mapping[str, Any] | None = None,
    extensions: Mapping[str, Mapping[str, Any]] | None = None,
    fixed: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> Array:
    """Create an array object from metadata, without access to the store.

    For example, to write chunks of one array in many processes that know its layout, or to convert
    or repair arrays whose metadata is missing or wrong.

    Parameters
    ----------
    store : store-like
        Location of the chunks: a path, a URL, a store, a mapping, an array or group.
    metadata : ArrayMetadata, PartialArrayMetadata or mapping, optional
        The metadata; it is neither stored nor compared with stored metadata.  A part of a
        ``zarr.json`` is completed as for a new array.
    path : str, optional
        Path of the array in the store.
    zarr_format : int or str
        The format, which determines the keys of chunks.
    read_only : bool
        Whether the array is read-only.
    config, extensions, storage_options : mapping, optional
        As for :func:`zarr_core.open`.
    fixed : bool
        Whether the metadata never change: ``resize``, ``append``, ``refresh`` and changes of
        attributes raise a StoreReadOnlyError.  Otherwise they read and change stored metadata.
    **arguments
        Further arguments of :func:`create_array` that describe an array, such as ``shape``.

    Raises
    ------
    ExtensionError, MetadataValidationError, CodecChainError
        If the metadata is invalid or names unknown extensions.
    NodeTypeError
        If it is the metadata of a group.
    TypeError
        If an argument contradicts the metadata, or there is no shape.

    Warnings
    --------
    Elements are wrong, and writing damages data, if stored chunks have another layout.
    """
    with override_extensions(extensions):
        store, path, named = split_format(store, path, zarr_format)
        zarr_format = zarr_format if named is None else named
        place, below = resolve_store_path(
            store, path, read_only=read_only, storage_options=storage_options
        )
        format_ = format_named(zarr_format)
        if arguments or not isinstance(metadata, ArrayMetadata | GroupMetadata):
            from zarr_core.normalize.partial_metadata import as_partial  # seldom needed

            partial = as_partial({} if metadata is None else metadata)
            metadata = partial.complete(zarr_format=zarr_format, **arguments)
        found = stored_node(
            place, below, format_, metadata, read_only=read_only, config=config, fixed=fixed
        )
        if not isinstance(found, StoredArray):
            raise NodeTypeError(found.location, "the metadata is that of a group")
        return Array(found)
