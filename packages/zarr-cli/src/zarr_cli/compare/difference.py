"""One difference between two hierarchies."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between two nodes.

    Parameters
    ----------
    path : str
        The path of the node relative to the compared nodes, with a leading slash.
    what : {"node", "metadata", "values"}
        The kind of difference: a node is missing or has another type, a metadata field
        differs, or elements differ.
    where : str
        The JSON pointer of the field in the form of version 3, or the index of the first
        element that differs; empty for nodes.
    a, b : str
        The value on each side, as text; empty if it is missing.
    message : str
        The difference as a sentence.
    """

    path: str
    what: Literal["node", "metadata", "values"]
    where: str
    a: str
    b: str
    message: str

    def to_json(self) -> dict[str, Any]:
        """Return the difference as JSON."""
        return asdict(self)
