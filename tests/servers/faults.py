"""Faults that a proxy can inject, as plain data for its process."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

FOREVER = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault; the functions below create them.

    Parameters
    ----------
    kind : str
        Kind of the fault.
    number : float
        Bytes or seconds, depending on the kind.
    further : float
        A second number.
    status : int
        Status of a response.
    headers : dict
        Header fields of a response.
    body : str
        Body of a response.
    """

    kind: str
    number: float = 0
    further: float = 0
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""


# --- HTTP and plain connections ---


def drop() -> Fault:
    """Reset the connection before the server receives the request."""
    return Fault("drop")


def reset(after: int = 0) -> Fault:
    """Reset the connection after this number of bytes of the body (plain: of all responses)."""
    return Fault("reset", after)


def truncate(after: int = 0) -> Fault:
    """Close the connection normally after this number of bytes."""
    return Fault("truncate", after)


def stall(after: int = 0) -> Fault:
    """Send this number of bytes, then nothing until the client times out."""
    return Fault("stall", after)


def delay(seconds: float) -> Fault:
    """Delay the request before the server receives it (plain: the connection)."""
    return Fault("delay", seconds)


# --- HTTP only ---


def hold() -> Fault:
    """Hold the request before the server receives it, until the faults are removed."""
    return Fault("hold")


def answer(status: int, headers: dict[str, str] | None = None, body: str = "") -> Fault:
    """Respond instead of the server."""
    return Fault("answer", status=status, headers=headers or {}, body=body)


def _error(status: int, code: str, headers: dict[str, str] | None = None) -> Fault:
    body = f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code></Error>'
    return answer(status, {"Content-Type": "application/xml"} | (headers or {}), body)


def slow_down(status: int = 503, retry_after: str | None = "0") -> Fault:
    """Respond as a service that is rate limited, with 503 or 429.

    Parameters
    ----------
    status : int
        Usually 503 or 429.
    retry_after : str or None
        Header field: seconds, or a date.
    """
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return _error(status, "SlowDown" if status == 503 else "TooManyRequests", headers)


def denied() -> Fault:
    """Respond that access is denied."""
    return _error(403, "AccessDenied")


def not_found() -> Fault:
    """Respond that the key is missing, as if it had just been deleted."""
    return _error(404, "NoSuchKey")


def lose_answer(politely: bool = False) -> Fault:
    """Pass the request on, then reset (or close) the connection without a response."""
    return Fault("lose_answer", politely)


def deny_having_done(status: int = 500) -> Fault:
    """Pass the request on, then respond that it failed."""
    return Fault("deny_having_done", status=status)


def cut_request(after: int = 0) -> Fault:
    """Send this number of bytes of the request body, then reset both connections."""
    return Fault("cut_request", after)


def wrong_length(by: int) -> Fault:
    """Send a ``Content-Length`` that differs from the length of the body, then close."""
    return Fault("wrong_length", by)


def wrong_range(first: int, last: int | None = None) -> Fault:
    """Respond with another range, whose first and last byte are shifted."""
    return Fault("wrong_range", first, first if last is None else last)


def ignore_range() -> Fault:
    """Respond to a range request with 200 and the whole value."""
    return Fault("ignore_range")


@dataclass(slots=True)
class Rule:
    """A fault and the requests to which it applies.

    Parameters
    ----------
    fault : Fault
    method : str or None
        Only requests of this method.
    key : str
        Regular expression that is searched in the decoded path.
    query : str
        Regular expression that is searched in the query.
    skip : int
        Number of matching requests that are skipped first.
    times : int
        Number of requests to which the fault applies.
    """

    fault: Fault
    method: str | None = None
    key: str = ""
    query: str = ""
    skip: int = 0
    times: int = 1

    def applies(self, method: str, path: str, query: str) -> bool:
        """Return whether the fault applies to a request; counts every match."""
        if self.method not in (None, method) or not self.times:
            return False
        if not re.search(self.key, path) or not re.search(self.query, query):
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.times -= 1
        return True
