"""Keys below nodes that belong to no node, such as files of a user."""

from __future__ import annotations

import re
import time
from itertools import accumulate
from typing import TYPE_CHECKING

from zarr_core.errors import ExtensionError, NodeExistsError
from zarr_core.location import Location
from zarr_core.names import CHECKPOINT_NAME, MANIFEST_NAME
from zarr_core.registry.resolve import create_extension

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from zarr_core.interfaces.format import Format
    from zarr_core.interfaces.store import Store
    from zarr_core.metadata.array import ArrayMetadata

# Keys of this library, and of file managers, which store views of directories; all can be removed.
_AUXILIARY = {CHECKPOINT_NAME, MANIFEST_NAME, ".DS_Store", "Thumbs.db", "desktop.ini"}
# Chunk keys of all formats: the array may have had another encoding, or a larger shape.
_NUMBER = "(?:0|[1-9][0-9]*)"  # never with leading zeros
_CHUNK = re.compile(rf"c|(?:c[/.]?)?{_NUMBER}(?:(?:/{_NUMBER})+|(?:\.{_NUMBER})+)?").fullmatch

_PAUSES = (0.01, 0.03, 0.1, 0.2, 0.4, 0.0)  # seconds until possible chunks are listed again


def is_auxiliary(key: str) -> bool:
    """Whether a key is of this library or of a file manager, and can be removed with its node."""
    return key.rpartition("/")[2] in _AUXILIARY


def without_chunks(
    keys: Iterable[str], arrays: Mapping[str, ArrayMetadata | None]
) -> Iterator[str]:
    """The keys, except metadata documents, that are neither auxiliary nor possible chunk keys.

    ``arrays`` has the metadata of arrays by their prefixes of chunk keys, which are empty or end in
    ``/``; None for those without a chunk key encoding of their own, or with damaged metadata.
    """
    for key in keys:
        if not is_auxiliary(key) and not any(
            prefix in arrays
            and (_CHUNK(key, len(prefix)) or _may_be_chunk(arrays[prefix], key[len(prefix) :]))
            for prefix in accumulate(key.split("/")[:-1], "{}{}/".format, initial="")
        ):
            yield key


def _may_be_chunk(metadata: ArrayMetadata | None, key: str) -> bool:
    """Whether an array may have a chunk key, which is relative to the array."""
    if metadata is None:
        return False
    definition = metadata.chunk_key_encoding
    try:
        encoding = create_extension("chunk_key_encoding", definition, Location("array"))
    except ExtensionError:  # any keys, as with storage transformers
        return True
    return bool(metadata.storage_transformers) or (
        encoding.decode(key, len(metadata.shape)) is not None
    )


def check_unmanaged_keys(format_: Format, store: Store, path: str, doing: str, remedy: str) -> None:
    """Raise a NodeExistsError if a key below a path belongs to no node.

    ``doing`` is what would remove it, such as ``"overwriting"``; ``remedy`` ends the message.
    """
    for pause in _PAUSES:
        if (foreign := format_.find_unmanaged_key(store, path)) is None:
            return
        if not _CHUNK(foreign.removeprefix(f"{path}/")):
            break
        time.sleep(pause)  # another writer may be removing the chunks of a node
    raise NodeExistsError(
        Location(store, path),
        f"{doing} would remove {foreign!r}, which is not part of a Zarr node; {remedy}",
    )
