"""The application: values of the store, files of the page, endpoints of the page."""

from __future__ import annotations

import traceback
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from zarr_core.extension import ZarrError

from zarr_cli.serve.children import children
from zarr_cli.serve.chunk_map import chunk_map
from zarr_cli.serve.node import describe_node
from zarr_cli.serve.responses import JsonResponse
from zarr_cli.serve.store_errors import http_error, without_location
from zarr_cli.serve.stored_values import is_hidden, value_response
from zarr_cli.serve.window import window

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from zarr_core.extension import Store

    Endpoint = Callable[[Store, str, Mapping[str, str]], Response]

# Version 3 reserves names that begin with "__"; no known writer uses this one.
_OWN = "/__zarr_core__"
_PAGE = Path(__file__).parent / "page"

ENDPOINTS: dict[str, Endpoint] = {
    "children": children,
    "chunk-map": chunk_map,
    "node": describe_node,
    "window": window,
}
"""Functions of the store, the served path and the query parameters."""

# A call may need several hundred megabytes and one processor.
_MOST_CALLS = 6

_SEEN_BY_PAGES = ("Accept-Ranges", "Content-Length", "Content-Range", "ETag")
_SENT_BY_PAGES = ("If-Match", "If-None-Match", "If-Range", "Range")

# No external resources, no inline scripts or styles, no framing by other pages.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PAGE_FIELDS = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def store_app(
    store: Store,
    path: str,
    cors: Sequence[str],
    hosts: Sequence[str],
    log: Callable[[str], None],
) -> ASGIApp:
    """Return the application that serves a store.

    ``path`` in the store is the root of the URLs.  ``hosts`` are the names that clients may use; empty
    for any.  A foreign page could resolve its own host name to the loopback interface and would then
    have the same origin as this server (DNS rebinding).
    """
    calls = CapacityLimiter(_MOST_CALLS)

    async def value(request: Request) -> Response:
        key = request.path_params["key"]
        if is_hidden(key):  # as in listings
            raise HTTPException(HTTPStatus.NOT_FOUND, f"key {key!r} is hidden")
        full_key = f"{path}/{key}" if path else key
        return await to_thread.run_sync(partial(value_response, store, full_key, request))

    def endpoint(function: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            call = partial(function, store, path, request.query_params)
            return await to_thread.run_sync(call, limiter=calls)

        return respond

    def error_response(_: Request, error: Exception) -> Response:
        if isinstance(error, ZarrError):  # the store failed or contains invalid data
            message, error = str(error), http_error(error, store)
            if error.status_code == HTTPStatus.INTERNAL_SERVER_ERROR:
                log(_printable(message))
        if isinstance(error, HTTPException):
            return JsonResponse({"error": error.detail}, error.status_code, error.headers)
        for line in traceback.format_exception(error):
            log(_printable(f"    {line}"))
        reason = without_location(f"{type(error).__name__}: {error}", store)
        return JsonResponse({"error": reason}, HTTPStatus.INTERNAL_SERVER_ERROR)

    page = _Page(directory=_PAGE)
    middleware = [Middleware(_Log, log, () if cors else _SAME_ORIGIN)]
    if hosts:
        middleware.append(Middleware(TrustedHostMiddleware, allowed_hosts=[*hosts]))
    if cors:
        middleware.append(
            Middleware(
                CORSMiddleware,
                allow_origins=[*cors],
                allow_methods=("GET", "HEAD"),
                allow_headers=_SENT_BY_PAGES,
                expose_headers=_SEEN_BY_PAGES,
                allow_private_network=True,
                max_age=86400,
            )
        )
    return Starlette(
        routes=[
            Route("/", page.index),
            *(Route(f"{_OWN}/{name}", endpoint(call)) for name, call in ENDPOINTS.items()),
            Mount(_OWN, page),
            Route("/{key:path}", value),
        ],
        middleware=middleware,
        exception_handlers={
            HTTPException: error_response,
            ZarrError: error_response,
            Exception: error_response,
        },
    )


class _Page(StaticFiles):
    """The files of the page, with fields that keep other pages and resources out."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers.update(_PAGE_FIELDS)
        return response

    async def index(self, request: Request) -> Response:
        return await self.get_response("index.html", request.scope)


_SAME_ORIGIN = (("Cross-Origin-Resource-Policy", "same-origin"),)


class _Log:
    """Logs requests, and adds header fields to all responses."""

    def __init__(
        self, app: ASGIApp, log: Callable[[str], None], fields: Sequence[tuple[str, str]]
    ) -> None:
        self.app = app
        self.log = log
        self.fields = (("X-Content-Type-Options", "nosniff"), *fields)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_logged(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(dict(self.fields))
                target = scope["raw_path"] + (b"?" if scope["query_string"] else b"")
                line = f"{scope['method']} {(target + scope['query_string']).decode('latin-1')}"
                self.log(_printable(f"{message['status']} {line}"))
            await send(message)

        await self.app(scope, receive, send_logged)


def _printable(text: str) -> str:
    """Return a line that cannot send control characters to a terminal, or forge lines."""
    return "".join(char if char.isprintable() else "?" for char in text.rstrip("\n"))
