"""A short first contact with a server, which s3fs lacks."""

from __future__ import annotations

from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from zarr_stores._attempts import CONNECT_SECONDS, FINAL, RETRY_SECONDS, Attempts, reached


def reach_s3(fs: Any) -> None:
    """Connect to the endpoint of an S3 file system, unless it has answered before.

    s3fs repeats requests to an address without a server for a minute.
    """
    options = {**(fs.client_kwargs or {})}
    url = fs.endpoint_url or options.get("endpoint_url")
    if not url or url in reached or getproxies():
        return
    attempts = Attempts(RETRY_SECONDS)
    while True:
        connection = _connection(url, options.get("verify"))
        try:
            connection.connect()
            with suppress(TimeoutError):  # the request has its own limit
                connection.request("HEAD", "/")
                connection.getresponse()
            break
        except (OSError, HTTPException) as error:
            text = str(error) or type(error).__name__
            final = FINAL.search(text) or not isinstance(error, OSError)
            if final or not attempts.again():
                raise ConnectionError(
                    f"{text}; the server has not answered any request of this process, so this one "
                    f"was given up after {attempts.passed:.1f} s; check the address and the network"
                ) from None
        finally:
            connection.close()
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
