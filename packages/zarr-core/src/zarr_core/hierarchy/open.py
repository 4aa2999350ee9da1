"""Open arrays and groups, or create them if the mode requires it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.engine.stored_array import StoredArray
from zarr_core.errors import (
    NodeExistsError,
    NodeNotFoundError,
    NodeTypeError,
    StoreReadOnlyError,
)
from zarr_core.formats.detect import read_node
from zarr_core.hierarchy.array import Array
from zarr_core.hierarchy.from_metadata import array_settings, stored_node
from zarr_core.hierarchy.group import Group, create_group
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.store_path import NodeOptions
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata
from zarr_core.optional import check_names, with_advice
from zarr_core.registry.overrides import override_extensions
from zarr_core.registry.resolve import format_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.hierarchy.store_path import StoreLike
    from zarr_core.interfaces.store import Store

Mode = Literal["r", "r+", "a", "w", "w-", "x"]
_IS_ARRAY = "is an array, not a group; open it with open_array"
_IS_GROUP = "is a group, not an array; open it with open_group"
_MODES = (None, "r", "r+", "a", "w", "w-", "x")


def open(
    store: StoreLike = None,
    mode: Mode | None = None,
    *,
    path: str | None = None,
    zarr_format: int | str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    use_consolidated: bool | None = None,
    config: Mapping[str, Any] | None = None,
    extensions: Mapping[str, Mapping[str, Any]] | None = None,
    metadata: Mapping[str, Any] | ArrayMetadata | None = None,
    match: bool = True,
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
    extensions : mapping, optional
        Code for the node and its members: ``{"codec": {"acme.xor": Xor}}``.
    metadata : mapping or ArrayMetadata, optional
        What is expected of an array, as a part of a ``zarr.json``.  An existing array is compared,
        a new one is created with it.  See :func:`create_array`.
    match : bool
        Whether an existing array is compared with the arguments in ``**create`` that describe an
        array.  ``"auto"`` and None match anything; for ``filters`` and ``compressors``, None means
        none.
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
    options = NodeOptions(
        path, zarr_format, storage_options, extensions, config, use_consolidated, metadata, match
    )
    is_array = "shape" in create or create.get("data") is not None or metadata is not None
    return _open(Array if is_array else None, store, mode, options, create)


def open_array(
    store: StoreLike = None,
    mode: Mode | None = None,
    *,
    path: str | None = None,
    zarr_format: int | str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    use_consolidated: bool | None = None,
    config: Mapping[str, Any] | None = None,
    extensions: Mapping[str, Mapping[str, Any]] | None = None,
    metadata: Mapping[str, Any] | ArrayMetadata | None = None,
    match: bool = True,
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
    options = NodeOptions(
        path, zarr_format, storage_options, extensions, config, use_consolidated, metadata, match
    )
    node = _open(Array, store, mode, options, create)
    if not isinstance(node, Array):
        raise NodeTypeError(node.stored.location, _IS_GROUP)
    return node


@with_advice
def open_group(
    store: StoreLike = None,
    mode: Mode | None = None,
    *,
    path: str | None = None,
    zarr_format: int | str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    use_consolidated: bool | None = None,
    extensions: Mapping[str, Mapping[str, Any]] | None = None,
    attributes: Mapping[str, Any] | None = None,
) -> Group:
    """Open a group; parameters as for :func:`open`, ``attributes`` for a new group.

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
    options = NodeOptions(path, zarr_format, storage_options, extensions, None, use_consolidated)
    create = {} if attributes is None else {"attributes": attributes}
    node = _open(Group, store, mode, options, create)
    if not isinstance(node, Group):
        raise NodeTypeError(node.stored.location, _IS_ARRAY)
    return node


def group(store: StoreLike = None, *, overwrite: bool = False, **options: Any) -> Group:
    """Open a group, or create it if it does not exist.

    A group in a read-only store is opened for reading.

    Parameters
    ----------
    store : store-like
        Location; in memory by default.
    overwrite : bool
        Whether an existing node is overwritten.
    **options
        Further arguments of :func:`open_group`.

    Raises
    ------
    StoreReadOnlyError
        If the store is read-only, and has no group at the path or ``overwrite`` is true.
    """
    check_names(options, {*NodeOptions._fields, "attributes"})
    try:
        return open_group(store, "w" if overwrite else "a", **options)
    except StoreReadOnlyError:
        if not overwrite:
            with suppress(NodeNotFoundError):
                return open_group(store, "r", **options)
        raise


