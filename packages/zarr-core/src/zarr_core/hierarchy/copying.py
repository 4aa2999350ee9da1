"""Copying nodes as they are stored, without decoding a chunk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from zarr_core.errors import NodeExistsError, NodeNameError, NodeNotFoundError, NodeTypeError
from zarr_core.hierarchy.group import Group
from zarr_core.hierarchy.location import locate
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.placing import make_room, occupied
from zarr_core.hierarchy.walk import walk
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata

if TYPE_CHECKING:
    from zarr_core.hierarchy.array import Array
    from zarr_core.hierarchy.location import StoreLike
    from zarr_core.interfaces.format import Format
    from zarr_core.interfaces.store import Store


def copy(
    source: Array | Group, dest: StoreLike, name: str | None = None, *, overwrite: bool = False
) -> Array | Group:
    """Copy an array, or a group with everything below it.

    Parameters
    ----------
    source : Array or Group
        What to copy.
    dest : store-like
        Where to: a group, or any other place.
    name : str, optional
        Path of the copy below that place.  By default the name of the source if
        ``dest`` is a group, else none: the copy becomes the root.
    overwrite : bool
        Whether a node that is there already is removed first.

    Returns
    -------
    Array or Group
        The copy.

    Raises
    ------
    NodeExistsError
        If there is something already, or the copy would lie within its source.
    NodeNotFoundError
        If the source has been removed.

    Notes
    -----
    Chunks are copied as bytes and documents as they are: nothing is decoded, so
    arrays whose codecs nobody here knows are copied as well.  The document of a node
    comes last, so what can be seen is complete.
    """
    from zarr_core.hierarchy.open import open as open_node  # noqa: PLC0415 - opening knows groups

    if isinstance(dest, Node):
        dest._check_writable()
        name = name or source.basename
        if not name:
            raise NodeNameError("''", "the root has no name; say what the copy is to be called")
    store, path = locate(dest, name)
    format_, where = source._format, f"{store} {'/' + path!r}"
    metadata = format_.read(source.store, source.path)
    if metadata is None:
        raise NodeNotFoundError(source._where(), "the node to copy has been removed")
    if store == source.store and (
        _lies_in(path, source.path) or (overwrite and _lies_in(source.path, path))
    ):
        raise NodeExistsError(where, f"the copy and its source {source.name!r} would overlap")
    made = make_room(store, path, format_, metadata, overwrite=overwrite)
    copied = copy_node(format_, source.store, source.path, store, path)
    if isinstance(dest, Node) and dest._consolidation is not None:
        dest._consolidation.record(gone=[path], there=[*made, *copied])
    return open_node(store, "r+", path=path, extensions=source._extensions)


def copy_all(source: Group, dest: StoreLike, *, overwrite: bool = False) -> None:
    """Copy all members of a group into another; see :func:`copy`.

    Parameters
    ----------
    source : Group
        The group whose members are copied.
    dest : store-like
        A group, or a place where there is one or can be one.
    overwrite : bool
        Whether nodes that are there already are removed first.

    Raises
    ------
    NodeTypeError
        If ``source`` is no group.
    NodeExistsError
        If one of the members is there already.
    """
    from zarr_core.hierarchy.open import open_group  # noqa: PLC0415 - opening knows groups

    if not isinstance(source, Group):
        raise NodeTypeError(repr(source), "is no group; copy an array with copy()")
    target = dest if isinstance(dest, Group) else open_group(dest, "a")
    for name in list(source):
        copy(source[name], target, name, overwrite=overwrite)


def copy_store(
    source: StoreLike,
    dest: StoreLike,
    source_path: str = "",
    dest_path: str = "",
    *,
    if_exists: Literal["raise", "replace", "skip"] = "raise",
) -> tuple[int, int, int]:
    """Copy keys and values from one store to another, whatever they mean.

    Parameters
    ----------
    source, dest : store-like
        From where and where to.
    source_path, dest_path : str
        Only keys below the one path, to below the other.
    if_exists : {"raise", "replace", "skip"}
        What to do about keys that are there.

    Returns
    -------
    copied, skipped : int
        Numbers of keys.
    nbytes : int
        Bytes that were copied.

    Raises
    ------
    NodeExistsError
        If a key is there already, unless ``if_exists`` says otherwise.
    """
    if if_exists not in ("raise", "replace", "skip"):
        raise ValueError(f'if_exists must be "raise", "replace" or "skip", not {if_exists!r}')
    from_store, from_path = locate(source, source_path, read_only=True)
    to_store, to_path = locate(dest, dest_path)
    before, after = (f"{path}/" if path else "" for path in (from_path, to_path))
    keys = sorted(from_store.list_prefix(before))
    there = {key for key in (after + key[len(before) :] for key in keys) if to_store.exists(key)}
    if there and if_exists == "raise":
        raise NodeExistsError(
            f"{to_store} {min(there)!r}", 'is there already; see if_exists="replace" and "skip"'
        )
    copied = nbytes = 0
    for key in keys:
        target = after + key[len(before) :]
        if target in there and if_exists == "skip":
            continue
        value = from_store.get(key)
        if value is not None:
            to_store.set(target, value)
            copied += 1
            nbytes += len(value)
    return copied, len(keys) - copied, nbytes


def copy_node(
    format_: Format, source: Store, source_path: str, dest: Store, dest_path: str
) -> list[str]:
    """Copy a node with everything below it to where there is no node.

    Parameters
    ----------
    format_ : Format
        That of the node, and of the copy.
    source, source_path
        The node.
    dest, dest_path
        The copy; the groups that lead to it are there.

    Returns
    -------
    list of str
        Paths of the copies, parents first.

    Raises
    ------
    NodeExistsError
        If there is a node already, or keys that an array would take for its own.
    """
    metadata = format_.read(source, source_path)
    assert metadata is not None, "the caller has found it"
    if format_.read(dest, dest_path) is not None:
        raise occupied(dest, dest_path)
    nodes = [(source_path, metadata)]
    if isinstance(metadata, GroupMetadata):
        nodes += walk(format_, source, source_path, None)
    copies = [(_moved(path, source_path, dest_path), found) for path, found in nodes]
    documents = {key for path, _ in nodes for key in format_.documents(path)}
    # Everything, also what is no chunk: a user may keep notes beside an array.
    targets = {}
    for old, new in zip(format_.prefixes(source_path), format_.prefixes(dest_path), strict=True):
        for key in source.list_prefix(old):
            if key not in documents:
                targets[new + key[len(old) :]] = key
    # Its own may be there already, if it was copied before and that was interrupted.
    own = {key for path, _ in copies for key in format_.documents(path)}
    own.update(targets)
    for path, found in copies:
        if isinstance(found, ArrayMetadata):
            others = set(dest.list_prefix(format_.chunk_prefix(path))) - own
            if others:
                raise NodeExistsError(
                    f"{dest} {'/' + path!r}",
                    f"holds {min(others)!r}, which is not part of a node; remove it first",
                )
    for target, key in targets.items():
        value = source.get(key)
        if value is not None:
            dest.set(target, value)
    for path, found in reversed(copies):  # a node that can be seen is complete
        format_.write(dest, path, found)
    return [path for path, _ in copies]


def _moved(path: str, source: str, dest: str) -> str:
    relative = path[len(source) :].lstrip("/")
    return f"{dest}/{relative}".strip("/")


def _lies_in(path: str, other: str) -> bool:
    return not other or f"{path}/".startswith(f"{other}/")
