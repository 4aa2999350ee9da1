"""HTTP errors for store errors, without the location of the store."""

from __future__ import annotations

import errno
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import unquote

from starlette.exceptions import HTTPException
from zarr_core.extension import StoreError, ZarrError

if TYPE_CHECKING:
    from zarr_core.extension import Store

_MAX_TEXT = 2000

_REFUSED = {
    errno.ENAMETOOLONG: (HTTPStatus.REQUEST_URI_TOO_LONG, "the key is too long for the store"),
    errno.EXDEV: (
        HTTPStatus.FORBIDDEN,
        "a symbolic link leads out of the store, to itself or to a missing file",
    ),
    errno.ELOOP: (
        HTTPStatus.FORBIDDEN,
        "a symbolic link leads out of the store, to itself or to a missing file",
    ),
    errno.EACCES: (HTTPStatus.FORBIDDEN, "permission denied for this value"),
    errno.EPERM: (HTTPStatus.FORBIDDEN, "permission denied for this value"),
}


def http_error(error: ZarrError, store: Store) -> HTTPException:
    """Return the HTTP error for an error of the store or its data."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, OSError):
        cause = cause.__cause__
    if cause is not None and cause.errno in _REFUSED:
        return HTTPException(*_REFUSED[cause.errno])
    text = error.reason if isinstance(error, StoreError) else str(error)
    return HTTPException(HTTPStatus.INTERNAL_SERVER_ERROR, without_location(text, store))


def without_location(text: str, store: Store) -> str:
    """Return a text without the URL and path of a store, truncated to a maximum length."""
    url = str(store)
    path = unquote(store.url.partition("://")[2]).rstrip("/")
    for location in sorted({url, store.url, repr(store), path}, key=len, reverse=True):
        if len(location) > 1:
            text = text.replace(location, "the store")
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]} ..."
