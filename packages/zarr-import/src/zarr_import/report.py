"""What an import has done."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    How = Literal["made", "chunks copied", "elements copied", "there already"]


@dataclass(frozen=True, slots=True)
class Imported:
    """One node of the new hierarchy.

    Parameters
    ----------
    path : str
        Its path in the store.
    source : str
        What it was where it comes from.
    kind : {"group", "array"}
        What it is.
    how : {"made", "chunks copied", "elements copied", "there already"}
        A group is made.  The chunks of an array are copied as they are stored, or its
        elements are decoded and encoded.  What an interrupted import has completed is there.
    shape, data_type, chunks, shards, codecs
        Of an array; names of the data type and of the codecs.
    notes : list of str
        What is not as it was in the source.
    """

    path: str
    source: str
    kind: Literal["group", "array"]
    how: How
    shape: tuple[int, ...] | None = None
    data_type: str | None = None
    chunks: tuple[int, ...] | None = None
    shards: tuple[int, ...] | None = None
    codecs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        line = f"/{self.path}"
        if self.kind == "array":
            shards = f" shards={self.shards}" if self.shards else ""
            line += f" {self.shape} {self.data_type} chunks={self.chunks}{shards}"
            line += f" {' '.join(self.codecs)}: {self.how}"
        return "\n".join([line, *(f"    {note}" for note in self.notes)])


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something of the source that is not in the new hierarchy.

    Parameters
    ----------
    source : str
        What it is called there.
    reason : str
        Why it was left out.
    """

    source: str
    reason: str

    def __str__(self) -> str:
        return f"left out {self.source}: {self.reason}"


@dataclass(slots=True)
class ImportReport:
    """What was made of what, with what changes; what was left out.

    Parameters
    ----------
    source, place : str
        From where, where to.
    imported : list of Imported
        One a node.
    left_out : list of LeftOut
        One for each thing that was not brought over.
    """

    source: str
    place: str
    imported: list[Imported] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    @property
    def notes(self) -> list[tuple[str, str]]:
        """All notes, each with the path of its node."""
        return [(node.path, note) for node in self.imported for note in node.notes]

    def __iter__(self) -> Iterator[Imported]:
        return iter(self.imported)

    def __len__(self) -> int:
        return len(self.imported)

    def __getitem__(self, path: str) -> Imported:
        """What a node was made of.

        Raises
        ------
        KeyError
            If none of that path was imported.
        """
        for node in self.imported:
            if node.path == path.strip("/"):
                return node
        raise KeyError(path)

    def asdict(self) -> dict[str, Any]:
        """The same as plain data, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        arrays = sum(node.kind == "array" for node in self.imported)
        first = (
            f"{self.source} -> {self.place}: {arrays} arrays, {len(self.imported) - arrays} groups"
        )
        return "\n".join([first, *map(str, self.imported), *map(str, self.left_out)])
