"""HTTP responses, independent of a connection."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from math import isfinite
from typing import Any

Body = bytes | Iterable[memoryview]
"""The body as bytes, or as an iterable of buffers that are sent one by one."""


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response.

    Parameters
    ----------
    status : HTTPStatus
        The HTTP status.
    headers : dict
        The header fields, without those of every response.
    body : bytes or iterable of memoryview
        The body.
    length : int, optional
        The length of the body, if the body is an iterable or is not sent.
    close : callable, optional
        Called after the body was sent, or if it is not sent.
    """

    status: HTTPStatus
    headers: dict[str, str] = field(default_factory=dict)
    body: Body = b""
    length: int | None = None
    close: Callable[[], None] | None = None


class HttpError(Exception):
    """An HTTP error response.

    Parameters
    ----------
    status : HTTPStatus
        The HTTP status.
    reason : str
        The problem, and what to do.
    headers : dict, optional
        Additional header fields.
    """

    def __init__(
        self, status: HTTPStatus, reason: str, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(status, reason, headers)
        self.status = status
        self.reason = reason
        self.headers = headers or {}

    def response(self) -> Response:
        """Return the error as a response."""
        return json_response({"error": self.reason}, self.status, self.headers)


def json_response(
    value: Any, status: HTTPStatus = HTTPStatus.OK, headers: dict[str, str] | None = None
) -> Response:
    """Return a JSON response, which is not cached."""
    try:
        body = _json(value)
    except ValueError:  # NaN or infinities, as in attributes of version 2
        body = _json(_replace_non_finite(value))
    return Response(
        status,
        {"Content-Type": "application/json", "Cache-Control": "no-store", **(headers or {})},
        body.encode("utf-8", "backslashreplace"),
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _replace_non_finite(value: Any) -> Any:
    """Return the value with NaN and infinities replaced by strings."""
    if isinstance(value, dict):
        return {name: _replace_non_finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_non_finite(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return json.dumps(value)
    return value
