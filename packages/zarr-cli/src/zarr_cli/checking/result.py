"""What a check finds out about an array."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Damage:
    """A chunk that cannot be read.

    Parameters
    ----------
    key : str
        Where it is stored.
    chunk : tuple of int
        Its place in the grid of what is stored: chunks, or shards if there are any.
    kind : {"checksum", "damaged", "unreadable"}
        Whether a checksum differs; the bytes make no sense; the store gives none.
    reason : str
        What the codec or the store says; of a shard, also which of its chunks it is.
    """

    key: str
    chunk: tuple[int, ...]
    kind: Literal["checksum", "damaged", "unreadable"]
    reason: str


@dataclass(slots=True)
class ArrayCheck:
    """What was found out about an array.

    Parameters
    ----------
    path : str
        With a leading slash.
    unit : {"chunk", "shard"}
        What is stored under a key.
    total, stored : int
        How many there are, how many of them are stored; the others read as the fill value.
    has_checksums : bool
        Whether a codec notices any change of the bytes.
    damages : list of Damage
        What cannot be read.
    outside : list of str
        Keys of chunks that lie outside the array, left from a larger shape.
    foreign : list of str
        Keys below the array that are no chunk's.
    """

    path: str
    unit: str
    total: int
    has_checksums: bool
    stored: int = 0
    damages: list[Damage] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    @property
    def missing(self) -> int:
        """How many chunks or shards are not stored."""
        return self.total - self.stored

    def to_json(self) -> dict[str, Any]:
        """The result as a document."""
        return {**asdict(self), "missing": self.missing}
