"""Store: where the values of a hierarchy live, each under its key.

Specification: v3.1, "Abstract store interface", whose names these are.  A store
needs four methods (``get``, ``set``, ``erase``, ``list_prefix``); everything else
has a fallback here, to be replaced where the back end can do better.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from zarr_core.errors import StoreCapabilityError, StoreReadOnlyError
from zarr_core.interfaces.keylock import key_lock
from zarr_core.interfaces.value import BufferReader, ValueReader
from zarr_core.threads import in_flight, run

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
    from types import TracebackType
    from typing import Any, Self

    from zarr_core.interfaces.codec import Buffer
    from zarr_core.interfaces.value import ByteRange

Pieces: TypeAlias = "Buffer | Sequence[Buffer]"
"""A value: one buffer, or several that are stored one after the other."""

Change: TypeAlias = "Callable[[ValueReader | None], Pieces | ValueReader | None]"
"""What :meth:`Store.update` is given to make a new value out of the present one."""

# Named here, because within the class ``list`` is the operation of that name.
Values: TypeAlias = "list[Buffer | None]"
Listing: TypeAlias = tuple[list[str], list[str]]

_BATCH = 1024  # keys of which the sizes are asked before any is handed on


class Store(ABC):
    """A map from keys to values.

    Only "not found" means that a value is missing: any other failure raises.
    Methods may be called from many threads at once.  Stores pickle, or say why
    they cannot.  Two stores are equal if they are the same place.
    """

    read_only: bool = False
    """Whether this object refuses changes."""

    supports_listing: bool = True
    """Whether ``list``, ``list_prefix`` and ``list_dir`` are there."""

    supports_erasing: bool = True
    """Whether keys can be erased; a zip archive's cannot."""

    in_memory: bool = False
    """Whether ``get`` gives values as they lie in memory, without copying."""

    requests: int | None = None
    """How many requests to keep in flight; None for a store without latency.

    A store that gives a number has its methods called from as many threads at once,
    and so have the readers of its values.
    """

    realm: Hashable = None
    """What tells places of one URL apart, such as an endpoint; None where the URL says all."""

    # --- opening ---

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """Make a store from a URL or path; what ``open("scheme://...")`` calls.

        Parameters
        ----------
        url : str
            The URL, with its scheme; or the path of a file with the store's suffix.
        read_only : bool
            Refuse changes, and do not create anything.
        **options
            What the user gave as ``storage_options``.
        """
        raise StoreCapabilityError(f"{cls.__name__} cannot be made from a URL", store=url)

    @classmethod
    def is_for(cls, path: str) -> bool:
        """Whether a path is for this store, as its suffix is one of the names of the store.

        Parameters
        ----------
        path : str
            Such as ``field.zip`` for a store called ``zip``; by default for it unless it is a
            directory.
        """
        return not os.path.isdir(path)

    @classmethod
    def from_object(cls, place: Any, *, read_only: bool = False) -> Store | None:
        """Make a store of what another library calls one; what ``open(object)`` calls.

        It is asked if the store has an entry point whose name is the package, or a module,
        that the object's class or one of its bases is from.

        Parameters
        ----------
        place : object
            What the user gave.
        read_only : bool
            Refuse changes, and do not create anything.

        Returns
        -------
        Store or None
            None if the object is nothing that this store is about.
        """
        return None

    @property
    def url(self) -> str:
        """The canonical URL, without credentials; for messages and tokens."""
        return f"{type(self).__name__.lower()}://{id(self):#x}"

    # --- readable ---

    @abstractmethod
    def get(self, key: str) -> Buffer | None:
        """The value of a key, or None if there is none.

        Raises
        ------
        StoreKeyError
            If the key breaks the grammar.
        StoreReadError
            If there is a value that cannot be read.
        """

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        """Parts of values, in the order asked for; None for a missing key.

        A part that reaches beyond the end of its value is cut there.  Of a store with
        latency :attr:`requests` parts are in flight.
        """
        if self.requests is None:
            return [self._part(key, part) for key, part in key_ranges]
        asked = [*key_ranges]
        values: Values = [None] * len(asked)

        def work(number: int) -> None:
            values[number] = self._part(*asked[number])

        run(range(len(asked)), work, True, self.requests)
        return values

    def _part(self, key: str, part: ByteRange) -> Buffer | None:
        """One part; replaced where that takes less than to open the value."""
        reader = self.open_value(key, part)
        if reader is None:
            return None
        with reader:
            start, stop = part.within(reader.size)
            return reader.read(start, stop - start)

    def get_into(self, key: str, buffer: memoryview) -> int | None:
        """Read a value into memory that the caller has.

        Parameters
        ----------
        key : str
            The key.
        buffer : memoryview
            Writable, format ``B``.

        Returns
        -------
        int or None
            The length of the value; if it is more than ``len(buffer)``, the
            buffer holds its beginning.  None for a missing key.
        """
        value = self.get(key)
        if value is None:
            return None
        size = len(value)
        if size <= len(buffer):
            buffer[:size] = value
        else:
            buffer[:] = memoryview(value)[: len(buffer)]
        return size

    def open_value(self, key: str, first: ByteRange | None = None) -> ValueReader | None:
        """Open a value for reading parts of it; None for a missing key.

        Parameters
        ----------
        key : str
            The key.
        first : ByteRange, optional
            What will be read first, which a store with latency can fetch with the
            request that finds the value.  Anything may be read, whatever it says.
        """
        value = self.get(key)
        return None if value is None else BufferReader(value)

    def exists(self, key: str) -> bool:
        """Whether there is a value at a key."""
        return self.get(key) is not None

    def getsize(self, key: str) -> int | None:
        """Length of a value in bytes, or None for a missing key."""
        value = self.get(key)
        return None if value is None else len(value)

    def version(self, key: str) -> str | None:
        """A word that is another one once the value has changed; None for a missing key.

        By default a digest of the value.  Where a store knows a cheaper one (an entity
        tag, a generation, a time of change), it gives that.
        """
        value = self.get(key)
        return None if value is None else blake2b(value, digest_size=16).hexdigest()

    # --- writeable ---

    def _require_writable(self, key: str) -> None:
        """Raise if the store refuses changes; for what changes a key."""
        if self.read_only:
            raise StoreReadOnlyError("the store is open for reading only", store=self, key=key)

    @abstractmethod
    def set(self, key: str, value: Pieces) -> None:
        """Store a value: after an error or a crash the key has the old value or the new one.

        Raises
        ------
        StoreReadOnlyError
            If the store is read only.
        """

    def set_partial_values(self, key_start_values: Iterable[tuple[str, int, Buffer]]) -> None:
        """Store parts of values, each ``(key, start, value)``; gaps are filled with zeros."""
        changes: dict[str, list[tuple[int, Buffer]]] = {}
        for key, start, value in key_start_values:
            changes.setdefault(key, []).append((start, value))

        def work(item: tuple[str, list[tuple[int, Buffer]]]) -> None:
            key, parts = item

            def change(reader: ValueReader | None) -> bytes:
                old = b"" if reader is None else reader.read(0, reader.size)
                new = bytearray(old)
                for start, value in parts:
                    new.extend(bytes(max(0, start + len(value) - len(new))))
                    new[start : start + len(value)] = value
                return bytes(new)

            self.update(key, change)

        run(changes.items(), work, self.requests is not None, self.requests)

    def update(self, key: str, change: Change) -> None:
        """Read, change and write a value, excluding every other such change of the key.

        Parameters
        ----------
        key : str
            The key.
        change : callable
            Gets the present value (None if there is none), returns the new one, or
            None to have the key erased, or what it was given to leave all as it is.
            It may be called again if the store finds that someone else was faster.

        Notes
        -----
        By default exclusive among the threads of this process.  A store that
        others share must exclude them as well: by a file lock, a conditional
        write, a transaction.
        """
        with key_lock(self.url, key):
            self._change(key, change)

    def _change(self, key: str, change: Change) -> bool:
        """Change a value that nobody else changes now; whether there is one afterwards."""
        reader = self.open_value(key)
        if reader is None:
            value = change(None)
        else:
            with reader:
                value = change(reader)
        if value is None:
            if reader is not None:
                self.erase(key)
        elif not isinstance(value, ValueReader):
            self.set(key, value)
        return value is not None

    @abstractmethod
    def erase(self, key: str) -> None:
        """Remove a key; removing a missing one does nothing."""

    def erase_values(self, keys: Iterable[str]) -> None:
        """Remove several keys."""
        run(keys, self.erase, self.requests is not None, self.requests)

    def erase_prefix(self, prefix: str) -> None:
        """Remove every key below a prefix (empty: all keys)."""
        self.erase_values(list(self.list_prefix(prefix)))

    def move_prefix(self, prefix: str, target: str) -> bool:
        """Give all keys below a prefix another one at once, if the store has a way to.

        Parameters
        ----------
        prefix, target : str
            Two prefixes, neither empty, neither below the other; there is no key below
            the second.

        Returns
        -------
        bool
            Whether that was done.  If not, nothing has changed: who asks copies each
            value, then removes the old ones.
        """
        return False

    # --- listable ---

    @abstractmethod
    def list_prefix(self, prefix: str) -> Iterator[str]:
        """All keys below a prefix, which is empty or ends in ``/``; in any order."""

    def list_sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        """All keys below a prefix, each with the length of its value.

        By default one request for each key; replaced where a listing says it.
        """
        keys = iter(self.list_prefix(prefix))
        while batch := [*islice(keys, _BATCH)]:
            found = in_flight(batch, self.getsize, self.requests)
            yield from ((key, size) for key, size in found if size is not None)

    def list(self) -> Iterator[str]:
        """All keys."""
        return self.list_prefix("")

    def list_dir(self, prefix: str) -> Listing:
        """Keys and prefixes directly below a prefix, both in full; ``([], [])`` if none."""
        keys: list[str] = []
        prefixes: dict[str, None] = {}
        for key in self.list_prefix(prefix):
            head, slash, _ = key[len(prefix) :].partition("/")
            if slash:
                prefixes[f"{prefix}{head}/"] = None
            else:
                keys.append(key)
        return keys, list(prefixes)

    # --- lifetime ---

    def close(self) -> None:
        """Release what the store holds, after finishing what it has begun."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __str__(self) -> str:
        """What messages call it: the URL, and what else tells which server it is."""
        return self.url
