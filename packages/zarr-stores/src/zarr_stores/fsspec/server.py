"""Reaching the servers of fsspec file systems, which repeat requests to wrong addresses for long."""

from __future__ import annotations

import time
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from zarr_stores._first_contact import CONNECT_SECONDS, FINAL, RETRY_SECONDS, reached

_PAUSE = 0.1  # seconds before the second attempt; each further pause is twice as long
_HANGING = 60.0  # seconds without progress in a chain, whose calls have no limit


def reach_s3(fs: Any) -> None:
    """Connect to the endpoint of an S3 file system, unless it has answered before.

    s3fs repeats requests to an address without a server for a minute.

    Raises
    ------
    OSError
        If there is no HTTP server.
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


def http_options(address: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a URL or chain, with limits for connections of its HTTP parts."""
    schemes = [part.partition("://")[0] for part in address.split("::")]
    found = [scheme for scheme in schemes if scheme in ("http", "https")]
    if not found:
        return options
    try:
        from aiohttp import ClientTimeout  # optional dependency
    except ImportError:  # fsspec reports it
        return options
    if len(schemes) == 1:
        return _limited(options, ClientTimeout(total=None, sock_connect=CONNECT_SECONDS))
    limit = ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=_HANGING)
    return options | {one: _limited(options.get(one) or {}, limit) for one in found}


def _limited(options: dict[str, Any], limit: Any) -> dict[str, Any]:
    return {**options, "client_kwargs": {"timeout": limit, **(options.get("client_kwargs") or {})}}
