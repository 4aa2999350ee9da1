"""What a proxy can do wrong, as plain data that can be sent to its process."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

FOREVER = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing to do wrong; the functions below make them.

    Parameters
    ----------
    kind : str
        What is done.
    number : float
        Bytes or seconds, as the kind needs it.
    further : float
        A second number.
    status : int
        The status of an answer.
    headers : dict
        Header fields of an answer.
    body : str
        The body of an answer.
    """

    kind: str
    number: float = 0
    further: float = 0
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""


# --- of HTTP and of plain connections ---


def drop() -> Fault:
    """Reset the connection; the server sees nothing of the request."""
    return Fault("drop")


def reset(after: int = 0) -> Fault:
    """Reset the connection after so many bytes of the answer's body (plain: of all answers)."""
    return Fault("reset", after)


def truncate(after: int = 0) -> Fault:
    """The same, but the connection is closed as if nothing had happened."""
    return Fault("truncate", after)


def stall(after: int = 0) -> Fault:
    """Send so many bytes, then nothing more, until the client gives up."""
    return Fault("stall", after)


def delay(seconds: float) -> Fault:
    """Let the request wait before the server sees it (plain: the connection)."""
    return Fault("delay", seconds)


# --- of HTTP alone ---


def answer(status: int, headers: dict[str, str] | None = None, body: str = "") -> Fault:
    """Answer in place of the server."""
    return Fault("answer", status=status, headers=headers or {}, body=body)


def _error(status: int, code: str, headers: dict[str, str] | None = None) -> Fault:
    body = f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code></Error>'
    return answer(status, {"Content-Type": "application/xml"} | (headers or {}), body)


def slow_down(status: int = 503, retry_after: str | None = "0") -> Fault:
    """Answer as services do whose limits are reached, with 503 or 429.

    Parameters
    ----------
    status : int
        Usually 503 or 429.
    retry_after : str or None
        The header field: seconds, or a date.
    """
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return _error(status, "SlowDown" if status == 503 else "TooManyRequests", headers)


def denied() -> Fault:
    """Answer that this is not permitted."""
    return _error(403, "AccessDenied")


def not_found() -> Fault:
    """Answer that there is no such key, as if somebody had just deleted it."""
    return _error(404, "NoSuchKey")


def lose_answer(politely: bool = False) -> Fault:
    """Let the server do it, then reset (or close) the connection: the client cannot know."""
    return Fault("lose_answer", politely)


def deny_having_done(status: int = 500) -> Fault:
    """Let the server do it, then answer in its place that it failed."""
    return Fault("deny_having_done", status=status)


def cut_request(after: int = 0) -> Fault:
    """Send the server so many bytes of the request's body, then reset both connections."""
    return Fault("cut_request", after)


def wrong_length(by: int) -> Fault:
    """Give a ``Content-Length`` that is longer (or shorter) than the body, then close."""
    return Fault("wrong_length", by)


def wrong_range(first: int, last: int | None = None) -> Fault:
    """Answer another range, and say so: its first and its last byte moved by so many."""
    return Fault("wrong_range", first, first if last is None else last)


def ignore_range() -> Fault:
    """Answer 200 with everything where a range was asked for."""
    return Fault("ignore_range")


def corrupt(at: int = 0) -> Fault:
    """Change one bit of a byte of the body; nothing else tells of it."""
    return Fault("corrupt", at)


@dataclass(slots=True)
class Rule:
    """A fault with the requests that it befalls.

    Parameters
    ----------
    fault : Fault
    method : str or None
        Only requests of this method.
    key : str
        A regular expression that is searched in the path, without its percent signs.
    query : str
        The same for what comes after a question mark.
    skip : int
        How many of these requests are spared first.
    times : int
        How many are befallen then.
    """

    fault: Fault
    method: str | None = None
    key: str = ""
    query: str = ""
    skip: int = 0
    times: int = 1

    def applies(self, method: str, path: str, query: str) -> bool:
        """Whether a request is befallen; each that could be is counted."""
        if self.method not in (None, method) or not self.times:
            return False
        if not re.search(self.key, path) or not re.search(self.query, query):
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.times -= 1
        return True
