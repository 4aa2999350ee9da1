"""One thing that is wrong with a document: where it is, what it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong at one place of a document.

    Parameters
    ----------
    pointer : str
        JSON pointer of the place; empty for the whole document.  A member that
        is missing has the pointer it would have.
    message : str
        What is wrong, as a sentence without a subject: ``"must be an integer, not 10.5"``.

    Examples
    --------
    >>> str(Problem("/shape/0", "must be an integer, not 10.5"))
    '/shape/0: must be an integer, not 10.5'
    """

    pointer: str
    message: str

    def below(self, pointer: str) -> Problem:
        """The same problem, when the document is a part of a larger one at ``pointer``."""
        return Problem(pointer + self.pointer, self.message) if pointer else self

    def __str__(self) -> str:
        return f"{self.pointer}: {self.message}" if self.pointer else self.message


def json_pointer(*tokens: str | int) -> str:
    """Put a JSON pointer together (RFC 6901).

    Parameters
    ----------
    *tokens : str or int
        Member names and positions, outermost first, not escaped.

    Examples
    --------
    >>> json_pointer("codecs", 0, "a/b")
    '/codecs/0/a~1b'
    """
    return "".join(
        f"/{token}" if isinstance(token, int) else "/" + token.replace("~", "~0").replace("/", "~1")
        for token in tokens
    )
