"""Create, open, remove and check consolidated metadata.

Specification: v3.1, "Additional fields".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarr_core import open_group
from zarr_core.errors import StoreCapabilityError
from zarr_core.extension import strictjson
from zarr_core.formats.walk import walk
from zarr_core.hierarchy.node import update_metadata
from zarr_core.messages import listed
from zarr_core.optional import reporter_for, with_advice

from zarr_formats.consolidated_view import consolidated_documents, without_copies

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal

    from zarr_core import Group, StoreLike
    from zarr_core.extension import JSON


@dataclass(frozen=True, slots=True)
class Difference:
    """Differences between consolidated metadata and the stored documents.

    Parameters
    ----------
    stale : tuple of str
        Paths whose copy differs from the stored document.
    missing : tuple of str
        Paths without a copy.
    extra : tuple of str
        Paths that have a copy but are not stored.
    """

    stale: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.stale or self.missing or self.extra)

    def __str__(self) -> str:
        parts = [
            f"{len(paths)} {word} ({listed(paths, 3)})"
            for word, paths in (
                ("stale", self.stale),
                ("missing", self.missing),
                ("extra", self.extra),
            )
            if paths
        ]
        return ", ".join(parts) or "up to date"


def consolidate_metadata(
    store: StoreLike,
    path: str | None = None,
    zarr_format: int | str | None = None,
    *,
    progress: Callable[[Any], object] | bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Group:
    """Copy the metadata of all nodes below a group into the metadata of the group.

    Opening the group for reading then takes one read for the whole hierarchy.

    Parameters
    ----------
    store : store-like
        Location of the group.
    path : str, optional
        Path of the group in the store.
    zarr_format : int or str, optional
        Accept this format only.
    progress : callable or True, optional
        Called with a ``Progress`` of zarr-transfer a few times a second; True draws a bar.
    storage_options : mapping, optional
        Further arguments for the store of a URL.

    Returns
    -------
    Group
        The group, with its consolidated metadata.

    Raises
    ------
    NodeTypeError
        If the node is an array.
    StoreCapabilityError
        If the store needs no consolidated metadata, such as a session of Icechunk.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> root = zarr.create_group("remote.zarr")
    >>> _ = root.create_array("t", shape=5)
    >>> _ = zarr.consolidate_metadata("remote.zarr")
    >>> list(zarr.open_consolidated("remote.zarr"))
    ['t']
    """
    group = open_group(
        store, "r+", path=path, zarr_format=zarr_format, use_consolidated=False,
        storage_options=storage_options,
    )  # fmt: skip
    if not group.store.traits.supports_consolidated_metadata:
        raise StoreCapabilityError(
            "the store reads all metadata fast and keeps its versions; consolidated metadata would "
            "hide nodes that are created later. Open the group without it", group.store
        )  # fmt: skip
    # The lock excludes concurrent updates of the consolidated metadata.
    update_metadata(
        group,
        lambda metadata: metadata.replace(
            consolidated=consolidated_documents(_documents(group, progress))
        ),
    )
    return open_group(group, "r+", zarr_format=zarr_format)


@with_advice
def open_consolidated(
    store: StoreLike,
    mode: Literal["r", "r+", "a", "w", "w-", "x"] | None = None,
    *,
    path: str | None = None,
    zarr_format: int | str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    extensions: Mapping[str, Mapping[str, Any]] | None = None,
    attributes: Mapping[str, Any] | None = None,
) -> Group:
    """Open a group whose members are listed in its consolidated metadata.

    Parameters as for :func:`zarr_core.open_group`.  By default the group is opened for reading and
    writing, as in zarr-python; changes through it also change the consolidated metadata.

    Raises
    ------
    ValueError
        If the group has no consolidated metadata.
    """
    return open_group(
        store, mode, path=path, zarr_format=zarr_format, storage_options=storage_options,
        use_consolidated=True, extensions=extensions, attributes=attributes,
    )  # fmt: skip


def unconsolidate_metadata(
    store: StoreLike,
    path: str | None = None,
    zarr_format: int | str | None = None,
    *,
    storage_options: Mapping[str, Any] | None = None,
) -> Group:
    """Remove the consolidated metadata of a group, if there is any.

    Parameters as for :func:`consolidate_metadata`.

    Returns
    -------
    Group
        The group; its members are looked up in the store.

    Raises
    ------
    NodeTypeError
        If the node is an array.
    """
    group = open_group(
        store, "r+", path=path, zarr_format=zarr_format, use_consolidated=False,
        storage_options=storage_options,
    )  # fmt: skip
    if group.metadata.consolidated is not None:
        update_metadata(group, lambda metadata: metadata.replace(consolidated=None))
    return group


def check_consolidated(
    group: StoreLike,
    *,
    progress: Callable[[Any], object] | bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Difference:
    """Compare the consolidated metadata of a group with the stored metadata.

    ``group`` is a group or its location, the other arguments are as for
    :func:`consolidate_metadata`.

    Returns
    -------
    Difference
        False in a boolean context if nothing differs.

    Raises
    ------
    ValueError
        If the group has no consolidated metadata.
    """
    group = open_group(group, "r", use_consolidated=False, storage_options=storage_options)
    if group.metadata.consolidated is None:
        raise ValueError(f"{group.stored.location} has no consolidated metadata")
    return difference(group.metadata.consolidated.entries, _documents(group, progress))


def difference(entries: Mapping[str, JSON], documents: Mapping[str, JSON]) -> Difference:
    """Compare the entries of consolidated metadata with the documents of all nodes, by relative path."""
    return Difference(
        stale=tuple(
            path
            for path, entry in entries.items()
            if path in documents
            and not strictjson.identical(without_copies(entry), without_copies(documents[path]))
        ),
        missing=tuple(path for path in documents if path not in entries),
        extra=tuple(path for path in entries if path not in documents),
    )


def _documents(group: Group, progress: Callable[[Any], object] | bool | None) -> dict[str, JSON]:
    """The metadata documents of all nodes below a group, by relative path."""
    format_, prefix = group.stored.format, len(group.path) + 1 if group.path else 0
    documents: dict[str, JSON] = {}
    with reporter_for(progress, 1) as reporter:
        reporter.begin(group.path, None, "nodes")
        for path, metadata in walk(format_, group.store, group.path, None):
            documents[path[prefix:]] = format_.to_json(metadata)
            reporter.advance(1)
        reporter.end()
    return documents
