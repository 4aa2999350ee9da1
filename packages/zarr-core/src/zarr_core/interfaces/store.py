"""The interface of stores.

Specification: v3.1, "Abstract store interface".  A store implements four methods (``get``,
``set``, ``erase``, ``list_prefix``), and can replace the others with faster ones.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from contextlib import nullcontext
from functools import partial
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from zarr_core.errors import StoreCapabilityError, StoreReadOnlyError
from zarr_core.interfaces.byte_reader import BufferByteReader, ByteReader
from zarr_core.interfaces.keys import check_prefix, key_lock
from zarr_core.threads import concurrent_map, parallel_for

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
    from typing import Any, Self

    from zarr_core.interfaces.byte_reader import Buffer, ByteRange

Buffers: TypeAlias = "Buffer | Sequence[Buffer]"
"""A value: one buffer, or several that are stored one after the other."""

Change: TypeAlias = "Callable[[ByteReader | None], Buffers | ByteReader | None]"
"""Argument of :meth:`Store.update`: computes a new value from the present one."""


class SetIfMissing:
    """A :data:`Change` that stores a value unless one exists.

    ``value`` returns the value, and may be called again.  ``known_missing`` is whether the caller
    has just seen that the key has no value: a store can then send only a conditional write.
    Otherwise it must read, since some services ignore conditions.  ``stored`` is whether the last
    call returned the value.
    """

    __slots__ = ("known_missing", "stored", "value")

    def __init__(self, value: Callable[[], Buffers], known_missing: bool = False) -> None:
        self.value = value
        self.known_missing = known_missing
        self.stored = False

    def __call__(self, reader: ByteReader | None) -> Buffers | ByteReader:
        self.stored = reader is None
        return self.value() if reader is None else reader


# Defined here, since ``list`` is a method of the class.
Values: TypeAlias = "list[Buffer | None]"
Listing: TypeAlias = tuple[list[str], list[str]]


class FileLayout(NamedTuple):
    """Where a store has its values, if each is a file that other code may read and replace."""

    directory: str
    """Absolute path of the directory; a key is a path below it."""
    follow_links: bool
    """Whether links that lead out of the directory are followed."""
    writable: bool
    """Whether values may be replaced: written to a file beside it, which is then renamed."""


class StoreTraits(NamedTuple):
    """How a store differs from others; operations choose the best way by it."""

    supports_erasing: bool = True
    """Whether keys can be removed; zip archives do not support it."""
    metadata_first: bool = False
    """Whether metadata must be stored before chunks; by default after, so that nodes are complete."""
    supports_consolidated_metadata: bool = True
    """Whether consolidated metadata may be stored; not in a store that versions all documents."""
    batch_nbytes: int = 0
    """Bytes of small values that :meth:`Store.set_values` should store together; 0 for none."""
    endpoint: Hashable = None
    """Distinguishes locations with equal URLs, such as an endpoint; None if URLs suffice."""
    files: FileLayout | None = None
    """Where the values are, if compiled code may access the files; not copied by wrappers."""
    chunk_reader: Callable[[Any], Any] | None = None
    """From a ``PreparedCodecChain`` to a ``ChunkReader`` that keeps decoded chunks; not copied."""


READ_ONLY = (
    'the store is open for reading only; to write, open it with mode="r+", or pass a store that '
    "was created without read_only=True"
)
"""Message for changes of a read-only store."""

_BATCH = 1024  # keys of which the sizes are requested together


def to_bytes(value: Buffers) -> bytes:
    """Return a value as one immutable object."""
    if isinstance(value, bytes):
        return value
    return bytes(value) if isinstance(value, bytearray | memoryview) else b"".join(value)


class ReadableStore(ABC):
    """A map from keys to values, for reading.

    Only "not found" means that a value is missing; every other failure raises an error.
    Methods can be called from several threads.  Stores can be pickled, or raise an error that
    explains why not.  Stores are equal if class, :attr:`url` and ``traits.endpoint`` are equal.
    """

    read_only: bool = False
    """Whether this object rejects changes."""

    supports_listing: bool = True
    """Whether ``list``, ``list_prefix`` and ``list_dir`` are supported."""

    in_memory: bool = False
    """Whether ``get`` returns values in memory without copying them."""

    max_concurrency: int | None = None
    """Maximum number of threads that call the methods; None for a store without latency."""

    traits: StoreTraits = StoreTraits()
    """What else operations must know to choose the best way; wrappers copy most of it."""

    @property
    def url(self) -> str:
        """The canonical URL, without credentials; for messages, tokens and equality.

        By default unique to this object.  A store whose values outlive the object returns the
        URL of the location.
        """
        return f"{type(self).__name__.lower()}://{id(self):#x}"

    @abstractmethod
    def get(self, key: str) -> Buffer | None:
        """Return the value of a key; None for a missing key.

        Raises a StoreKeyError for an invalid key, a StoreReadError if the value cannot be read.
        """

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        """Return a value, or its length if that exceeds ``limit`` bytes; None for a missing key.

        A store that knows the length before reading should replace this method, so that a longer
        value uses no memory.  It may read the value into ``out``, at least ``limit`` writable
        bytes, and return the part of it that has the value.
        """
        value = self.get(key)
        return len(value) if value is not None and len(value) > limit else value

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        """Return parts of values in the order of the arguments; None for a missing key.

        A part that extends beyond the end of its value is truncated.
        """
        if self.max_concurrency is None:  # for speed
            return [self._part(key, part) for key, part in key_ranges]
        parts = concurrent_map(key_ranges, lambda item: self._part(*item), self.max_concurrency)
        return [value for _, value in parts]

    def _part(self, key: str, part: ByteRange) -> Buffer | None:
        """Return one part of a value."""
        reader = self.open_value(key, part)
        if reader is None:
            return None
        with reader:
            start, stop = part.within(reader.size)
            return reader.read(start, stop - start)

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        """Open a value for reading parts of it; None for a missing key.

        ``first`` is the part that will be read first, if known.  A store with latency can read it
        in the request that opens the value.
        """
        value = self.get(key)
        return None if value is None else BufferByteReader(value)

    def exists(self, key: str) -> bool:
        """Whether a key has a value."""
        return self.getsize(key) is not None

    def getsize(self, key: str) -> int | None:
        """Return the length of a value in bytes; None for a missing key."""
        value = self.get(key)
        return None if value is None else len(value)

    def generation(self, key: str) -> str | None:
        """Return a string that changes whenever the value changes; None for a missing key.

        By default a digest of the value; stores use an entity tag or modification time.
        """
        value = self.get(key)
        return None if value is None else blake2b(value, digest_size=16).hexdigest()

    # --- lifetime ---

    def close(self) -> None:
        """Finish pending writes and release resources."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReadableStore) or type(self) is not type(other):
            return NotImplemented
        return self is other or self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> Hashable:
        """Return what distinguishes locations of stores of one class."""
        return self.url, self.traits.endpoint

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r}{', read_only=True' if self.read_only else ''})"

    def __str__(self) -> str:
        """Return the name for messages: the URL and, if the URL does not contain it, the server."""
        return self.url


