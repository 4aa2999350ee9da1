"""The requests to an object store: each names what fails, none takes one failure for another."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import accumulate
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from zarr_core.extension import StoreError, StoreReadError, ValueReplacedError

from zarr_stores import object_failures as failures
from zarr_stores._database import is_key
from zarr_stores.object_place import place_of, refuse_fork
from zarr_stores.object_version import word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import Pieces

    Listing = tuple[list[str], list[str]]
    Directory = tuple[list[tuple[str, int]], list[str]]

_MULTIPART = 1 << 25  # bytes; larger values go in several requests
_PART = 1 << 23
_STREAMED = 1 << 20  # of a larger body there is no second copy
_BUFFERS = (bytes, bytearray, memoryview)
_WRITES = 8  # of a value to a server of files, which must make directories first


class Client:
    """What is asked of a store of obstore.

    Parameters
    ----------
    store : obstore.store.ObjectStore
        What does the work.
    root : str
        What stands before every key; empty, or ends in ``/``.
    requests : int
        The most that are in flight, from however many threads they come.

    Attributes
    ----------
    place : Place
        Where it leads to; every message names it.
    """

    def __init__(self, store: Any, root: str, requests: int) -> None:
        self.store = store
        self.root = root
        self.place = place_of(store, root)
        self._named = str(self.place)
        self._files = self.place.kind == "HTTPStore"
        # One for each request in flight; cheaper to wait for than a semaphore of Python's.
        self._tokens: SimpleQueue[None] = SimpleQueue()
        for _ in range(requests):
            self._tokens.put(None)
        self._seen = False  # whether the bucket is known to be there
        self._whole = False  # whether the server is known to send nothing but whole values

    @contextmanager
    def _flight(self) -> Iterator[None]:
        self._tokens.get()
        try:
            yield
        finally:
            self._tokens.put(None)

    # --- reading ---

    def get(self, key: str, wanted: Any = None) -> Any:
        """The answer to a GET, its body still to come.

        Parameters
        ----------
        key : str
            The key.
        wanted : tuple or dict, optional
            The part that is asked for, in the words of obstore.

        Returns
        -------
        GetResult, Nothing or None
            None if there is no such key, ``Nothing`` if there is no such part.
        """
        refuse_fork(self._named)
        try:
            with self._flight():
                if wanted is None or self._whole:
                    result = self.store.get(self.root + key)
                else:
                    result = self.store.get(self.root + key, options={"range": wanted})
        except Exception as error:
            if self._is_missing(error):
                return None
            if wanted is not None and failures.is_about_range(error):
                return self._without_range(key, wanted, error)
            raise self._failure(StoreReadError, "read", error, key) from None
        self._seen = True
        return result

    def _without_range(self, key: str, wanted: Any, error: Exception) -> Any:
        """What there is where a part was refused: nothing behind the end, or all of it."""
        meta = self.head(key)
        if meta is None:
            return None
        start = wanted.get("offset", 0) if isinstance(wanted, dict) else wanted[0]
        if start >= meta["size"]:
            return Nothing(meta)
        if not failures.is_unsupported(error):
            raise self._failure(StoreReadError, "read", error, key) from None
        self._whole = True
        return self.get(key)

    def fetch(self, key: str, meta: Any, start: int, stop: int) -> memoryview:
        """Bytes of an object that was found before, if it is still the same.

        Raises
        ------
        ValueReplacedError
            If it is another one, or gone.
        """
        refuse_fork(self._named)
        options: dict[str, Any] = {"range": (start, stop)}
        tag = meta.get("e_tag")
        if tag and not tag.startswith("W/"):  # weak tags match nothing
            options["if_match"] = tag
        try:
            with self._flight():
                result = self.store.get(self.root + key, options=options)
        except Exception as error:
            if failures.is_conflict(error) or self._is_missing(error):
                raise self._replaced(key) from None
            if failures.is_about_range(error):
                now = self.head(key)
                if now is None or word(now) != word(meta):
                    raise self._replaced(key) from None
            raise self._failure(StoreReadError, "read", error, key) from None
        if word(result.meta) != word(meta):
            raise self._replaced(key)
        data = self.body(key, result)
        if len(data) != stop - start:
            raise self._short(key, len(data), stop - start)
        return data

    def body(self, key: str, result: Any) -> memoryview:
        """The body of an answer, as long as its head says."""
        start, stop = result.range
        try:
            data = memoryview(result.bytes())
        except Exception as error:
            raise self._failure(StoreReadError, "read", error, key) from None
        if len(data) != stop - start:
            raise self._short(key, len(data), stop - start)
        return data

    def body_into(self, key: str, result: Any, buffer: memoryview) -> int:
        """Put the beginning of a body into memory, as it comes; how much that is."""
        start, stop = result.range
        if len(buffer) < _STREAMED or stop - start > len(buffer):
            data = self.body(key, result)[: len(buffer)]
            buffer[: len(data)] = data
            return len(data)
        came = 0
        try:
            for piece in result.stream(min_chunk_size=_STREAMED):
                data = memoryview(piece)
                buffer[came : came + len(data)] = data
                came += len(data)
        except Exception as error:
            raise self._failure(StoreReadError, "read", error, key) from None
        if came != stop - start:
            raise self._short(key, came, stop - start)
        return came

    def head(self, key: str) -> Any:
        """What the service says of an object; None for a missing key."""
        refuse_fork(self._named)
        try:
            with self._flight():
                meta = self.store.head(self.root + key)
        except Exception as error:
            if not self._is_missing(error):
                raise self._failure(StoreReadError, "read", error, key) from None
            if not self._seen and self.get(key) is not None:
                # To a HEAD nobody says that it is the bucket that is missing.
                return self.head(key)
            return None
        self._seen = True
        return meta

    def _is_missing(self, error: Exception) -> bool:
        if not failures.is_missing_key(error):
            return False
        self._seen = self._seen or failures.place_is_there(error)
        return True

    # --- writing ---

    def set(self, key: str, value: Pieces) -> None:
        """Store a value, all at once."""
        size = len(value) if isinstance(value, _BUFFERS) else sum(map(len, value))
        several = size > _MULTIPART and not self._files
        for attempt in range(_WRITES):
            try:
                self.put(key, value, use_multipart=several, chunk_size=_PART)
            except Exception as error:
                # Another thread may just have made the directory that this one wanted to make.
                if self._files and failures.is_race(error) and attempt < _WRITES - 1:
                    continue
                raise self._failure(StoreError, "written", error, key) from None
            return

    def put(self, key: str, value: Pieces, **manner: Any) -> None:
        """Send a value; errors are those of the library."""
        refuse_fork(self._named)
        data: Any = value
        if not isinstance(value, _BUFFERS):
            data = [piece for piece in value if piece] or b""
        with self._flight():
            self.store.put(self.root + key, data, **manner)
        self._seen = True

    def delete(self, keys: list[str]) -> bool:
        """Remove keys; whether all of them were there, or nobody knows."""
        refuse_fork(self._named)
        try:
            with self._flight():
                self.store.delete([self.root + key for key in keys])
        except Exception as error:
            if self._is_missing(error):
                return False
            raise self._failure(StoreError, "erased", error, keys[0]) from None
        return True

    # --- listing ---

    def list(self, prefix: str) -> Iterator[str]:
        """Keys below a prefix, by pages."""
        return (key for key, _ in self.list_sizes(prefix))

    def list_sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        """Keys below a prefix with the lengths of their values, by pages."""
        if self._files:  # of which many refuse to list more than one directory at once
            below = [prefix]
            while below:
                found, prefixes = self._directory(below.pop())
                yield from found
                below += prefixes
            return
        # Some tools make objects "a/" for directories, which obstore shows as "a".
        empty: dict[str, None] = {}
        with self._listing(prefix):
            for page in self.store.list((self.root + prefix)[:-1] or None, chunk_size=1000):
                for item in page:
                    key = item["path"][len(self.root) :]
                    if empty:
                        for parent in accumulate(key.split("/")[:-1], "{}/{}".format):
                            empty.pop(parent, None)
                    if not is_key(key, prefix):
                        continue
                    if item["size"]:
                        yield key, item["size"]
                    else:
                        empty[key] = None
            yield from ((key, 0) for key in empty)

    def list_dir(self, prefix: str) -> Listing:
        """Keys and prefixes directly below a prefix."""
        found, prefixes = self._directory(prefix)
        return [key for key, _ in found], prefixes

    def _directory(self, prefix: str) -> Directory:
        """Keys with the lengths of their values, prefixes, directly below a prefix."""
        with self._listing(prefix), self._flight():
            found = self.store.list_with_delimiter((self.root + prefix)[:-1] or None)
        skip = len(self.root)
        items = ((item["path"][skip:], item["size"]) for item in found["objects"])
        prefixes = (path[skip:] for path in found["common_prefixes"])
        return (
            [item for item in items if is_key(item[0], prefix)],
            [f"{path}/" for path in prefixes if is_key(path, prefix)],
        )

    @contextmanager
    def _listing(self, prefix: str) -> Iterator[None]:
        refuse_fork(self._named)
        try:
            yield
        except Exception as error:
            raise self._failure(StoreReadError, "listed", error, prefix) from None

    # --- errors ---

    def _failure(self, kind: type[StoreError], done: str, error: Exception, key: str) -> StoreError:
        return failures.failure(kind, done, error, self._named, key)

    def _replaced(self, key: str) -> ValueReplacedError:
        return ValueReplacedError("was replaced while it was read", self._named, key)

    def _short(self, key: str, came: int, expected: int) -> StoreReadError:
        return StoreReadError(f"{came} bytes came instead of {expected}", self._named, key)


class Nothing:
    """In place of an answer: there is an object, but no such part of it."""

    range = (0, 0)

    def __init__(self, meta: Any) -> None:
        self.meta = meta

    def bytes(self) -> bytes:
        """No bytes."""
        return b""
