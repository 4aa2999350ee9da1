"""The files of the page."""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from importlib.resources import files

from zarr_cli.serve.responses import HttpError, Response

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}

# No external resources, no inline scripts or styles, no framing by other pages.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def page_file(name: str) -> Response:
    """Return a file of the page as a response.

    Raises
    ------
    HttpError
        If there is no such file.
    """
    body = _files().get(name)
    if body is None:
        raise HttpError(HTTPStatus.NOT_FOUND, f"the page has no file {name!r}")
    return Response(
        HTTPStatus.OK,
        {
            "Content-Type": _TYPES[name.rpartition(".")[2]],
            "Content-Security-Policy": _POLICY,
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-cache",
        },
        body,
    )


@cache
def _files() -> dict[str, bytes]:
    """Return all files by name; requests cannot open any other file."""
    return {
        file.name: file.read_bytes()
        for file in files("zarr_cli.serve").joinpath("page").iterdir()
        if file.name.rpartition(".")[2] in _TYPES
    }