class WritableStore(ReadableStore):
    """A store whose values can be changed."""

    def _require_writable(self, key: str) -> None:
        """Raise an error if the store is read-only."""
        if self.read_only:
            raise StoreReadOnlyError(READ_ONLY, store=self, key=key)

    @abstractmethod
    def set(self, key: str, value: Buffers) -> None:
        """Store a value; after an error or a crash, the key has the old or the new value."""

    def set_values(self, values: Iterable[tuple[str, Buffers]]) -> None:
        """Store several values; after an error, each key has its old or its new value."""
        at_once = self.max_concurrency
        parallel_for(values, lambda item: self.set(*item), at_once is not None, at_once)

    def set_partial_values(self, key_start_values: Iterable[tuple[str, int, Buffer]]) -> None:
        """Store parts of values, each ``(key, start, value)``; gaps are filled with zeros."""
        parts: dict[str, list[tuple[int, Buffer]]] = {}
        for key, start, value in key_start_values:
            parts.setdefault(key, []).append((start, value))

        def change(key: str, reader: ByteReader | None) -> bytes:
            new = bytearray(b"" if reader is None else reader.read(0, reader.size))
            for start, value in parts[key]:
                new.extend(bytes(max(0, start + len(value) - len(new))))
                new[start : start + len(value)] = value
            return bytes(new)

        def work(key: str) -> None:
            self.update(key, partial(change, key))

        parallel_for(parts, work, self.max_concurrency is not None, self.max_concurrency)

    def update(self, key: str, change: Change) -> None:
        """Read, change and write a value, excluding other changes of the key by this method.

        ``change`` takes the present value (None for a missing key) and returns the new value, None
        to remove the key, or its argument to change nothing.  The new value can refer to parts of
        the present one (:meth:`ByteReader.reference`).  The function is called again if another
        writer changed the value meanwhile.  For a :class:`SetIfMissing`, a store may save the request
        that reads.

        By default, only threads of this process are excluded.  A store that several processes share
        must also exclude these, such as by a file lock, a conditional write or a transaction.
        """
        with key_lock(self.url, key):
            self._update_unlocked(key, change)

    def _update_unlocked(self, key: str, change: Change) -> None:
        """Read, change and write a value; the caller excludes other changes."""
        reader = self.open_value(key)
        with reader or nullcontext():
            value = change(reader)
        if value is None:
            if reader is not None:
                self.erase(key)
        elif not isinstance(value, ByteReader):
            self.set(key, value)

    @abstractmethod
    def erase(self, key: str) -> None:
        """Remove a key; a missing key is not an error, except in a read-only store."""

    def erase_values(self, keys: Iterable[str]) -> None:
        """Remove several keys."""
        parallel_for(keys, self.erase, self.max_concurrency is not None, self.max_concurrency)


