"""Manifests: the size and SHA-256 of every value of a hierarchy, and one digest of all of them.

The digest is the same in every store.  It is described in :mod:`zarr_stores.integrity.digest_tree`, the
format of the file in ``schemas/manifest/manifest.json``: JSON lines, first the header, then one
line for each key in the order of their code points.
"""

from __future__ import annotations

import json
import os
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from zarr_core.extension import StoreError, StoreReadError, ValueReplacedError
from zarr_core.hierarchy.store_path import opened_store
from zarr_core.names import MANIFEST_NAMES
from zarr_core.optional import reporter_for
from zarr_core.threads import parallel_for

from zarr_stores.integrity.digest_tree import DigestTree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from zarr_core.extension import Buffers, Store
    from zarr_core.hierarchy.store_path import StoreLike

__all__ = [
    "CHANGES_NAME",
    "MANIFEST_NAME",
    "Manifest",
    "ManifestEntry",
    "create_manifest",
    "is_manifest_key",
    "load_manifest",
]

MANIFEST_NAME, CHANGES_NAME = MANIFEST_NAMES

_FORMAT = "zarr_manifest"
_VERSION = 1
_LARGE = 1 << 26  # values above are read in parts
_PART = 1 << 23
_ATTEMPTS = 5
_SIZE = 8  # bytes of a record before the hash


class ManifestEntry(NamedTuple):
    """What a manifest says about one value."""

    size: int
    """Length in bytes."""
    sha256: str
    """Hash of the value, in hexadecimal digits."""


class Manifest:
    """The size and hash of every value below a path.

    Parameters
    ----------
    records : mapping of str to bytes, optional
        For each key, relative to the path, 8 bytes of the size and 32 bytes of the SHA-256.

    Notes
    -----
    Equal manifests have equal digests.  Not thread-safe while it is changed.

    Examples
    --------
    >>> from zarr_core import create_array
    >>> from zarr_stores.integrity.manifest import create_manifest
    >>> array = create_array(shape=4, dtype="int32", data=[1, 2, 3, 4])
    >>> manifest = create_manifest(array)
    >>> sorted(manifest)
    ['c/0', 'zarr.json']
    """

    def __init__(self, records: Mapping[str, bytes] | None = None) -> None:
        self._records = dict(records or {})
        self._tree: DigestTree | None = None

    # --- entries ---

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Any:
        return iter(self._records)

    def __contains__(self, key: object) -> bool:
        return key in self._records

    def __getitem__(self, key: str) -> ManifestEntry:
        return _entry(self._records[key])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Manifest) and self._records == other._records

    __hash__ = None  # type: ignore[assignment]  # can be changed

    def record(self, key: str) -> bytes | None:
        """Return the record of a key; None if the key has no value."""
        return self._records.get(key)

    def records(self) -> Mapping[str, bytes]:
        """Return the records of all keys."""
        return self._records

    def set(self, key: str, record: bytes | None) -> None:
        """Replace the record of a key; None removes it."""
        if record is None:
            self._records.pop(key, None)
        else:
            self._records[key] = record
        if self._tree is not None:
            self._tree.set(key, record)

    # --- all ---

    @property
    def digest(self) -> str:
        """The digest of the hierarchy: 64 hexadecimal digits."""
        if self._tree is None:
            self._tree = DigestTree(self._records)
        return self._tree.digest()

    @property
    def nbytes(self) -> int:
        """Length of all values, in bytes."""
        return sum(int.from_bytes(it[:_SIZE], "big") for it in self._records.values())

    def below(self, path: str) -> Manifest:
        """Return the manifest of a node: of the keys below a path."""
        prefix = f"{path}/" if path else ""
        return Manifest(
            {key[len(prefix) :]: it for key, it in self._records.items() if key.startswith(prefix)}
        )

    # --- files ---

    def encode(self) -> bytes:
        """Return the manifest as JSON lines; equal manifests are equal bytes."""
        header = {
            _FORMAT: _VERSION, "digest": self.digest, "keys": len(self), "nbytes": self.nbytes,
        }  # fmt: skip
        lines = [json.dumps(header, separators=(",", ":"))]
        lines += (
            map(encode_record, *zip(*sorted(self._records.items()), strict=True)) if self else ()
        )
        lines.append("")
        return "\n".join(lines).encode("ascii")

    @classmethod
    def decode(cls, data: bytes | bytearray | memoryview, location: object) -> Manifest:
        """Read a manifest from JSON lines.

        StoreError if it is not a manifest, or does not have the digest in its header.
        """
        header, lines = decode_lines(data, _FORMAT, location)
        manifest = cls({key: _required(key, record, location) for key, record in lines})
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
        number, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(number, "wb") as target:
                target.write(self.encode())
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)  # as of other new files
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise

    @classmethod
    def read(cls, file: str | os.PathLike[str]) -> Manifest:
        """Read a manifest from a file; errors as for :meth:`decode`."""
        return cls.decode(Path(file).read_bytes(), os.fspath(file))


def _entry(record: bytes) -> ManifestEntry:
    return ManifestEntry(int.from_bytes(record[:_SIZE], "big"), record[_SIZE:].hex())


def _required(key: str, record: bytes | None, location: object) -> bytes:
    if record is None:
        raise StoreError(f"the manifest has no hash for {key!r}", store=location)
    return record


# --- lines ---


def encode_record(key: str, record: bytes | None) -> str:
    """Return the line of a key; a record of None means that the key was removed."""
    name = json.dumps(key)
    if record is None:
        return f'{{"key":{name},"sha256":null}}'
    size = int.from_bytes(record[:_SIZE], "big")
    return f'{{"key":{name},"size":{size},"sha256":"{record[_SIZE:].hex()}"}}'


