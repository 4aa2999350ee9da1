"""What is answered to a request, before it becomes bytes on a connection."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from math import isfinite
from typing import Any

Body = bytes | Iterable[memoryview]
"""All bytes at once, or piece by piece; pieces are used up before the next is asked for."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer.

    Parameters
    ----------
    status : HTTPStatus
        The status.
    headers : dict
        Fields, but for those that every answer has.
    body : bytes or iterable of memoryview
        What is sent.
    length : int, optional
        Length of the body; for one that comes in pieces, or is not sent at all.
    close : callable, optional
        Called when the body has been sent, or will not be.
    """

    status: HTTPStatus
    headers: dict[str, str] = field(default_factory=dict)
    body: Body = b""
    length: int | None = None
    close: Callable[[], None] | None = None


class RefusedError(Exception):
    """A request that is answered with an error.

    Parameters
    ----------
    status : HTTPStatus
        The status.
    reason : str
        What is wrong, and what to do, in a sentence.
    headers : dict, optional
        Further fields of the answer.
    """

    def __init__(
        self, status: HTTPStatus, reason: str, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(status, reason, headers)
        self.status = status
        self.reason = reason
        self.headers = headers or {}

    def answer(self) -> Answer:
        """The answer."""
        return json_answer({"error": self.reason}, self.status, self.headers)


def json_answer(
    value: Any, status: HTTPStatus = HTTPStatus.OK, headers: dict[str, str] | None = None
) -> Answer:
    """An answer in JSON, which nobody is to keep."""
    try:
        body = _json(value)
    except ValueError:  # numbers that JSON does not have: attributes of version 2 may
        body = _json(_named(value))
    return Answer(
        status,
        {"Content-Type": "application/json", "Cache-Control": "no-store", **(headers or {})},
        body.encode("utf-8", "backslashreplace"),
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _named(value: Any) -> Any:
    """The same with words for what is no number, or infinite."""
    if isinstance(value, dict):
        return {name: _named(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_named(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return json.dumps(value)
    return value
