"""The plan of a copy or conversion: a step for each node."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from zarr_core.extension import escape_controls, strictjson
from zarr_core.messages import format_bytes

from zarr_transfer.copy_executor import CopyResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import Format, ValidationProblem
    from zarr_core.interfaces.format import NodeMetadata

    from zarr_transfer.copy_executor import KeyPair
    from zarr_transfer.spec import CopySpec, NodeLocation

Action = Literal["copy", "replace", "merge", "keep", "skip"]
"""What happens to an existing node at the destination.

``copy``: none exists, or an equal one.  ``replace``: it is removed first.  ``merge``: an existing group
receives members and metadata.  ``keep``: it receives members.  ``skip``: it is kept.
"""

Cost = Literal["nothing", "document", "copy", "recode"]
"""The cost of copying a node.

``nothing``: it exists already.  ``document``: only metadata is written; chunks keep their keys and
bytes.  ``copy``: chunks are copied without decoding.  ``recode``: chunks are decoded and encoded.
"""


@dataclass(frozen=True, slots=True)
class CopyStep:
    """The copy or conversion of one node.

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
        unknown.  Counted for conversions only.
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
    action : {"copy", "replace", "merge", "keep", "skip"}
        See :data:`Action`.
    fills : bool
        Whether missing chunks are stored, with the fill value of the source: that of the
        destination is another one, or undefined.
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
    action: Action = "copy"
    fills: bool = False

    @property
    def is_array(self) -> bool:
        """Whether the node is an array."""
        return self.kind == "array"

    @property
    def is_new(self) -> bool:
        """Whether the node is created."""
        return self.cost != "nothing" and self.action in ("copy", "replace")


@dataclass(frozen=True, slots=True)
class CopyPlan:
    """The plan of a copy or conversion; ``print`` shows it as text.

    Parameters
    ----------
    spec : CopySpec
        The source and the destination.
    steps : tuple of CopyStep
        One for each node, parents first.
    pairs : list of KeyPair, optional
        All keys except metadata, if they are copied unchanged; their owners are indices of steps.
        None if chunks are copied array by array.
    overwrite : bool
        Whether the destination is removed first.
    remove_source : bool
        Whether the source is removed at the end.
    is_conversion : bool
        Whether groups are parts of the progress, and metadata that another writer stores meanwhile
        is never replaced.
    """

    spec: CopySpec
    steps: tuple[CopyStep, ...]
    pairs: list[KeyPair] | None = field(default=None, repr=False)
    overwrite: bool = False
    remove_source: bool = False
    is_conversion: bool = False

    @property
    def source(self) -> NodeLocation:
        """The source."""
        return self.spec.source

    @property
    def dest(self) -> NodeLocation:
        """The destination."""
        return self.spec.dest

    @property
    def todo(self) -> list[CopyStep]:
        """The steps that are executed: not those below a group with problems."""
        left = tuple(f"{step.path}/" for step in self.steps if step.problems)
        return [
            step
            for step in self.steps
            if step.cost != "nothing" and not f"{step.path}/".startswith(left)
        ]

    @property
    def parts(self) -> int:
        """Number of parts of the progress."""
        if self.pairs is not None:
            return 1
        return sum(step.is_array or self.is_conversion for step in self.todo)

    @property
    def metadata_first(self) -> bool:
        """Whether the store requires metadata before chunks."""
        return self.dest.store.traits.metadata_first and not self.in_place

    def result(self, nbytes: int = 0) -> CopyResult:
        """Return the numbers of nodes that are copied and skipped."""
        skipped = sum(step.cost == "nothing" for step in self.steps)
        return CopyResult(len(self.steps) - skipped, skipped, nbytes)

    @property
    def in_place(self) -> bool:
        """Whether the new metadata is stored next to the old."""
        return self.spec.in_place

    @property
    def problems(self) -> tuple[ValidationProblem, ...]:
        """All problems; pointers begin with the path of the node."""
        return tuple(_located(step, problem) for step in self.steps for problem in step.problems)

    @property
    def cost(self) -> Cost:
        """The largest cost of a step."""
        return max((step.cost for step in self.steps), key=_COSTS.index, default="nothing")

    def __str__(self) -> str:
        how = "in place, " if self.in_place else ""
        lines = [f"{self.source} -> {how}{self.dest}"]
        rows = [("path", "kind", "cost", "chunks", "bytes"), *map(_row, self.steps)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row, below in zip(rows, [[], *map(_remarks, self.steps)], strict=True):
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            lines.append("  ".join(cells).rstrip())
            lines += below
        return "\n".join(lines)


_COSTS: tuple[Cost, ...] = ("nothing", "document", "copy", "recode")


def _located(step: CopyStep, problem: ValidationProblem) -> ValidationProblem:
    mark = "#" if problem.pointer else ""
    return problem.below(f"/{step.path}{mark}")


def _row(step: CopyStep) -> tuple[str, str, str, str, str]:
    cost = "impossible" if step.problems else step.cost
    touched = step.kind == "array" and cost in ("copy", "recode")
    chunks = "unknown" if step.chunks is None else str(step.chunks)
    nbytes = "unknown" if step.nbytes is None else format_bytes(step.nbytes)
    path = escape_controls(f"/{step.path}")
    return path, step.kind, cost, *((chunks, nbytes) if touched else ("-", "-"))


def _remarks(step: CopyStep) -> Iterator[str]:
    for problem in step.problems:
        yield f"    problem: {problem}"
    for note in step.notes:
        yield f"    note: {escape_controls(note)}"


def same_metadata(format_: Format, one: NodeMetadata, other: NodeMetadata) -> bool:
    """Whether two metadata documents are identical."""
    return type(one) is type(other) and strictjson.identical(
        format_.to_json(one), format_.to_json(other)
    )
