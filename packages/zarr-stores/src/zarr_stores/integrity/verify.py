"""Comparison of a hierarchy with its manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from zarr_core.extension import Location, NodeNotFoundError, StoreError, StoreReadError
from zarr_core.hierarchy.store_path import opened_store
from zarr_core.names import MANIFEST_NAME

from zarr_stores.integrity.manifest import (
    Manifest,
    ManifestEntry,
    difference,
    hash_values,
    keys_below,
    read_manifest,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping

    from zarr_core.extension import Store
    from zarr_core.hierarchy.store_path import StoreLike

__all__ = ["ManifestProblem", "Verification", "find_manifest", "verify"]


class ManifestProblem(NamedTuple):
    """A key that is not as its manifest says."""

    key: str
    """The key, relative to the verified node."""
    kind: str
    """``"missing"``, ``"unexpected"``, ``"size"``, ``"content"`` or ``"unreadable"``."""
    reason: str
    """The problem in words."""

    def __str__(self) -> str:
        return f"{self.key}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of comparing a hierarchy with its manifest.

    Parameters
    ----------
    store, path : str
        The location.
    keys, nbytes : int
        Number of keys that were read, and length of their values in bytes.
    digest : str
        The digest of the manifest.
    problems : tuple of ManifestProblem
        All keys that differ, sorted.
    listed : bool
        Whether the store was listed; otherwise unexpected keys are unknown.
    """

    store: str
    path: str
    keys: int
    nbytes: int
    digest: str
    problems: tuple[ManifestProblem, ...]
    listed: bool = True

    @property
    def is_sound(self) -> bool:
        """Whether every value is as the manifest says."""
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {
            "store": self.store,
            "path": self.path,
            "sound": self.is_sound,
            "digest": self.digest,
            "keys": self.keys,
            "nbytes": self.nbytes,
            "listed": self.listed,
            "problems": [problem._asdict() for problem in self.problems],
        }


def find_manifest(store: Store, path: str) -> tuple[Manifest, str]:
    """Return the manifest of a node, or of the nearest group above it that has one.

    Returns
    -------
    manifest : Manifest
        The manifest of that group.
    root : str
        Path of that group.

    Raises
    ------
    NodeNotFoundError
        If the manifest does not exist.
    """
    root = path
    while True:
        manifest = read_manifest(store, root)
        if manifest is not None:
            return manifest, root
        if not root:
            raise NodeNotFoundError(
                Location(store, path),
                f"the manifest {MANIFEST_NAME!r} was not found here or above; pass the file of a "
                "manifest, or store one with: zarr-core digest LOCATION --store",
            )
        root = root.rpartition("/")[0]


def verify(
    store: StoreLike,
    manifest: Manifest | str | os.PathLike[str] | None = None,
    path: str | None = None,
    *,
    progress: Callable[[Any], object] | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Verification:
    """Read every value below a node and compare it with a manifest.

    Parameters
    ----------
    store : store-like
        Location; an array or group for the node and everything below it.
    manifest : Manifest or path, optional
        The manifest of the node, or the file that has it.  By default the one that is stored in
        the node or a group above it.
    path : str, optional
        Path of the node in the store.
    progress : callable, optional
        As for :func:`zarr_core.copy`.
    storage_options : mapping, optional
        Further arguments for the store of a URL.

    Raises
    ------
    NodeNotFoundError
        If the manifest does not exist.
    StoreError
        If the manifest is not valid, the stored manifest was replaced while the values were read,
        or the store fails.
    """
    with opened_store(store, path, read_only=True, storage_options=storage_options) as opened:
        inner, below = opened
        prefix = f"{below}/" if below else ""
        if manifest is None:
            expected = _stored_manifest(inner, below)
        elif isinstance(manifest, Manifest):
            expected = manifest
        else:
            expected = Manifest.read(manifest)
        lists = inner.supports_listing
        stored = keys_below(inner, prefix) if lists else ()
        known = {prefix + key for key in expected}
        hashes = hash_values(inner, [*dict.fromkeys([*stored, *sorted(known)])], progress)
        problems: list[ManifestProblem] = []
        nbytes = count = 0
        for key, value in hashes.items():
            if isinstance(value, ManifestEntry):
                nbytes += value.size
                count += 1
            problems += _compare(expected, key[len(prefix) :], value)
        if problems and manifest is None and _stored_manifest(inner, below) != expected:
            raise StoreError(
                "the manifest was replaced while the values were read; verify again",
                store=Location(inner, below),
            )
        found = tuple(sorted(problems))
        return Verification(str(inner), f"/{below}", count, nbytes, expected.digest, found, lists)


def _stored_manifest(store: Store, path: str) -> Manifest:
    """Return the manifest of the keys below a node, which may be stored in a group above it."""
    manifest, root = find_manifest(store, path)
    return manifest.below(path[len(root) :].lstrip("/"))


def _compare(
    expected: Manifest, key: str, value: ManifestEntry | StoreReadError | None
) -> Iterator[ManifestProblem]:
    if isinstance(value, StoreReadError):
        yield ManifestProblem(key, "unreadable", f"cannot be read: {value.reason}")
    elif problem := difference(value, expected.get(key)):
        yield ManifestProblem(key, *problem)
