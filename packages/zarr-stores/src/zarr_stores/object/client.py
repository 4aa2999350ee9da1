"""Requests to an object store, with errors that name store and key."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from itertools import accumulate, islice
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import numpy as np
from zarr_core.engine.scratch import remote_memory
from zarr_core.extension import StoreError, StoreReadError
from zarr_core.messages import log
from zarr_core.threads import waiting

from zarr_stores._attempts import Attempts, reached
from zarr_stores._reader_store import replaced
from zarr_stores.databases.database_store import is_key
from zarr_stores.object import errors as errors
from zarr_stores.object.interruptible import call_interruptibly
from zarr_stores.object.location import check_not_forked, first_store, location_of
from zarr_stores.object.response import (
    MOST_DECODED,
    DecodedResponse,
    FirstResponse,
    HeldResponse,
    coding_of,
    decompress,
    generation_of,
    is_longer,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_core.extension import Buffers
    from zarr_core.interfaces.store import Listing

    Directory = tuple[list[tuple[str, int]], list[str]]

T = TypeVar("T")

_MULTIPART = 1 << 25  # bytes; larger values go in several requests
_PART = 1 << 23
_STREAMED = 1 << 17  # bytes; larger bodies are streamed into the buffer
# Memory of larger bodies is not allocated by the library, which would abort the process.
_ALLOCATED = 1 << 26
_PAGE = 1000  # objects in a page of a listing
_PIECE = 1 << 16
_PIECES = 8  # that are received at a time
_BODY_NBYTES = 1 << 21  # memory of a body that is streamed, beside its buffer
_BUFFERS = (bytes, bytearray, memoryview)
_DIRECTORIES = 100_000  # of a WebDAV server that are known to exist
_FIRST_SECONDS = 2.0  # for the first file of a directory
_WRITES = 8  # attempts on a WebDAV server, which must create directories first


class Client:
    """Client of a store of obstore."""

    def __init__(
        self,
        store: Any,
        root: str,
        max_concurrency: int,
        denied_is_missing: bool = False,
    ) -> None:
        self.store = store
        self.denied_is_missing = denied_is_missing
        self.root = root
        self.location = location_of(store, root)
        self._named = str(self.location)
        self._server = (*urlsplit(self.location.url)[:2], self.location.server)
        self._files = self.location.kind == "HTTPStore"
        self._directories: dict[str, threading.Event | None] = {}
        # One token per concurrent request; faster than threading.Semaphore.
        self._tokens: SimpleQueue[None] = SimpleQueue()
        for _ in range(max_concurrency):
            self._tokens.put(None)
        self._bodies: SimpleQueue[None] = SimpleQueue()
        for _ in range(max(1, remote_memory.limit // _BODY_NBYTES)):
            self._bodies.put(None)
        self._first: tuple[Any, Any, float, float] | None = None  # see first_store
        self._seen = False  # whether the bucket is known to exist
        self.has_ranges = True
        """Whether the server may support ranges."""
        self._moving = threading.Lock()

    def _send(self, request: Callable[[Any], T], kind: str, *, conditional: bool = False) -> T:
        """Send a request with the store; again if the bucket is in another region.

        It can be interrupted, and ends soon if the server has never answered.  Until the server
        has answered a request of the same ``kind``, answers that do not change, such as status
        501, are not requested again.  A ``conditional`` request is not repeated if the server may
        have received it.
        """
        return call_interruptibly(lambda: self._send_now(request, kind, conditional), self._named)

    def _send_now(self, request: Callable[[Any], T], kind: str, conditional: bool) -> T:
        with self._flight():
            if (self._server, kind) not in reached:
                response = self._send_first(request, kind, conditional)
                if response is not None:
                    return response[0]
            used = self.store
            try:
                return request(used)
            except Exception as error:
                if not self._is_moved(used, error):
                    raise
            return request(self.store)

    def _send_first(
        self, request: Callable[[Any], T], kind: str, conditional: bool
    ) -> tuple[T] | None:
        """Send the first request of a kind; return None if obstore is to repeat it."""
        if self._first is None or self._first[0] is not self.store:
            self._first = (self.store, *first_store(self.store))
        used, brief, seconds, retry_seconds = self._first
        known = self._server in reached
        attempts = Attempts(retry_seconds if known else seconds)
        response: Any
        while True:
            try:
                response = request(brief)
                break
            except Exception as error:
                answered = errors.is_answered(error)
                if answered:
                    reached.add(self._server)
                    if self._is_moved(used, error):
                        return None
                    if not errors.is_overloaded(error):
                        if not errors.is_not_implemented(error):
                            reached.add((self._server, kind))
                        raise
                if conditional and not errors.is_unconnected(error):
                    raise
                final = errors.is_final(error) and not (known or answered)
                if final or not attempts.again():
                    if not (known or answered):
                        error.add_note(errors.NEVER_ANSWERED.format(attempts.passed))
                    raise
                if known or answered:
                    return None
        reached.update((self._server, (self._server, kind)))
        if kind == "get" and retry_seconds:
            response = FirstResponse(response)
        return (response,)

    def _is_moved(self, used: Any, error: Exception) -> bool:
        """Return whether there is a store for another region than that of a failed request."""
        if self.location.kind != "S3Store" or not errors.may_be_elsewhere(error):
            return False
        from zarr_stores.object.region import store_in_region  # urllib is slow to import

        with self._moving:
            if self.store is used:
                moved = store_in_region(used, self.location.server, self._named)
                if moved is None:
                    return False
                self.store = moved
        return True

    def _wait(self, work: Callable[[], T]) -> T:
        """Wait for a part of a response; can be interrupted."""
        return call_interruptibly(work, self._named)

    @contextmanager
    def _flight(self) -> Iterator[None]:
        self._tokens.get()
        try:
            yield
        finally:
            self._tokens.put(None)

    # --- reading ---

    def get(self, key: str, wanted: Any = None, limit: int | None = None) -> Any:
        """Return the response to a GET request, before its body is received; None if missing.

        ``wanted`` is a range in the notation of obstore; the response has nothing beyond the end.
        A value that the service stores in compressed form is decompressed, always as a whole, up to
        ``limit`` bytes; by default a longer one is an error.
        """
        check_not_forked(self._named)
        try:
            options = {} if wanted is None or not self.has_ranges else {"range": wanted}
            result = self._send(lambda store: store.get(self.root + key, options=options), "get")
        except Exception as error:
            if self._is_missing(error) or (self.denied_is_missing and errors.is_denied(error)):
                return None
            if wanted is not None and errors.is_about_range(error):
                return self._without_range(key, wanted, error)
            raise self._failure(StoreReadError, "read", error, key) from None
        self._seen = True
        coding = coding_of(result)
        return self._decoded(key, result, coding, limit) if coding else result

    def _decoded(self, key: str, result: Any, coding: str, limit: int | None) -> Any:
        """Return the response with a value that the service stores in compressed form."""
        if result.range != (0, result.meta["size"]):  # ranges are those of the stored form
            return self.get(key, None, limit)
        most = MOST_DECODED if limit is None else limit
        body = None
        if not is_longer(result.meta["size"], most):
            try:
                body = decompress(self.body(key, result), coding, most)
            except ValueError as error:
                text = f"cannot be decompressed (Content-Encoding {coding!r}): {error}"
                raise StoreReadError(text, self._named, key) from None
        if body is not None:
            return DecodedResponse(result, len(body), body)
        if limit is None:
            text = f"has the Content-Encoding {coding!r} and more than {most} bytes; copy the store"
            raise StoreReadError(f"{text} to a place without this encoding", self._named, key)
        return DecodedResponse(result, limit + 1)

    def _without_range(self, key: str, wanted: Any, error: Exception) -> Any:
        """Return the response after a range was rejected: nothing, or the whole value."""
        meta = self.head(key)
        if meta is None:
            return None
        start = wanted.get("offset", 0) if isinstance(wanted, dict) else wanted[0]
        if start >= meta["size"]:
            return HeldResponse(meta)
        if not errors.is_without_range(error):
            raise self._failure(StoreReadError, "read", error, key) from None
        self.has_ranges = False
        return self.get(key)

    def fetch(self, key: str, meta: Any, start: int, stop: int) -> memoryview:
        """Read a range of an object if its generation is unchanged; see :meth:`fetch_into`."""
        data = self.body(key, self._range(key, meta, start, stop))
        if len(data) != stop - start:
            raise self._short(key, len(data), stop - start)
        return data

    def fetch_into(self, key: str, meta: Any, start: int, buffer: memoryview) -> None:
        """Read a range of an object into a buffer if its generation is unchanged."""
        result = self._range(key, meta, start, start + len(buffer))
        came = result.range[1] - result.range[0]
        if came != len(buffer):
            raise self._short(key, came, len(buffer))
        self.body_into(key, result, buffer)

    def _range(self, key: str, meta: Any, start: int, stop: int) -> Any:
        """Return the response to a request for a range, before its body is received."""
        check_not_forked(self._named)
        options: dict[str, Any] = {"range": (start, stop)}
        tag = meta.get("e_tag")
        if tag and not tag.startswith("W/"):  # weak tags never match
            options["if_match"] = tag
        try:
            result = self._send(lambda store: store.get(self.root + key, options=options), "get")
        except Exception as error:
            if errors.is_conflict(error) or self._is_missing(error):
                raise replaced(self._named, key) from None
            if errors.is_about_range(error):
                now = self.head(key)
                if now is None or generation_of(now) != generation_of(meta):
                    raise replaced(self._named, key) from None
            raise self._failure(StoreReadError, "read", error, key) from None
        if generation_of(result.meta) != generation_of(meta):
            raise replaced(self._named, key)
        return result

    def verify(self, key: str, meta: Any) -> None:
        """Raise a ValueReplacedError if an object was replaced or removed."""
        now = self.head(key)
        if now is None or generation_of(now) != generation_of(meta):
            raise replaced(self._named, key)

    def body(self, key: str, result: Any) -> memoryview:
        """Return the body of a response; its length must match the header."""
        start, stop = result.range
        if stop - start > _ALLOCATED:
            return self._large_body(key, result, stop - start)
        try:
            data = memoryview(self._wait(result.bytes))
        except Exception as error:
            return self.body(key, self._rest(key, result, 0, error))
        if len(data) != stop - start:
            raise self._short(key, len(data), stop - start)
        return data

    def _rest(self, key: str, result: Any, came: int, error: Exception) -> Any:
        """Request the rest of a body that broke off, unless obstore has done so."""
        if not isinstance(result, FirstResponse):
            raise self._failure(StoreReadError, "read", error, key) from None
        start, stop = result.range
        return self._range(key, result.meta, start + came, stop)

    def _large_body(self, key: str, result: Any, size: int) -> memoryview:
        """Return a body of a size that the server claims; only what arrives takes memory."""
        try:
            buffer = np.empty(size, np.uint8).data
        except (MemoryError, ValueError):  # NumPy has a limit of its own
            raise StoreReadError(
                f"there is not enough memory for a value of {size} bytes", self._named, key
            ) from None
        self.body_into(key, result, buffer)
        return buffer.toreadonly()

    def body_into(self, key: str, result: Any, buffer: memoryview) -> int:
        """Copy a body into a buffer that is large enough; return the number of bytes."""
        start, stop = result.range
        if len(buffer) < _STREAMED:
            data = self.body(key, result)
            buffer[: len(data)] = data
            return len(data)
        came = 0
        failed: Exception | None = None
        taken: list[None] = []
        try:
            with waiting():  # this response arrives while other bodies are received
                taken.append(self._bodies.get())
            pieces = iter(result.stream(min_chunk_size=_PIECE))
            while some := self._wait(lambda: [*islice(pieces, _PIECES)]):
                for piece in some:
                    data = memoryview(piece)
                    buffer[came : came + len(data)] = data
                    came += len(data)
        except Exception as error:
            failed = error
        finally:
            for token in taken:
                self._bodies.put(token)
        if failed is not None:
            came += self.body_into(key, self._rest(key, result, came, failed), buffer[came:])
        if came != stop - start:
            raise self._short(key, came, stop - start)
        return came

    def head(self, key: str) -> Any:
        """Return the properties of an object; None for a missing key."""
        check_not_forked(self._named)
        try:
            meta = self._send(lambda store: store.head(self.root + key), "head")
        except Exception as error:
            if not self._is_missing(error):
                if self.denied_is_missing and errors.is_denied(error):
                    return None
                raise self._failure(StoreReadError, "read", error, key) from None
            if not self._seen and self.get(key) is not None:
                # The response to HEAD does not tell a missing bucket from a missing key.
                return self.head(key)
            return None
        self._seen = True
        return meta

    def _is_missing(self, error: Exception) -> bool:
        if not errors.is_missing_key(error):
            return False
        self._seen = self._seen or errors.bucket_exists(error)
        return True

    # --- writing ---

    def set(self, key: str, value: Buffers) -> None:
        """Store a value atomically."""
        size = len(value) if isinstance(value, _BUFFERS) else sum(map(len, value))
        several = size > _MULTIPART and not self._files
        attempts = Attempts(count=_WRITES, first=0.01, longest=0.1)
        while True:
            try:
                self.put(key, value, use_multipart=several, chunk_size=_PART)
                return
            except Exception as error:
                # Another thread may have created the directory at the same time, or the server
                # closed the connection while it created it.
                if not (self._files and errors.is_race(error) and attempts.again()):
                    raise self._failure(StoreError, "written", error, key) from None
                log("retries", "%s %r: %s; writing it again", self.location, key, error)

    def put(self, key: str, value: Buffers, *, use_multipart: bool = False, **manner: Any) -> None:
        """Send a value, by default in one request; exceptions of the library are passed on."""
        check_not_forked(self._named)
        data: Any = _owned(value) if isinstance(value, _BUFFERS) else None
        if data is None:
            data = [_owned(piece) for piece in value if piece] or b""
        manner["use_multipart"] = use_multipart
        conditional = "mode" in manner
        with self._first_in_directory(self.root + key):
            self._send(
                lambda store: store.put(self.root + key, data, **manner),
                "update" if conditional else "put",
                conditional=conditional,
            )
        self._seen = True

    @contextmanager
    def _first_in_directory(self, path: str) -> Iterator[None]:
        """Wait for another thread that writes the first file of the same directory.

        Its request creates the directories of a WebDAV server; several would interfere.
        """
        new: list[str] = []
        if self._files and self._directories.get(path.rpartition("/")[0], self) is not None:
            if len(self._directories) > _DIRECTORIES:
                self._directories.clear()
            done = threading.Event()
            for directory in accumulate(path.split("/")[:-1], "{}/{}".format):
                first = self._directories.setdefault(directory, done)
                if first is done:
                    new.append(directory)
                elif first is not None:
                    with waiting():  # not for longer, if the server does not respond
                        first.wait(_FIRST_SECONDS)
        try:
            yield
        finally:
            if new:
                for directory in new:
                    self._directories[directory] = None
                done.set()

    def delete(self, keys: list[str]) -> bool:
        """Remove keys; return False if the service reports a missing one."""
        check_not_forked(self._named)
        try:
            names = [self.root + key for key in keys]
            self._send(lambda store: store.delete(names), "delete")
        except Exception as error:
            if self._is_missing(error):
                return False
            raise self._failure(StoreError, "erased", error, keys[0]) from None
        return True

    # --- listing ---

    def list_sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        """Iterate over the keys below a prefix and the lengths of their values."""
        if self._files:  # many WebDAV servers list only one directory per request
            below = [prefix]
            while below:
                objects, prefixes = self._directory(below.pop())
                yield from objects
                below += prefixes
            return
        # Some tools create objects "a/" for directories, which obstore lists as "a".
        empty: dict[str, None] = {}
        with self._listing(prefix):
            for page in self._pages((self.root + prefix)[:-1] or None):
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
        """Return the keys and prefixes directly below a prefix."""
        objects, prefixes = self._directory(prefix)
        return [key for key, _ in objects], prefixes

    def _directory(self, prefix: str) -> Directory:
        """Return keys with the lengths of their values, and prefixes, directly below a prefix."""
        with self._listing(prefix):
            path = (self.root + prefix)[:-1] or None
            listing = self._send(lambda store: store.list_with_delimiter(path), "list")
        skip = len(self.root)
        items = ((item["path"][skip:], item["size"]) for item in listing["objects"])
        prefixes = (path[skip:] for path in listing["common_prefixes"])
        return (
            [item for item in items if is_key(item[0], prefix)],
            [f"{path}/" for path in prefixes if is_key(path, prefix)],
        )

    def _pages(self, path: str | None) -> Iterator[Any]:
        """Iterate over the pages of a listing; the first is requested like other requests."""

        def start(store: Any) -> tuple[Any, Any]:
            pages = iter(store.list(path, chunk_size=_PAGE))
            first = next(pages, ())
            if len(first) == _PAGE and store is not self.store:
                return start(self.store)  # which repeats requests for further pages
            return first, pages

        first, others = self._send(start, "list")
        yield first
        while (page := self._wait(lambda: next(others, None))) is not None:
            yield page

    @contextmanager
    def _listing(self, prefix: str) -> Iterator[None]:
        check_not_forked(self._named)
        try:
            yield
        except Exception as error:
            raise self._failure(StoreReadError, "listed", error, prefix) from None

    # --- errors ---

    def _failure(self, kind: type[StoreError], done: str, error: Exception, key: str) -> StoreError:
        denied = errors.CREDENTIALS
        if self._files:
            denied = errors.SIGNED_URL if any(self.location.further) else errors.WEB
        elif (
            str((getattr(self.store, "config", None) or {}).get("skip_signature")).lower() == "true"
        ):
            denied = errors.ANONYMOUS
        return errors.failure(kind, done, error, self._named, key, denied)

    def _short(self, key: str, came: int, expected: int) -> StoreReadError:
        return StoreReadError(f"received {came} of {expected} bytes", self._named, key)


def _owned(piece: Any) -> Any:
    """Return bytes that nobody changes, also if the call is interrupted while they are sent."""
    data = piece.obj if isinstance(piece, memoryview) else piece
    return piece if isinstance(data, bytes) else bytes(piece)