class ListableStore(ReadableStore):
    """A store whose keys can be listed."""

    @abstractmethod
    def list_prefix(self, prefix: str) -> Iterator[str]:
        """Iterate over all keys below a prefix, which is empty or ends in ``/``; in any order."""

    def list_sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        """Iterate over all keys below a prefix with the lengths of their values, in bytes.

        By default one request for each key; replaced if listings contain the lengths.
        """
        keys = iter(self.list_prefix(prefix))
        while batch := [*islice(keys, _BATCH)]:
            sizes = concurrent_map(batch, self.getsize, self.max_concurrency)
            yield from ((key, size) for key, size in sizes if size is not None)

    def list(self) -> Iterator[str]:
        """Iterate over all keys."""
        return self.list_prefix("")

    def list_dir(self, prefix: str) -> Listing:
        """Return the keys and prefixes directly below a prefix, in full; ``([], [])`` if none."""
        keys: dict[str, None] = {}
        prefixes: dict[str, None] = {}
        for key in self.list_prefix(prefix):
            head, slash, _ = key[len(prefix) :].partition("/")
            (prefixes if slash else keys)[prefix + head + slash] = None
        return list(keys), list(prefixes)


class Store(WritableStore, ListableStore):
    """A store that can be read, written and listed, and opened by a URL.

    Objects may support less: see the attributes.
    """

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """Create a store from a URL or the path of a file with the store's suffix.

        Called by ``open("scheme://...")``.  With ``read_only``, the store rejects changes and
        creates nothing.  ``options`` is the argument ``storage_options``.
        """
        raise StoreCapabilityError(f"{cls.__name__} cannot be created from a URL", store=url)

    def erase_prefix(self, prefix: str) -> None:
        """Remove every key below a prefix; the empty prefix means all keys."""
        check_prefix(prefix)
        self._require_writable(prefix)
        self.erase_values(list(self.list_prefix(prefix)))


class CachingStore(Store):
    """A store that keeps values, or parts of them, in memory or on a disk."""

    def open_cached(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        """As :meth:`open_value`, but a value that was opened before may need no request.

        The reader returns what it has in memory, such as the index of a shard, without a request.
        Reads of other parts, and :meth:`ByteReader.verify` if there are none, raise
        ValueReplacedError if the value was replaced or removed since; then call
        :meth:`discard_cached` and open the value again.
        """
        return self.open_value(key, first)

    def discard_cached(self, key: str) -> None:
        """Remove copies of a value that cannot be decoded; the next read requests it again."""


def store_from_object(
    kind: type[Store], source: Any, *, read_only: bool = False, **options: Any
) -> Store | None:
    """Create a store from what is not a URL; None if the class does not support it.

    A class can have a class method ``from_object`` with the same arguments and result.  ``source``
    is the path of a file with the store's suffix, such as ``field.zip``; without ``from_object``,
    :meth:`Store.from_url` opens it unless it is a directory.  Or it is a store and a key: the value
    is opened for reading, by ``open("s3://bucket/archive|scheme:")``.  Or it is an object of another
    library, if the store has an entry point with the name of the package or module of the object's
    class, or of one of its bases.
    """
    from_object: Callable[..., Store | None] | None = getattr(kind, "from_object", None)
    if from_object is not None:
        return from_object(source, read_only=read_only, **options)
    if not isinstance(source, str) or os.path.isdir(source):
        return None
    return kind.from_url(source, read_only=read_only, **options)
