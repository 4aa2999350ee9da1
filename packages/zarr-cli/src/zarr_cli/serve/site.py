"""What is at which address: values of the store, the page, what the page asks."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from zarr_cli.serve.answers import Answer, RefusedError
from zarr_cli.serve.page_files import page_file
from zarr_cli.serve.questions import QUESTIONS, answer_to
from zarr_cli.serve.values import value_answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zarr_core.extension import Store

# No node of version 3 may have a name that begins with "__".
OWN = "__zarr_core__/"
_METHODS = "GET, HEAD, OPTIONS"

_SEEN_BY_PAGES = "Accept-Ranges, Content-Length, Content-Range, ETag"
_SENT_BY_PAGES = "If-Match, If-None-Match, If-Range, Range"


@dataclass(frozen=True, slots=True)
class Site:
    """Everything that a server has to say.

    Parameters
    ----------
    store : Store
        What is served.
    path : str
        Normalised path in it that is the root.
    cors : tuple of str
        Origins whose pages may read.
    hosts : tuple of str
        Names that the server answers to; empty for any.
    """

    store: Store
    path: str
    cors: tuple[str, ...]
    hosts: tuple[str, ...]

    def answer(self, method: str, target: str, headers: Mapping[str, str]) -> Answer:
        """Answer a request.

        Parameters
        ----------
        method, target : str
            As in the request line.
        headers : mapping
            The fields, by their names in any case.

        Raises
        ------
        RefusedError
            If the answer is an error.
        """
        self._check_host(headers.get("Host", ""))
        if method == "OPTIONS":
            return Answer(HTTPStatus.NO_CONTENT, {"Allow": _METHODS, **self._preflight(headers)})
        if method not in ("GET", "HEAD"):
            raise RefusedError(
                HTTPStatus.METHOD_NOT_ALLOWED,
                "this server is for reading only",
                {"Allow": _METHODS},
            )
        try:
            parts = urlsplit(target)
            key = unquote(parts.path, errors="strict").removeprefix("/")
            question = parse_qsl(parts.query, keep_blank_values=True, max_num_fields=50)
        except ValueError as error:
            raise RefusedError(HTTPStatus.BAD_REQUEST, f"not an address: {error}") from error
        if not key:
            return page_file("index.html")
        if not key.startswith(OWN):
            whole = f"{self.path}/{key}" if self.path else key
            return value_answer(self.store, whole, headers, head=method == "HEAD")
        name = key.removeprefix(OWN)
        if name in QUESTIONS:
            return answer_to(name, self.store, self.path, dict(question))
        return page_file(name)

    def headers(self, asked: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """The fields that every answer has.

        Parameters
        ----------
        asked : mapping
            The fields of the request.
        """
        yield "X-Content-Type-Options", "nosniff"
        origin = self._allowed(asked)
        if not self.cors:
            yield "Cross-Origin-Resource-Policy", "same-origin"
        elif "*" not in self.cors:
            yield "Vary", "Origin"
        if origin:
            yield "Access-Control-Allow-Origin", origin
            yield "Access-Control-Expose-Headers", _SEEN_BY_PAGES

    def _allowed(self, headers: Mapping[str, str]) -> str | None:
        """The origin whose pages may read the answer."""
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
        """Refuse to be called by a stranger's name.

        A page from anywhere could have its own name lead to the loopback interface, and
        would then be of the same origin as what is served here.
        """
        if not self.hosts or not host:
            return
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        if name.strip("[]").lower() not in self.hosts:
            raise RefusedError(
                HTTPStatus.MISDIRECTED_REQUEST,
                f"this server is not called {name!r}; allow that name with --allow-host",
            )
