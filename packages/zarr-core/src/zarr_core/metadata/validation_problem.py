"""A problem in a metadata document: its location and a message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_core.messages import escape_controls, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

_TOKEN, _POINTER = 1000, 4000  # characters of a token of a pointer, and of a pointer
_MESSAGE = 1000  # characters of a message
_LINES = 1800  # characters of all problems in the message of an error


@dataclass(frozen=True, slots=True)
class ValidationProblem:
    """A problem at one location of a document.

    Parameters
    ----------
    pointer : str
        JSON pointer of the location; empty for the whole document.  For a missing member, the
        pointer that it would have.
    message : str
        A sentence without a subject: ``"must be an integer, not 10.5"``.  The middle of a
        message of more than 1,000 characters is omitted.

    Examples
    --------
    >>> str(ValidationProblem("/shape/0", "must be an integer, not 10.5"))
    '/shape/0: must be an integer, not 10.5'
    """

    pointer: str
    message: str

    def __post_init__(self) -> None:
        if len(self.message) > _MESSAGE:
            object.__setattr__(self, "message", shorten(self.message, _MESSAGE))

    def below(self, pointer: str) -> ValidationProblem:
        """Return the same problem for a document that contains this one at ``pointer``."""
        return ValidationProblem(pointer + self.pointer, self.message) if pointer else self

    def __str__(self) -> str:
        message = escape_controls(self.message, keep="\n")
        pointer = escape_controls(shorten(self.pointer, 300))
        return f"{pointer}: {message}" if pointer else message


def json_pointer(*tokens: str | int) -> str:
    """Return a JSON pointer (RFC 6901) from unescaped tokens, outermost first.

    The middle of a name of more than 1,000 characters, or of a pointer of more than 4,000, is
    omitted.

    Examples
    --------
    >>> json_pointer("codecs", 0, "a/b")
    '/codecs/0/a~1b'
    """
    pointer = "".join(
        f"/{token}"
        if isinstance(token, int)
        else "/" + shorten(token, _TOKEN).replace("~", "~0").replace("/", "~1")
        for token in tokens
    )
    return _cut(pointer)


def pointer_below(pointer: str, token: str | int) -> str:
    """Return the JSON pointer of a member of the value at ``pointer``, shortened if too long."""
    return _cut(pointer + json_pointer(token))


def _cut(pointer: str) -> str:
    if len(pointer) <= _POINTER:
        return pointer
    return f"{pointer[: _POINTER // 2]}/...{pointer[-_POINTER // 3 :]}"


def first_token(pointer: str) -> str:
    """Return the first token of a JSON pointer with its slash; empty for the whole document.

    Examples
    --------
    >>> first_token("/codecs/0/name")
    '/codecs'
    """
    end = pointer.find("/", 1)
    return pointer if end < 0 else pointer[:end]


def problem_lines(problems: Sequence[ValidationProblem]) -> list[str]:
    """Return lines of a message: the first problems, and the number of others.

    Examples
    --------
    >>> problem_lines([ValidationProblem("", "is empty")])
    ['is empty']
    """
    lines: list[str] = []
    length = 0
    for problem in problems:
        line = str(problem)
        length += len(line)
        if lines and length > _LINES:
            return [*lines, f"and {len(problems) - len(lines):,} more"]
        lines.append(line)
    return lines
