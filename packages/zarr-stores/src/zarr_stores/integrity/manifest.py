"""Manifests: the size and SHA-256 of every value of a hierarchy, and one digest of all of them.

The format of the file is in ``schemas/manifest``: JSON lines, first the header, then one line for
each key in the order of their code points.  The digest is the SHA-256 of the lines after the header.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from zarr_core.extension import Location, StoreError, StoreReadError, StoreReadOnlyError
from zarr_core.hierarchy.store_path import opened_store
from zarr_core.names import MANIFEST_NAME, is_manifest_key
from zarr_core.optional import reporter_for
from zarr_core.stores.local import LocalStore
from zarr_core.threads import parallel_for

from zarr_stores._reader_store import repeat_if_replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from zarr_core.extension import Buffer, Store
    from zarr_core.hierarchy.store_path import StoreLike

__all__ = [
    "Manifest",
    "ManifestEntry",
    "create_manifest",
    "is_manifest_key",
    "read_manifest",
    "write_manifest",
]

_FORMAT = "zarr_manifest"
_VERSION = 1
_LARGE = 1 << 26  # values above are read in parts
_PART = 1 << 23


class ManifestEntry(NamedTuple):
    """What a manifest says about one value."""

    size: int
    """Length in bytes."""
    sha256: str
    """Hash of the value, in hexadecimal digits."""


class Manifest(Mapping[str, ManifestEntry]):
    """The size and hash of every value below a path.

    Parameters
    ----------
    entries : mapping of str to ManifestEntry
        The entry of each key, relative to the path.

    Notes
    -----
    Equal manifests have equal digests.

    Examples
    --------
    >>> from zarr_core import create_array
    >>> from zarr_stores.integrity.manifest import create_manifest
    >>> array = create_array(shape=4, dtype="int32", data=[1, 2, 3, 4])
    >>> manifest = create_manifest(array)
    >>> sorted(manifest)
    ['c/0', 'zarr.json']
    """

    def __init__(self, entries: Mapping[str, ManifestEntry]) -> None:
        self._entries = dict(entries)

    # --- entries ---

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __getitem__(self, key: str) -> ManifestEntry:
        return self._entries[key]

    # --- all ---

    @cached_property
    def digest(self) -> str:
        """The digest of the hierarchy: 64 hexadecimal digits."""
        return sha256(self._lines).hexdigest()

    @cached_property
    def _lines(self) -> bytes:
        """The lines after the header."""
        lines = (
            f'{{"key":{json.dumps(key)},"size":{size},"sha256":"{hash_}"}}\n'
            for key, (size, hash_) in sorted(self._entries.items())
        )
        return "".join(lines).encode("ascii")

    @property
    def nbytes(self) -> int:
        """Length of all values, in bytes."""
        return sum(entry.size for entry in self._entries.values())

    def below(self, path: str) -> Manifest:
        """Return the manifest of a node: of the keys below a path."""
        prefix = f"{path}/" if path else ""
        return Manifest(
            {
                key[len(prefix) :]: entry
                for key, entry in self._entries.items()
                if key.startswith(prefix)
            }
        )

    # --- files ---

    def encode(self) -> bytes:
        """Return the manifest as JSON lines; equal manifests are equal bytes."""
        header = {
            _FORMAT: _VERSION, "digest": self.digest, "keys": len(self), "nbytes": self.nbytes,
        }  # fmt: skip
        return f"{json.dumps(header, separators=(',', ':'))}\n".encode("ascii") + self._lines

    @classmethod
    def decode(cls, data: Buffer, location: object) -> Manifest:
        """Read a manifest from JSON lines.

        StoreError if it is not a manifest, or does not have the digest in its header.
        """
        header, lines = _decode_lines(data, location)
        entries: dict[str, ManifestEntry] = {}
        for number, line in enumerate(lines, 2):
            try:
                entries[line["key"]] = _entry(**line)
            except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
                raise _invalid(
                    location, f"line {number} is not a key with size and sha256: {str(line)[:200]}"
                ) from None
        manifest = cls(entries)
        if len(manifest) != header.get("keys") or manifest.digest != header.get("digest"):
            raise StoreError(
                "the manifest is damaged: its lines do not have the digest in its first line; "
                "restore it from a copy, or create it again with zarr-core digest if the data "
                "is known to be sound",
                store=location,
            )
        return manifest

    def write(self, file: str | os.PathLike[str]) -> None:
        """Write the manifest to a file, which is replaced at once."""
        path = Path(file)
        LocalStore(path.parent).set(path.name, self.encode())

    @classmethod
    def read(cls, file: str | os.PathLike[str]) -> Manifest:
        """Read a manifest from a file; errors as for :meth:`decode`."""
        return cls.decode(Path(file).read_bytes(), os.fspath(file))


def _decode_lines(data: Buffer, location: object) -> tuple[dict[str, Any], list[Any]]:
    """Return the header and the other lines of a manifest."""
    try:
        lines = str(data, "utf-8").split("\n")
        if lines.pop():
            raise _invalid(location, "the last line is incomplete")
        # One call of the parser is faster than one for each line.
        header, *entries = json.loads(f"[{','.join(lines)}]")
    except (ValueError, RecursionError) as error:
        raise _invalid(location, f"is not JSON lines: {error}") from None
    if not isinstance(header, dict) or _FORMAT not in header:
        raise _invalid(location, f"the first line has no member {_FORMAT!r}")
    if header[_FORMAT] != _VERSION:
        raise _invalid(
            location,
            f"has version {header[_FORMAT]!r}, and only {_VERSION} is known; update zarr-stores",
        )
    return header, entries


def _entry(*, key: str, size: int, sha256: str, **_: Any) -> ManifestEntry:
    """Return the entry of a line, which may have other members."""
    key.encode("utf-8", "surrogatepass")
    size.to_bytes(8)
    digest = bytes.fromhex(sha256)
    if len(digest) != 32:
        raise ValueError("not a SHA-256")
    return ManifestEntry(size, digest.hex())


def _invalid(location: object, problem: str) -> StoreError:
    return StoreError(f"not a manifest: {problem}", store=location)


# --- values ---


def difference(
    actual: ManifestEntry | None, expected: ManifestEntry | None
) -> tuple[str, str] | None:
    """Return how a value differs from its entry, as a kind and in words; None if it does not."""
    if actual == expected:
        return None
    if actual is None:
        return "missing", "is in the manifest, but not in the store"
    if expected is None:
        return "unexpected", "is in the store, but not in the manifest"
    if actual[0] != expected.size:
        return "size", f"has {actual[0]} bytes instead of {expected.size}"
    return "content", "has another content than in the manifest"


def _hash_value(store: Store, key: str) -> ManifestEntry | None:
    """Return the size and the hash of a value; None for a missing key.

    Large values are read in parts, so that they are never in memory as a whole.
    """
    value = store.get_limited(key, _LARGE)
    if value is None:
        return None
    if not isinstance(value, int):
        return ManifestEntry(len(value), sha256(value).hexdigest())
    digest = sha256()
    reader = store.open_value(key)
    if reader is None:
        return None
    with reader:
        for start in range(0, reader.size, _PART):
            digest.update(reader.read(start, min(_PART, reader.size - start)))
        return ManifestEntry(reader.size, digest.hexdigest())


def hash_values(
    store: Store,
    keys: Iterable[str],
    progress: Callable[[Any], object] | None = None,
) -> dict[str, ManifestEntry | StoreReadError | None]:
    """Return the size and hash of several values, or the error of those that cannot be read."""
    names = [*keys]
    hashed: dict[str, ManifestEntry | StoreReadError | None] = dict.fromkeys(names)
    with reporter_for(progress, 1) as reporter:
        reporter.begin("", len(names), "keys")

        def work(key: str) -> None:
            try:
                value = repeat_if_replaced(lambda: _hash_value(store, key))
            except StoreReadError as error:
                hashed[key] = error
                return
            hashed[key] = value
            reporter.advance(1, value.size if value is not None else 0)

        requests = store.max_concurrency
        parallel_for(names, work, None if requests is None else True, requests)
        reporter.end()
    return hashed


def keys_below(store: Store, prefix: str) -> list[str]:
    """Return the keys of a hierarchy, without those of its manifest."""
    return [key for key in store.list_prefix(prefix) if not is_manifest_key(key)]


def create_manifest(
    store: StoreLike,
    path: str | None = None,
    *,
    progress: Callable[[Any], object] | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Manifest:
    """Read every value below a node and return their sizes and hashes.

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

    Raises
    ------
    StoreCapabilityError
        If the store cannot list its keys.
    StoreReadError
        If a value cannot be read.
    """
    with opened_store(store, path, read_only=True, storage_options=storage_options) as opened:
        store_, below = opened
        prefix = f"{below}/" if below else ""
        entries = {}
        for key, value in hash_values(store_, keys_below(store_, prefix), progress).items():
            if isinstance(value, StoreReadError):
                raise value
            if value is not None:  # not removed meanwhile
                entries[key[len(prefix) :]] = value
        return Manifest(entries)


# --- manifests in stores ---


def _manifest_key(path: str) -> str:
    return f"{path}/{MANIFEST_NAME}" if path else MANIFEST_NAME


def read_manifest(store: Store, path: str = "") -> Manifest | None:
    """Read the manifest that is stored in a hierarchy; None if there is none."""
    key = _manifest_key(path)
    data = store.get(key)
    return None if data is None else Manifest.decode(data, Location(store, key=key))


def write_manifest(
    store: Store, path: str = "", progress: Callable[[Any], object] | None = None
) -> Manifest:
    """Read every value of a hierarchy and store its manifest in it.

    The manifest is stored at the end, in one atomic write.  Values must not be changed meanwhile.
    """
    key = _manifest_key(path)
    if store.read_only:
        raise StoreReadOnlyError("the manifest cannot be stored: read-only", store, key)
    manifest = create_manifest(store, path, progress=progress)
    store.set(key, manifest.encode())
    return manifest
