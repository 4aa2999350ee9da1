"""Routing of requests: values of the store, files of the page, endpoints of the page."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from zarr_cli.serve.endpoints import ENDPOINTS, call_endpoint
from zarr_cli.serve.page_files import page_file
from zarr_cli.serve.responses import HttpError, Response
from zarr_cli.serve.store_errors import MAX_TARGET
from zarr_cli.serve.stored_values import is_hidden, value_response

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zarr_core.extension import Store

# Version 3 reserves names that begin with "__"; no known writer uses this one.
OWN = "__zarr_core__/"
_METHODS = "GET, HEAD, OPTIONS"

_SEEN_BY_PAGES = "Accept-Ranges, Content-Length, Content-Range, ETag"
_SENT_BY_PAGES = "If-Match, If-None-Match, If-Range, Range"


@dataclass(frozen=True, slots=True)
class Site:
    """The resources of a server.

    Parameters
    ----------
    store : Store
        The served store.
    path : str
        The normalized path in the store that is the root of the URLs.
    cors : tuple of str
        Origins whose pages may read the store.
    hosts : tuple of str
        Host names that the server accepts; empty for any.
    """

    store: Store
    path: str
    cors: tuple[str, ...]
    hosts: tuple[str, ...]

    def respond(self, method: str, target: str, headers: Mapping[str, str]) -> Response:
        """Respond to a request.

        Parameters
        ----------
        method, target : str
            As in the request line.
        headers : mapping
            The header fields, with case-insensitive names.

        Raises
        ------
        HttpError
            If the response is an error.
        """
        self._check_host(headers.get("Host", ""))
        if method == "OPTIONS":
            return Response(HTTPStatus.NO_CONTENT, {"Allow": _METHODS, **self._preflight(headers)})
        if method not in ("GET", "HEAD"):
            raise HttpError(
                HTTPStatus.METHOD_NOT_ALLOWED,
                "this server is read-only",
                {"Allow": _METHODS},
            )
        if len(target) > MAX_TARGET:
            reason = f"the target must not be longer than {MAX_TARGET} characters"
            raise HttpError(HTTPStatus.REQUEST_URI_TOO_LONG, reason)
        try:
            parts = urlsplit(target)
            key = unquote(parts.path, errors="strict").removeprefix("/")
            query = parse_qsl(parts.query, keep_blank_values=True, max_num_fields=50)
        except ValueError as error:
            raise HttpError(HTTPStatus.BAD_REQUEST, f"invalid URL: {error}") from error
        if not key:
            return page_file("index.html")
        if not key.startswith(OWN):
            if is_hidden(key):  # as in listings
                raise HttpError(HTTPStatus.NOT_FOUND, f"key {key!r} is hidden")
            full_key = f"{self.path}/{key}" if self.path else key
            return value_response(self.store, full_key, headers, head=method == "HEAD")
        name = key.removeprefix(OWN)
        if name in ENDPOINTS:
            return call_endpoint(name, self.store, self.path, dict(query))
        return page_file(name)

    def headers(self, request_headers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Yield the header fields of every response.

        Parameters
        ----------
        request_headers : mapping
            The header fields of the request.
        """
        yield "X-Content-Type-Options", "nosniff"
        origin = self._allowed(request_headers)
        if not self.cors:
            yield "Cross-Origin-Resource-Policy", "same-origin"
        elif "*" not in self.cors:
            yield "Vary", "Origin"
        if origin:
            yield "Access-Control-Allow-Origin", origin
            yield "Access-Control-Expose-Headers", _SEEN_BY_PAGES

    def _allowed(self, headers: Mapping[str, str]) -> str | None:
        """Return the origin whose pages may read the response."""
        if "*" in self.cors:
            return "*"
        origin = headers.get("Origin")
        return origin if origin in self.cors else None

    def _preflight(self, headers: Mapping[str, str]) -> dict[str, str]:
        if self._allowed(headers) is None:
            return {}
        fields = {
            "Access-Control-Allow-Methods": _METHODS,
            "Access-Control-Allow-Headers": _SENT_BY_PAGES,
            "Access-Control-Max-Age": "86400",
        }
        if headers.get("Access-Control-Request-Private-Network") == "true":
            fields["Access-Control-Allow-Private-Network"] = "true"
        return fields

    def _check_host(self, host: str) -> None:
        """Reject unknown host names.

        A foreign page could resolve its own host name to the loopback interface and would
        then have the same origin as this server (DNS rebinding).
        """
        if not self.hosts or not host:
            return
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        if name.strip("[]").lower() not in self.hosts:
            raise HttpError(
                HTTPStatus.MISDIRECTED_REQUEST,
                f"host name {name!r} is not allowed; allow it with --allow-host",
            )