def _open(
    kind: type[Array | Group] | None,
    location: StoreLike,
    mode: Mode | None,
    options: NodeOptions,
    create: dict[str, Any],
) -> Array | Group:
    """Open a node, or create one of a kind if the mode requires it."""
    if options.extensions:
        with override_extensions(options.extensions):
            return _open(kind, location, mode, options._replace(extensions=None), create)
    if mode not in _MODES:
        raise ValueError(f"mode must be one of {', '.join(_MODES[1:])}, not {mode!r}")
    if create and kind is not Group:  # arguments are checked also if no node is created
        from zarr_core.hierarchy.create import ARRAY_ARGUMENTS  # slow to import

        check_names(create, {*ARRAY_ARGUMENTS, *options._fields, "mode"})
    store, path, zarr_format = options.resolve(location, read_only=mode == "r")
    if store.read_only and mode not in (None, "r"):
        raise StoreReadOnlyError(
            f'the store is read-only, and mode="{mode}" requires writing', store
        )
    if mode in ("w", "w-", "x"):
        create["overwrite"] = mode == "w"
        return _create(kind, store, path, zarr_format, options, create)
    try:
        format_, metadata = read_node(store, path, zarr_format)
    except NodeNotFoundError as error:
        if mode != "a":
            if location is None:
                reason = "no location is given, and new memory is empty; pass a path, URL or Store"
                raise NodeNotFoundError(error.location, reason) from None
            raise
        try:
            return _create(kind, store, path, zarr_format, options, create)
        except NodeExistsError as error:
            try:
                format_, metadata = read_node(store, path, zarr_format)
            except NodeNotFoundError:
                raise error from None  # something else exists at the path
    read_only = mode == "r" or store.read_only
    if mode is None and isinstance(location, Node):
        read_only = location.read_only
    stored = stored_node(
        store, path, format_, metadata, read_only=read_only,
        use_consolidated=options.use_consolidated,
        settings=array_settings(options.config) if options.config else None,
    )  # fmt: skip
    if kind is not Group and (options.metadata is not None or (options.match and create)):
        if isinstance(stored, StoredArray):
            from zarr_core.normalize.array_metadata import check_array  # slow to import

            check_array(stored, options.metadata, create if options.match else {})
        elif kind is Array:
            raise NodeTypeError(stored.location, _IS_GROUP)
    return Array(stored) if isinstance(stored, StoredArray) else Group(stored)


def _create(
    kind: type[Array | Group] | None,
    store: Store,
    path: str,
    zarr_format: int | str | None,
    options: NodeOptions,
    create: dict[str, Any],
) -> Array | Group:
    from zarr_core.hierarchy.create import create_array  # slow to import

    create = {**create, "path": path, "zarr_format": zarr_format}
    if kind is not Array:
        return create_group(store, **create)
    return create_array(store, config=options.config, metadata=options.metadata, **create)


def array_from_metadata(
    store: StoreLike,
    metadata: Mapping[str, Any] | ArrayMetadata | None = None,
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
    metadata : ArrayMetadata or mapping, optional
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
        options = NodeOptions(path, zarr_format, storage_options)
        opened, node_path, format_name = options.resolve(store, read_only=read_only)
        format_ = format_named(zarr_format if format_name is None else format_name)
        if arguments or not isinstance(metadata, ArrayMetadata | GroupMetadata):
            from zarr_core.normalize.array_metadata import array_metadata  # slow to import

            metadata = array_metadata(format_, arguments, metadata)
        stored = stored_node(
            opened, node_path, format_, metadata, read_only=read_only,
            settings=array_settings(config)._replace(fixed=fixed),
        )  # fmt: skip
        if not isinstance(stored, StoredArray):
            raise NodeTypeError(stored.location, "the metadata is that of a group")
        return Array(stored)
