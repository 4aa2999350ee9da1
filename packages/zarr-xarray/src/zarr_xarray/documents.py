"""Documents of nodes that are made, or grow, in as few store operations as there can be.

What :func:`zarr_core.create_array` does for one array, asking the store whether anything is
in the way, a dataset needs but once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core import Array, MemoryStore, array_from_metadata, create_array
from zarr_core.extension import (
    ArrayMetadata,
    Format,
    NodeExistsError,
    ValueReader,
    strictjson,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON, GroupMetadata, Pieces, Store

    Documents = dict[str, JSON]


def draft(format_: Format, fill_value_undefined: bool, **options: Any) -> ArrayMetadata:
    """The metadata of a new array, made where it costs nothing.

    Parameters
    ----------
    format_ : Format
        The format that it will have.
    fill_value_undefined : bool
        Whether its document gives no fill value, as version 2 permits.
    **options
        Arguments of :func:`zarr_core.create_array`.
    """
    made = create_array(MemoryStore(), zarr_format=format_.name, **options)
    if not fill_value_undefined:
        return made.metadata
    metadata = made.metadata.replace(fill_value_undefined=True, document=None)
    return format_.express(metadata, "new array")


def array_at(
    store: Store, path: str, format_: Format, metadata: ArrayMetadata, keep_empty: bool | None
) -> Array:
    """The array of some metadata; the store is not asked."""
    config = None if keep_empty is None else {"write_empty_chunks": keep_empty}
    return array_from_metadata(store, metadata, path=path, zarr_format=format_.name, config=config)


def documents_of(format_: Format, path: str, metadata: ArrayMetadata | GroupMetadata) -> Documents:
    """The documents of a node by their keys, that which makes it a node last."""
    keys = format_.documents(path)
    content = format_.to_json(metadata)
    if len(keys) == 1:
        return {keys[0]: content}
    assert isinstance(content, dict), "several documents are an object of them"
    prefix = f"{path}/" if path else ""
    found = {key: content[key.removeprefix(prefix)] for key in keys if _has(content, key, prefix)}
    return dict(reversed(found.items()))


def _has(content: Mapping[str, JSON], key: str, prefix: str) -> bool:
    return key.removeprefix(prefix) in content


def write(store: Store, documents: Documents, known: Documents | None = None) -> None:
    """Store documents where nothing is that they could take the place of.

    Parameters
    ----------
    store : Store
        Where.
    documents : dict
        By key.
    known : dict, optional
        What is stored already.
    """
    for key, document in documents.items():
        if known is None or key not in known or not strictjson.identical(known[key], document):
            store.set(key, strictjson.encode(document))


def claim(store: Store, documents: Documents) -> None:
    """Store the documents of a group that is to be new, for one of several who try.

    Raises
    ------
    NodeExistsError
        If somebody was faster.
    """
    *others, main = documents
    taken = False

    def change(reader: ValueReader | None) -> Pieces | ValueReader:
        nonlocal taken
        taken = reader is not None
        return strictjson.encode(documents[main]) if reader is None else reader

    store.update(main, change)
    if taken:
        raise NodeExistsError(f"{store} {main!r}", "has been made by somebody else meanwhile")
    write(store, {key: documents[key] for key in others})


class StaleError(Exception):
    """What is stored is not what was planned with."""


def grow(array: Array, shape: tuple[int, ...], format_: Format) -> None:
    """Store another shape of an array, if its document is still the one that is known.

    Parameters
    ----------
    array : Array
        The array as it is known.
    shape : tuple of int
        What it shall have.
    format_ : Format
        The format of the array.

    Raises
    ------
    StaleError
        If the document has changed otherwise than in its attributes.
    """
    known = documents_of(format_, array.path, array.metadata)
    main = next(reversed(known))
    stale = False

    def change(reader: ValueReader | None) -> Pieces | ValueReader | None:
        nonlocal stale
        stale = True
        if reader is None:
            return None
        where = f"{array.store} {main!r}"
        stored = strictjson.loads(reader.read(0, reader.size), where, constants=True)
        expected = known[main]
        if not isinstance(stored, dict) or not isinstance(expected, dict):
            return reader
        if not strictjson.identical(
            {name: value for name, value in stored.items() if name != "attributes"},
            {name: value for name, value in expected.items() if name != "attributes"},
        ):
            return reader
        stale = False
        changed: JSON = {**stored, "shape": list(shape)}
        # In version 2 there may be NaN, which is no JSON.
        return strictjson.encode(
            changed if format_.zarr_format == 2 else strictjson.plain(changed, where)
        )

    array.store.update(main, change)
    if stale:
        raise StaleError(array.path)
