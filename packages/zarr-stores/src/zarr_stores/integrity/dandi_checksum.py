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
    root = _Directory()
    for key, (size, digest) in hashes_below(store, path, progress, storage_options, _md5).items():
        *parents, name = key.split("/")
        directory = root
        for parent in parents:
            directory = directory.directories.setdefault(parent, _Directory())
        directory.files[name] = (digest.hex(), size)
    return root.digest()[0]


def _md5() -> Any:
    return md5(usedforsecurity=False)


class _Directory:
    def __init__(self) -> None:
        self.directories: dict[str, _Directory] = {}
        self.files: dict[str, tuple[str, int]] = {}

    def digest(self) -> tuple[str, int, int]:
        """Return the digest, the size and the number of files."""
        directories = {name: it.digest() for name, it in self.directories.items()}
        document = {
            "directories": [
                {"digest": directories[name][0], "name": name, "size": directories[name][1]}
                for name in sorted(directories)
            ],
            "files": [
                {"digest": self.files[name][0], "name": name, "size": self.files[name][1]}
                for name in sorted(self.files)
            ],
        }
        sizes = [size for _, size, _ in directories.values()]
        size = sum(sizes) + sum(size for _, size in self.files.values())
        count = sum(count for _, _, count in directories.values()) + len(self.files)
        found = md5(json.dumps(document, separators=(",", ":")).encode(), usedforsecurity=False)
        return f"{found.hexdigest()}-{count}--{size}", size, count
