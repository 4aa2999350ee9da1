"""What a conversion does, node by node."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from zarr_core.extension import ExtensionError, MetadataError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import ArrayMetadata, Format, GroupMetadata, Problem, Store

    NodeMetadata = ArrayMetadata | GroupMetadata

Cost = Literal["nothing", "document", "copy", "recode"]
"""What a node costs.

``nothing``: it is there already.  ``document``: only documents are written; chunks keep
their keys and bytes.  ``copy``: the bytes of chunks are copied to other keys without
being decoded.  ``recode``: chunks are decoded and encoded.
"""


@dataclass(frozen=True, slots=True)
class Side:
    """One end of a conversion.

    Parameters
    ----------
    store : Store
        Where.
    path : str
        Path of the node in the store.
    format_ : Format
        Its format.
    """

    store: Store
    path: str
    format_: Format

    def at(self, path: str) -> str:
        """The path in the store of a node that lies at a path below this one."""
        return "/".join(part for part in (self.path, path) if part)

    def read(self, path: str) -> NodeMetadata | None:
        """A node that has a document, at a path below this one.

        A group that others merely imply may become anything.
        """
        at = self.at(path)
        found = self.format_.read(self.store, at)
        if found is not None and self.format_.implicit_groups:
            keys = self.format_.documents(at)
            return found if any(map(self.store.exists, keys)) else None
        return found

    def has(self, format_: Format, path: str = "") -> bool:
        """Whether there is a node of some format, damaged or not, at a path below this one."""
        try:
            return Side(self.store, self.at(path), format_).read("") is not None
        except (MetadataError, ExtensionError):
            return True

    def where(self, path: str = "") -> str:
        """Names a node in messages."""
        return f"{self.store} {'/' + self.at(path)!r}"

    def __str__(self) -> str:
        place = f"{self.store} /{self.path}" if self.path else str(self.store)
        return f"{place} ({self.format_.name})"


@dataclass(frozen=True, slots=True)
class Step:
    """What happens to one node.

    Parameters
    ----------
    path : str
        Path below the node that is converted; empty for that node.
    kind : {"array", "group"}
        What it is.
    cost : {"nothing", "document", "copy", "recode"}
        See :data:`Cost`.
    chunks : int or None
        Stored objects (chunks, or shards) that are written; at most so many where the
        array is large, as they are not counted then.  None if unknown.
    nbytes : int or None
        Bytes that are read: as they are stored (``copy``), or decoded (``recode``).
        None if unknown.
    problems : tuple of Problem
        Why it cannot be done, each with a JSON pointer in the words of version 3.
    notes : tuple of str
        What is lost or changed.
    source_metadata : ArrayMetadata or GroupMetadata, optional
        What is read; None if it cannot be.
    metadata : ArrayMetadata or GroupMetadata, optional
        What is written; None if there is none because of problems.
    """

    path: str
    kind: Literal["array", "group"]
    cost: Cost
    chunks: int | None = 0
    nbytes: int | None = 0
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    source_metadata: NodeMetadata | None = field(default=None, repr=False)
    metadata: NodeMetadata | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Memory:
    """What a user allows.

    Parameters
    ----------
    most : int or None
        Bytes for elements, and for the chunks that threads decode and encode besides.
    copies : int
        How many arrays of a box's elements there are at a time.
    """

    most: int | None = None
    copies: int = 1


@dataclass(frozen=True, slots=True)
class Plan:
    """What a conversion does; ``print`` it to read it.

    Parameters
    ----------
    source, dest : Side
        From where, where to.
    steps : tuple of Step
        One a node, parents before children.
    overwrite : bool
        Whether what is at the destination is removed first.
    remove_source : bool
        Whether the source is removed when all is done.
    memory : Memory
        What arrays that are decoded may take.
    """

    source: Side
    dest: Side
    steps: tuple[Step, ...]
    overwrite: bool = False
    remove_source: bool = False
    memory: Memory = Memory()

    @property
    def in_place(self) -> bool:
        """Whether the new documents come to stand beside the old ones."""
        return is_in_place(self.source, self.dest)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems; pointers begin with the path of the node."""
        return tuple(_located(step, problem) for step in self.steps for problem in step.problems)

    @property
    def cost(self) -> Cost:
        """The largest cost of a step."""
        return max((step.cost for step in self.steps), key=_COSTS.index, default="nothing")

    def __str__(self) -> str:
        beside = "in place, " if self.in_place else ""
        lines = [f"{self.source} -> {beside}{self.dest}"]
        rows = [("path", "kind", "cost", "chunks", "bytes"), *map(_row, self.steps)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row, below in zip(rows, [[], *map(_remarks, self.steps)], strict=True):
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            lines.append("  ".join(cells).rstrip())
            lines += below
        return "\n".join(lines)


_COSTS: tuple[Cost, ...] = ("nothing", "document", "copy", "recode")


def is_in_place(source: Side, dest: Side) -> bool:
    """Whether both are the same node of the same store."""
    return source.path == dest.path and bool(source.store == dest.store)


def _located(step: Step, problem: Problem) -> Problem:
    mark = "#" if problem.pointer else ""
    return problem.below(f"/{step.path}{mark}")


def _row(step: Step) -> tuple[str, str, str, str, str]:
    # Nothing is decided about a node with problems.
    cost = "impossible" if step.problems else step.cost
    touched = step.kind == "array" and cost in ("copy", "recode")
    chunks = _count(step.chunks) if touched else "-"
    return f"/{step.path}", step.kind, cost, chunks, size_text(step.nbytes) if touched else "-"


def _remarks(step: Step) -> Iterator[str]:
    for problem in step.problems:
        yield f"    problem: {problem}"
    for note in step.notes:
        yield f"    note: {note}"


def _count(number: int | None) -> str:
    return "unknown" if number is None else str(number)


def size_text(nbytes: int | None) -> str:
    """Bytes for people: ``"1.5 MiB"``."""
    if nbytes is None:
        return "unknown"
    size = float(nbytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
