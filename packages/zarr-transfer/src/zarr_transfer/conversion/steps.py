"""The plan of a conversion: a step for each node."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from zarr_core.tools import escape_controls

from zarr_transfer.memory import Memory
from zarr_transfer.spec import is_in_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import ValidationProblem
    from zarr_core.tools import NodeMetadata

    from zarr_transfer.spec import NodeLocation

Cost = Literal["nothing", "document", "copy", "recode"]
"""The cost of converting a node.

``nothing``: it exists already.  ``document``: only metadata is written; chunks keep their keys and
bytes.  ``copy``: chunks are copied without decoding.  ``recode``: chunks are decoded and encoded.
"""


@dataclass(frozen=True, slots=True)
class ConversionStep:
    """The conversion of one node.

    Parameters
    ----------
    path : str
        Path below the source; empty for the source itself.
    kind : {"array", "group"}
        The type of the node.
    cost : {"nothing", "document", "copy", "recode"}
        See :data:`Cost`.
    chunks : int or None
        Number of chunks or shards that are written; for large arrays an upper limit.  None if
        unknown.
    nbytes : int or None
        Bytes that are read: stored (``copy``) or decoded (``recode``).  None if unknown.
    problems : tuple of ValidationProblem
        Why it is not possible, each with a JSON pointer as for version 3.
    notes : tuple of str
        What is lost or changed.
    source_metadata : ArrayMetadata or GroupMetadata, optional
        Metadata of the source; None if it cannot be read.
    metadata : ArrayMetadata or GroupMetadata, optional
        Metadata of the result; None if there are problems.
    """

    path: str
    kind: Literal["array", "group"]
    cost: Cost
    chunks: int | None = 0
    nbytes: int | None = 0
    problems: tuple[ValidationProblem, ...] = ()
    notes: tuple[str, ...] = ()
    source_metadata: NodeMetadata | None = field(default=None, repr=False)
    metadata: NodeMetadata | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ConversionPlan:
    """The plan of a conversion; ``print`` shows it as text.

    Parameters
    ----------
    source, dest : NodeLocation
        The two locations.
    steps : tuple of ConversionStep
        One for each node, parents first.
    overwrite : bool
        Whether the destination is removed first.
    remove_source : bool
        Whether the source is removed at the end.
    memory : Memory
        Memory for decoding.
    """

    source: NodeLocation
    dest: NodeLocation
    steps: tuple[ConversionStep, ...]
    overwrite: bool = False
    remove_source: bool = False
    memory: Memory = field(default_factory=Memory)

    @property
    def in_place(self) -> bool:
        """Whether the new metadata is stored beside the old."""
        return is_in_place(self.source, self.dest)

    @property
    def problems(self) -> tuple[ValidationProblem, ...]:
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


def _located(step: ConversionStep, problem: ValidationProblem) -> ValidationProblem:
    mark = "#" if problem.pointer else ""
    return problem.below(f"/{step.path}{mark}")


def _row(step: ConversionStep) -> tuple[str, str, str, str, str]:
    cost = "impossible" if step.problems else step.cost
    touched = step.kind == "array" and cost in ("copy", "recode")
    chunks = _count(step.chunks) if touched else "-"
    path = escape_controls(f"/{step.path}")
    return path, step.kind, cost, chunks, size_text(step.nbytes) if touched else "-"


def _remarks(step: ConversionStep) -> Iterator[str]:
    for problem in step.problems:
        yield f"    problem: {problem}"
    for note in step.notes:
        yield f"    note: {escape_controls(note)}"


def _count(number: int | None) -> str:
    return "unknown" if number is None else str(number)


def size_text(nbytes: int | None) -> str:
    """Return a number of bytes as text: ``"1.5 MiB"``."""
    if nbytes is None:
        return "unknown"
    size = float(nbytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
