"""Limits of the memory and time for responses to the HTTP file system of fsspec, which has none."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any

from zarr_stores._attempts import CONNECT_SECONDS
from zarr_stores.fsspec.traits import kinds_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_PARTIAL = 206
_REDIRECTS = (301, 302, 303, 307, 308)
_HANGING = 60.0  # seconds without progress in a chain, whose calls have no limit


class BodyTooLargeError(Exception):
    """A response is longer than the limit."""


class EncodedRangeError(Exception):
    """A range of a value was requested that the server stores in compressed form."""


class RedirectError(Exception):
    """A redirect is not to be followed."""


class _Left:
    """How many bytes the responses to one call may still have."""

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes


_left: ContextVar[_Left | None] = ContextVar("left", default=None)


@contextmanager
def limited_bodies(nbytes: int) -> Iterator[None]:
    """Limit the responses to all requests in the block together, in bytes.

    Coroutines that fsspec starts in its own thread have the context of the call.
    """
    token = _left.set(_Left(nbytes))
    try:
        yield
    finally:
        _left.reset(token)


def limit_bodies(fs: Any) -> None:
    """Let an HTTP file system, or the one behind a cache, respect :func:`limited_bodies`."""
    while fs is not None:
        if "http" in kinds_of(type(fs)):
            kind = _response_class()
            fs.client_kwargs = {"response_class": kind, **fs.client_kwargs}
            session = fs.__dict__.get("_session")
            if session is not None and type(session).__module__ == "aiohttp.client":
                session._response_class = kind  # noqa: SLF001 - it was given at its creation
        fs = getattr(fs, "fs", None)


@cache
def _response_class() -> Any:
    import aiohttp  # a dependency of the HTTP file system; slow to import

    class LimitedResponse(aiohttp.ClientResponse):
        """A response whose body is received up to a limit."""

        async def read(self) -> bytes:
            left = _left.get()
            if left is None or self._body is not None:
                return await super().read()
            body = bytearray()
            is_plain = self.headers.get("Content-Encoding", "identity") in ("", "identity")
            try:
                if self.status == _PARTIAL and not is_plain:
                    raise EncodedRangeError  # a part of the stored form is no part of the value
                if is_plain and (self.content_length or 0) > left.nbytes:
                    raise BodyTooLargeError
                async for piece in self.content.iter_any():
                    left.nbytes -= len(piece)
                    if left.nbytes < 0:
                        raise BodyTooLargeError
                    body += piece
            except BaseException:
                self.close()
                body.clear()  # the exception may keep it until the next garbage collection
                raise
            self._body = bytes(body)
            return self._body

        def raise_for_status(self) -> None:
            super().raise_for_status()
            if self.status in _REDIRECTS:  # it was not followed
                raise RedirectError(
                    f"the server redirects to {self.headers.get('Location', '')[:200]!r}, which is "
                    "not followed; use that URL, and allow its server"
                )

    return LimitedResponse


def read_limited(fs: Any, path: str, limit: int, http: bool) -> bytes | int:
    """Return a file, or its length if that exceeds ``limit`` bytes."""
    try:
        with limited_bodies(limit):
            try:
                part = {} if http else {"start": 0, "end": limit + 1}
                data: bytes = fs.cat_file(path, **part)
            except EncodedRangeError:
                data = fs.cat_file(path)
    except BodyTooLargeError:
        data = b""
    except (FileNotFoundError, NotADirectoryError, TimeoutError):
        raise
    except Exception:  # of services that reject a range of an empty file
        if http or fs.info(path).get("size") != 0:
            raise
        return b""
    else:
        if len(data) <= limit:
            return data
    size = fs.info(path).get("size")
    return max(limit + 1, len(data), int(size or 0))


def http_options(address: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a URL or chain, with limits for connections of its HTTP parts."""
    schemes = [part.partition("://")[0] for part in address.split("::")]
    http_schemes = [scheme for scheme in schemes if scheme in ("http", "https")]
    if not http_schemes:
        return options
    try:
        from aiohttp import ClientTimeout  # optional dependency
    except ImportError:  # fsspec reports it
        return options
    if len(schemes) == 1:
        return _limited(options, ClientTimeout(total=None, sock_connect=CONNECT_SECONDS))
    limit = ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=_HANGING)
    return options | {one: _limited(options.get(one) or {}, limit) for one in http_schemes}


def _limited(options: dict[str, Any], limit: Any) -> dict[str, Any]:
    return {**options, "client_kwargs": {"timeout": limit, **(options.get("client_kwargs") or {})}}
