"""One place where two hierarchies differ."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that is not the same on both sides.

    Parameters
    ----------
    path : str
        The node, relative to the two that are compared, with a leading slash.
    what : {"node", "metadata", "values"}
        Whether a node is missing or of another type; a member of its document differs, or
        its elements.
    where : str
        JSON pointer of the member, in the words of version 3; index of the first element
        that differs; empty for nodes.
    a, b : str
        What stands there on either side, as text; empty if there is nothing.
    message : str
        The whole as a sentence.
    """

    path: str
    what: Literal["node", "metadata", "values"]
    where: str
    a: str
    b: str
    message: str

    def to_json(self) -> dict[str, Any]:
        """The difference as a document."""
        return asdict(self)
