"""Creating and updating metadata documents in as few store operations as possible.

:func:`zarr_core.create_array` checks the store for each array; one check per dataset is enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core import Array, array_from_metadata
from zarr_core.errors import NodeExistsError
from zarr_core.extension import ArrayMetadata, Location, strictjson
from zarr_core.interfaces.metadata_document import read_metadata_from
from zarr_core.threads import concurrent_map

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from zarr_core.extension import (
        JSON,
        Buffers,
        ByteReader,
        Format,
        GroupMetadata,
        Store,
    )

    Documents = dict[str, JSON]


def array_at(
    store: Store,
    path: str,
    format_: Format,
    metadata: ArrayMetadata,
    write_empty_chunks: bool | None,
) -> Array:
    """Return an array with some metadata, without accessing the store."""
    config = None if write_empty_chunks is None else {"write_empty_chunks": write_empty_chunks}
    return array_from_metadata(store, metadata, path=path, zarr_format=format_.name, config=config)


def path_of(path: str, name: str) -> str:
    """Return the path of a member of a group."""
    return f"{path}/{name}" if path else name


def consolidated_arrays(
    store: Store,
    path: str,
    format_: Format,
    group: GroupMetadata,
    write_empty_chunks: bool | None,
    names: Iterable[str] | None = None,
) -> dict[str, Array]:
    """Return the arrays directly below a group that its consolidated metadata contains.

    If ``names`` are passed, only arrays with these names are returned.
    """
    entries = {} if group.consolidated is None else group.consolidated.entries
    arrays = {}
    for name in entries if names is None else names:
        if name in entries and "/" not in name:
            location = Location(f"{store} consolidated metadata of {name!r}")
            metadata = format_.from_json(entries[name], location)
            if isinstance(metadata, ArrayMetadata):
                arrays[name] = array_at(
                    store, path_of(path, name), format_, metadata, write_empty_chunks
                )
    return arrays


def stored_arrays(
    store: Store,
    path: str,
    format_: Format,
    names: Iterable[str],
    write_empty_chunks: bool | None,
) -> dict[str, Array]:
    """Return the named arrays directly below a group that exist; only their documents are read."""
    found = concurrent_map(
        [*names], lambda name: format_.read(store, path_of(path, name)), store.max_concurrency
    )
    return {
        name: array_at(store, path_of(path, name), format_, metadata, write_empty_chunks)
        for name, metadata in found
        if isinstance(metadata, ArrayMetadata)
    }


def documents_of(format_: Format, path: str, metadata: ArrayMetadata | GroupMetadata) -> Documents:
    """Return the documents of a node by key; the one that creates the node is last."""
    keys = format_.documents(path)
    content = format_.to_json(metadata)
    if len(keys) == 1:
        return {keys[0]: content}
    assert isinstance(content, dict), "several documents are in one object"
    prefix = f"{path}/" if path else ""
    known = {key: content[key.removeprefix(prefix)] for key in keys if _has(content, key, prefix)}
    return dict(reversed(known.items()))


def _has(content: Mapping[str, JSON], key: str, prefix: str) -> bool:
    return key.removeprefix(prefix) in content


def write(store: Store, documents: Documents, known: Documents | None = None) -> None:
    """Store documents by key, except those that are stored already (``known``)."""
    for key, document in documents.items():
        if known is None or key not in known or not strictjson.identical(known[key], document):
            store.set(key, strictjson.encode(document))


def create_exclusively(store: Store, documents: Documents) -> None:
    """Store the documents of a new group; if several processes do, one succeeds.

    The others raise NodeExistsError.
    """
    *others, main = documents
    taken = False

    def change(reader: ByteReader | None) -> Buffers | ByteReader:
        nonlocal taken
        taken = reader is not None
        return strictjson.encode(documents[main]) if reader is None else reader

    store.update(main, change)
    if taken:
        raise NodeExistsError(Location(store, key=main), "was created by another process meanwhile")
    write(store, {key: documents[key] for key in others})


def update_document(store: Store, key: str, change: Callable[[Any], bool]) -> bool:
    """Change a JSON document by one atomic write; return whether it exists.

    ``change`` changes the document in place, and returns whether to store it.
    """
    exists = False

    def update(reader: ByteReader | None) -> Buffers | ByteReader | None:
        nonlocal exists
        exists = reader is not None
        if reader is None:
            return None
        location = Location(store, key=key)
        # Attributes may have NaN, which other writers store as a token that is not valid JSON.
        document: Any = strictjson.loads(
            read_metadata_from(reader, location), location, constants=True
        )
        return strictjson.encode(document) if change(document) else reader

    store.update(key, update)
    return exists


class StaleError(Exception):
    """The stored metadata has changed since it was read.

    ``lengths`` are the lengths of the arrays along the dimension to append to, by name, if they
    differ.
    """

    def __init__(self, path: str, lengths: Mapping[str, int] | None = None) -> None:
        super().__init__(path)
        self.lengths = lengths or {}


def resize_if_unchanged(array: Array, shape: tuple[int, ...], format_: Format) -> None:
    """Change the shape of an array with the expected metadata.

    Raises StaleError if anything but the attributes has changed in its document.
    """
    known = documents_of(format_, array.path, array.metadata)
    main = next(reversed(known))
    stale = True

    def change(stored: Any) -> bool:
        nonlocal stale
        expected = known[main]
        stale = (
            not isinstance(stored, dict)
            or not isinstance(expected, dict)
            or not strictjson.identical(
                {name: value for name, value in stored.items() if name != "attributes"},
                {name: value for name, value in expected.items() if name != "attributes"},
            )
        )
        if not stale:
            stored["shape"] = list(shape)
        return not stale

    if not update_document(array.store, main, change) or stale:
        raise StaleError(array.path)
