"""Reports of imports."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.extension import escape_controls

if TYPE_CHECKING:
    from collections.abc import Iterator

    How = Literal["created", "chunks copied", "elements copied", "already imported"]


@dataclass(frozen=True, slots=True)
class ImportedNode:
    """One node of the new hierarchy.

    Parameters
    ----------
    path : str
        Path of the node in the store.
    source : str
        Name of the object in the source.
    kind : {"group", "array"}
        The type of the node.
    how : {"created", "chunks copied", "elements copied", "already imported"}
        Groups are created.  The encoded chunks of an array are copied, or its elements are
        decoded and encoded.  Nodes that an interrupted import completed are already imported.
    shape, data_type, chunks, shards, codecs
        Of arrays only; names of the data type and of the codecs.
    notes : list of str
        Differences from the source.
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
        return "\n".join(map(escape_controls, [line, *(f"    {note}" for note in self.notes)]))


@dataclass(frozen=True, slots=True)
class SkippedObject:
    """An object of the source that was not imported.

    Parameters
    ----------
    source : str
        The name of the object in the source.
    reason : str
        Why it was not imported.
    """

    source: str
    reason: str

    def __str__(self) -> str:
        return escape_controls(f"skipped {self.source}: {self.reason}")


@dataclass(slots=True)
class ImportReport:
    """The imported nodes, with all differences from the source.

    Parameters
    ----------
    source, dest : str
        The source and the location of the new hierarchy.
    imported : list of ImportedNode
        One entry for each node.
    left_out : list of SkippedObject
        One entry for each object that was not imported.
    """

    source: str
    dest: str
    imported: list[ImportedNode] = field(default_factory=list)
    left_out: list[SkippedObject] = field(default_factory=list)

    @property
    def notes(self) -> list[tuple[str, str]]:
        """All notes, with the paths of their nodes."""
        return [(node.path, note) for node in self.imported for note in node.notes]

    def __iter__(self) -> Iterator[ImportedNode]:
        return iter(self.imported)

    def __len__(self) -> int:
        return len(self.imported)

    def __getitem__(self, path: str) -> ImportedNode:
        """Return the entry of a node.

        Raises
        ------
        KeyError
            If no node of that path was imported.
        """
        for node in self.imported:
            if node.path == path.strip("/"):
                return node
        raise KeyError(path)

    def asdict(self) -> dict[str, Any]:
        """Return the report as plain data, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        arrays = sum(node.kind == "array" for node in self.imported)
        first = escape_controls(
            f"{self.source} -> {self.dest}: {arrays} arrays, {len(self.imported) - arrays} groups"
        )
        return "\n".join([first, *map(str, self.imported), *map(str, self.left_out)])
