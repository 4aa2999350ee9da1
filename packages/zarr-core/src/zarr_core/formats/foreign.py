"""Telling keys that belong to nodes of versions 2 or 3 from those of something else."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING

from zarr_core.errors import MetadataError
from zarr_core.metadata.group import GroupMetadata
from zarr_core.metadata.node import parse_node
from zarr_core.rechunking.note import NAME

if TYPE_CHECKING:
    from zarr_core.interfaces.store import Store

# Chunk keys of the "default" encoding, at any depth; those of "v2", below their array.
_CHUNK = re.compile(r"(?:.*/)?c(?:(?:/[0-9]+)+|(?:\.[0-9]+)+)", re.DOTALL).fullmatch
_CHUNK_V2 = re.compile(r"[0-9]+(?:(?:/[0-9]+)+|(?:\.[0-9]+)+)?", re.ASCII).fullmatch
# The last is left where copying or converting an array was interrupted.
_BESIDE = frozenset((".zgroup", ".zattrs", ".zmetadata", NAME))


def foreign_key(store: Store, prefix: str) -> str | None:
    """A key below a prefix that is no part of a node, if there is one.

    Parameters
    ----------
    store : Store
        Where to look; it is listed.
    prefix : str
        Empty, or ending in ``/``.

    Notes
    -----
    Parts of nodes are documents of versions 2 and 3, all that lies below an array of
    version 3, and keys below an array of version 2 that its chunks may have.  Chunks
    ``c/0/0`` without a document are left where removing an array was interrupted.
    """
    others: list[str] = []
    arrays: set[str] = set()
    arrays_v2: set[str] = set()
    for key in store.list_prefix(prefix):
        node, _, name = f"/{key}".rpartition("/")
        if name == "zarr.json":
            if _is_array(store, key):
                arrays.add(node)
        elif name == ".zarray":
            arrays_v2.add(node)
        elif name not in _BESIDE and not _CHUNK(key):
            others.append(key)
    for key in others:
        ancestors = [*accumulate(f"/{key}".split("/")[1:-1], "{}/{}".format, initial="")]
        below_v2 = (key[len(node) :] for node in ancestors if node in arrays_v2)
        if arrays.isdisjoint(ancestors) and not any(map(_CHUNK_V2, below_v2)):
            return key
    return None


def _is_array(store: Store, key: str) -> bool:
    """Whether a document is an array's; one that is damaged counts, as it shall be removed."""
    try:
        return not isinstance(parse_node(store.get(key) or b"", key), GroupMetadata)
    except MetadataError:
        return True