def decode_lines(
    data: bytes | bytearray | memoryview, format_: str, location: object
) -> tuple[dict[str, Any], list[tuple[str, bytes | None]]]:
    """Return the header and the records of a file of JSON lines.

    Raises
    ------
    StoreError
        If a line is not valid, or the header does not have the member ``format_``.
    """
    try:
        lines = str(data, "utf-8").split("\n")
        if lines.pop():
            raise _invalid(location, "the last line is incomplete")
        # One call of the parser is faster than one for each line.
        header, *found = json.loads(f"[{','.join(lines)}]")
    except (ValueError, RecursionError) as error:
        raise _invalid(location, f"is not JSON lines: {error}") from None
    if not isinstance(header, dict) or format_ not in header:
        raise _invalid(location, f"the first line has no member {format_!r}")
    if header[format_] != _VERSION:
        raise _invalid(
            location,
            f"has version {header[format_]!r}, and only {_VERSION} is known; update zarr-stores",
        )
    records: list[tuple[str, bytes | None]] = []
    for number, line in enumerate(found, 2):
        try:
            key, hash_ = line["key"], line["sha256"]
            if not isinstance(key, str):
                raise TypeError
            if hash_ is None:
                records.append((key, None))
                continue
            record = line["size"].to_bytes(_SIZE, "big") + bytes.fromhex(hash_)
            if len(record) != _SIZE + 32:
                raise ValueError
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            raise _invalid(
                location, f"line {number} is not a key with size and sha256: {str(line)[:200]}"
            ) from None
        records.append((key, record))
    return header, records


def _invalid(location: object, problem: str) -> StoreError:
    return StoreError(f"not a manifest: {problem}", store=location)


# --- values ---


def is_manifest_key(key: str) -> bool:
    """Whether a key belongs to a manifest, and not to the hierarchy that it describes."""
    return key.rpartition("/")[2] in MANIFEST_NAMES


def record_of(value: Buffers) -> bytes:
    """Return the record of a value."""
    if isinstance(value, bytes | bytearray | memoryview):
        return len(value).to_bytes(_SIZE, "big") + sha256(value).digest()
    found, size = sha256(), 0
    for buffer in value:
        found.update(buffer)
        size += len(buffer)
    return size.to_bytes(_SIZE, "big") + found.digest()


def _hash_value(
    store: Store, key: str, hash_: Callable[[], Any] = sha256
) -> tuple[int, bytes] | None:
    """Return the size and the hash of a value; None for a missing key.

    Large values are read in parts, so that they are never in memory as a whole.  ``hash_`` creates a
    hash, as those of :mod:`hashlib`.
    """
    for attempt in range(_ATTEMPTS):
        value = store.get_limited(key, _LARGE)
        if value is None:
            return None
        found = hash_()
        if not isinstance(value, int):
            found.update(value)
            return len(value), found.digest()
        reader = store.open_value(key)
        if reader is None:
            return None
        try:
            with reader:
                for start in range(0, reader.size, _PART):
                    found.update(reader.read(start, min(_PART, reader.size - start)))
                return reader.size, found.digest()
        except ValueReplacedError:
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("the last attempt raises")


def hash_values(
    store: Store,
    keys: Iterable[str],
    progress: Callable[[Any], object] | None = None,
    hash_: Callable[[], Any] = sha256,
) -> dict[str, tuple[int, bytes] | StoreReadError | None]:
    """Return the size and hash of several values, or the error of those that cannot be read."""
    names = [*keys]
    found: dict[str, tuple[int, bytes] | StoreReadError | None] = dict.fromkeys(names)
    with reporter_for(progress, 1) as reporter:
        reporter.begin("", len(names), "keys")

        def work(key: str) -> None:
            try:
                value = _hash_value(store, key, hash_)
            except StoreReadError as error:
                found[key] = error
                return
            found[key] = value
            reporter.advance(1, value[0] if value is not None else 0)

        requests = store.max_concurrency
        parallel_for(names, work, None if requests is None else True, requests)
        reporter.end()
    return found


def keys_below(store: Store, prefix: str) -> list[str]:
    """Return the keys of a hierarchy, without those of its manifest."""
    return [key for key in store.list_prefix(prefix) if not is_manifest_key(key)]


def hashes_below(
    store: StoreLike,
    path: str | None,
    progress: Callable[[Any], object] | None,
    storage_options: Mapping[str, Any] | None = None,
    hash_: Callable[[], Any] = sha256,
) -> dict[str, tuple[int, bytes]]:
    """Return the size and hash of every value below a node, by the key relative to its path.

    Raises a StoreReadError if a value cannot be read.
    """
    with opened_store(store, path, read_only=True, storage_options=storage_options) as opened:
        place, below = opened
        prefix = f"{below}/" if below else ""
        found = {}
        for key, value in hash_values(place, keys_below(place, prefix), progress, hash_).items():
            if isinstance(value, StoreReadError):
                raise value
            if value is not None:  # not removed meanwhile
                found[key[len(prefix) :]] = value
        return found


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
    found = hashes_below(store, path, progress, storage_options)
    return Manifest({key: size.to_bytes(_SIZE, "big") + it for key, (size, it) in found.items()})


def load_manifest(manifest: Manifest | str | os.PathLike[str]) -> Manifest:
    """Return a manifest, which is read if it is the path of a file."""
    return manifest if isinstance(manifest, Manifest) else Manifest.read(manifest)
