"""The checksum of a hierarchy that the DANDI archive uses.

A directory is described by a JSON document with the digest, name and size of its directories and
its files, each sorted by name; its digest is ``<MD5>-<number of files>--<size>``, with the MD5 of
the document.  The digest of a file is its MD5.  Source: the package ``zarr-checksum``.
"""

from __future__ import annotations

import json
from hashlib import md5
from typing import TYPE_CHECKING, Any

from zarr_stores.integrity.manifest import hashes_below

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zarr_core.hierarchy.store_path import StoreLike


def dandi_checksum(
    store: StoreLike,
    path: str | None = None,
    *,
    progress: Callable[[Any], object] | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> str:
    """Return the checksum of a hierarchy as the DANDI archive computes it.

    Parameters
    ----------
    store : store-like
        Location; an array or group for the node and everything below it.
    path : str, optional
        Path of the node in the store.
    progress : callable, optional
        As for :func:`zarr_core.copy`.
    storage_options : mapping, optional
        Further arguments for the store of a URL.

    Returns
    -------
    str
        ``<MD5>-<number of keys>--<size in bytes>``.
    """
    root: dict[str, Any] = {}  # files by name, directories by name with a slash
    for key, (size, digest) in hashes_below(store, path, progress, storage_options, _md5).items():
        *parents, name = key.split("/")
        directory = root
        for parent in parents:
            directory = directory.setdefault(f"{parent}/", {})
        directory[name] = {"digest": digest, "name": name, "size": size}
    checksum: str = _describe(root, "")["digest"]
    return checksum


def _md5(data: bytes = b"") -> Any:
    return md5(data, usedforsecurity=False)


def _describe(directory: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the digest, the name and the size of a directory."""
    files = [directory[it] for it in sorted(directory) if not it.endswith("/")]
    names = sorted(it[:-1] for it in directory if it.endswith("/"))
    directories = [_describe(directory[f"{it}/"], it) for it in names]
    size = sum(it["size"] for it in (*directories, *files))
    count = sum(int(it["digest"].split("-")[1]) for it in directories) + len(files)
    document = json.dumps({"directories": directories, "files": files}, separators=(",", ":"))
    digest = _md5(document.encode()).hexdigest()
    return {"digest": f"{digest}-{count}--{size}", "name": name, "size": size}
