"""The result of checking an array."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Damage:
    """A chunk that cannot be read.

    Parameters
    ----------
    key : str
        The key of the chunk.
    chunk : tuple of int
        The coordinates of the chunk, or of the shard for an array with shards.
    kind : {"checksum", "damaged", "unreadable"}
        The checksum does not match; the bytes cannot be decoded; the store cannot read them.
    reason : str
        The message of the codec or the store; for a shard, with the inner chunk.
    """

    key: str
    chunk: tuple[int, ...]
    kind: Literal["checksum", "damaged", "unreadable"]
    reason: str


@dataclass(slots=True)
class ArrayCheck:
    """The result of checking an array.

    Parameters
    ----------
    path : str
        The path of the array, with a leading slash.
    unit : {"chunk", "shard"}
        Whether a key stores a chunk or a shard.
    total, stored : int
        The number of chunks or shards, and how many are stored; the others read as the fill
        value.
    has_checksums : bool
        Whether a codec detects any change of the bytes.
    damages : list of Damage
        The chunks that cannot be read.
    outside : list of str
        Keys of chunks outside the shape of the array, left from a larger shape.
    unmanaged : list of str
        Unmanaged keys below the array.
    """

    path: str
    unit: str
    total: int
    has_checksums: bool
    stored: int = 0
    damages: list[Damage] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    unmanaged: list[str] = field(default_factory=list)

    @property
    def missing(self) -> int:
        """The number of chunks or shards that are not stored."""
        return self.total - self.stored

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {**asdict(self), "missing": self.missing}
