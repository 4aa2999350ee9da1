"""What s3fs lacks: a short first contact with a server, and ``Content-Encoding``.

s3fs repeats requests to an address without a server for a minute, and returns the stored form of
values that the service stores in compressed form.
"""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from contextvars import ContextVar
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from zarr_stores._first_contact import CONNECT_SECONDS, FINAL, RETRY_SECONDS, reached
from zarr_stores.content_encoding import MOST_DECODED, PLAIN, decompress, is_longer
from zarr_stores.fsspec.http import BodyTooLargeError, EncodedRangeError, body_limit
from zarr_stores.fsspec.traits import kinds_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_PAUSE = 0.1  # seconds before the second attempt; each further pause is twice as long
_WHOLE = re.compile(r"bytes 0-(\d+)/(\d+)")
_decoding: ContextVar[bool] = ContextVar("decoding", default=False)


def decode_bodies(fs: Any) -> None:
    """Let an S3 file system, or the one behind a cache, respect :func:`decoded_bodies`."""
    while fs is not None:
        if "s3fs" in kinds_of(type(fs)):
            if fs.session is None:  # s3fs would create it with the first request
                from aiobotocore.session import AioSession  # type: ignore[import-untyped] # optional

                fs.session = AioSession(**fs.kwargs)
            client = fs.__dict__.get("_s3")
            for name, handler in (("GetObject", _decode), ("HeadObject", _hide_size)):
                for events in (fs.session, *([] if client is None else [client.meta.events])):
                    events.register(f"after-call.s3.{name}", handler, f"zarr-stores {name}")
        fs = getattr(fs, "fs", None)


@contextmanager
def decoded_bodies() -> Iterator[None]:
    """Decompress the values that an S3 file system reads in the block.

    Other code that uses the same instance sees the stored form, as without this package.
    """
    token = _decoding.set(True)
    try:
        yield
    finally:
        _decoding.reset(token)


def _coding(parsed: dict[str, Any]) -> str:
    """Return how the body of a response is compressed; empty if it is not to be decompressed."""
    coding = str(parsed.get("ContentEncoding", "")).strip().lower()
    return "" if coding in PLAIN or not _decoding.get() else coding


def _hide_size(parsed: dict[str, Any], **_: Any) -> None:
    """Remove the length of the stored form, which is not that of the value."""
    if _coding(parsed):
        parsed["ContentLength"] = None


def _decode(parsed: dict[str, Any], **_: Any) -> None:
    """Replace the body of a response by one that is decompressed when it is read."""
    coding = _coding(parsed)
    if not coding or "Body" not in parsed:
        return
    part = _WHOLE.fullmatch(parsed.get("ContentRange") or "bytes 0-0/1")
    if part is None or int(part[1]) + 1 != int(part[2]):
        parsed["Body"].close()
        raise EncodedRangeError  # a part of the stored form is no part of the value
    parsed["Body"] = _DecodedBody(parsed["Body"], coding, parsed.get("ContentLength") or 0)


class _DecodedBody:
    """A body in compressed form."""

    def __init__(self, body: Any, coding: str, size: int) -> None:
        self._body = body
        self._coding = coding
        self._size = size

    async def read(self) -> bytes:
        limit = body_limit(MOST_DECODED)
        data = None if is_longer(self._size, limit) else await self._body.read()
        value = None if data is None else decompress(memoryview(data), self._coding, limit)
        if value is None:
            raise BodyTooLargeError
        return value

    def close(self) -> None:
        self._body.close()


def reach_s3(fs: Any) -> None:
    """Connect to the endpoint of an S3 file system, unless it has answered before.

    s3fs repeats requests to an address without a server for a minute.
    """
    options = {**(fs.client_kwargs or {})}
    url = fs.endpoint_url or options.get("endpoint_url")
    if not url or url in reached or getproxies():
        return
    began, pause = time.monotonic(), _PAUSE
    while True:
        connection = _connection(url, options.get("verify"))
        try:
            connection.connect()
            try:
                connection.request("HEAD", "/")
                connection.getresponse()
            except TimeoutError:
                pass  # the request has its own limit
            break
        except (OSError, HTTPException) as error:
            passed = time.monotonic() - began
            text = str(error) or type(error).__name__
            final = FINAL.search(text) or not isinstance(error, OSError)
            if final or passed > RETRY_SECONDS:
                raise ConnectionError(
                    f"{text}; the server has not answered any request of this process, so this one "
                    f"was given up after {passed:.1f} s; check the address and the network"
                ) from None
        finally:
            connection.close()
        time.sleep(pause)
        pause *= 2
    reached.add(url)


def _connection(url: str, verify: Any) -> HTTPConnection:
    """Return a connection; ``verify`` as for botocore: whether, or with which authorities."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port
    if parts.scheme != "https":
        return HTTPConnection(host, port, timeout=CONNECT_SECONDS)
    import ssl  # slow to import

    context = ssl.create_default_context(cafile=verify if isinstance(verify, str) else None)
    if verify is False:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return HTTPSConnection(host, port, timeout=CONNECT_SECONDS, context=context)
