"""Plans of copies and conversions: locations, options, and a step for each node."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

from zarr_core import array_from_metadata
from zarr_core.errors import ExtensionError, MetadataError
from zarr_core.extension import ArrayMetadata, Location, escape_controls, strictjson
from zarr_core.messages import format_bytes
from zarr_core.selection.parse import is_integer
from zarr_core.stores.local import path_from_url

from zarr_transfer.copy_executor import CopyExecutor, CopyResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from zarr_core import Array
    from zarr_core.extension import Format, Store, ValidationProblem
    from zarr_core.interfaces.format import NodeMetadata

    from zarr_transfer.copy_executor import KeyPair
    from zarr_transfer.progress import Progress

IfExists = Literal["raise", "replace", "skip", "skip_initialized"]


@dataclass(frozen=True, slots=True)
class NodeLocation:
    """A node in a store, and its format.

    If the store has latency, ``snapshot`` is read instead of it until something is written.
    """

    store: Store
    path: str
    format_: Format
    snapshot: Store | None = field(default=None, compare=False, repr=False)

    @property
    def before(self) -> Store:
        """The snapshot, or the store itself."""
        return self.snapshot or self.store

    def at(self, path: str) -> str:
        """Return the path in the store for a path below this node."""
        return "/".join(part for part in (self.path, path) if part)

    def below(self, path: str) -> str:
        """Return a path of the store relative to this node."""
        return path[len(self.path) :].lstrip("/")

    def is_within(self, other: NodeLocation) -> bool:
        """Whether this node is another node or below it; the stores may be different objects."""
        return is_within_location(self.store, self.path, other.store, other.path)

    def read(self, path: str) -> NodeMetadata | None:
        """Return the metadata of a node below this one; None if it has no metadata document."""
        at = self.at(path)
        node = self.format_.read(self.store, at)
        if node is not None and self.format_.implicit_groups:
            keys = self.format_.documents(at)
            return node if any(map(self.store.exists, keys)) else None
        return node

    def has(self, format_: Format, path: str = "") -> bool:
        """Whether a valid or invalid node of a format exists at a path below this one."""
        try:
            return NodeLocation(self.store, self.at(path), format_).read("") is not None
        except (MetadataError, ExtensionError):
            return True

    def open_array(
        self, path: str, metadata: NodeMetadata | None, *, read_only: bool = False
    ) -> Array:
        """Return an array at a path below this one; its metadata need not be stored."""
        assert isinstance(metadata, ArrayMetadata), "only arrays are decoded"
        return array_from_metadata(
            self.store,
            metadata,
            path=self.at(path),
            zarr_format=self.format_.name,
            read_only=read_only,
        )

    def location(self, path: str = "") -> Location:
        """Return the location of a node, for messages."""
        return Location(self.store, self.at(path))

    def __str__(self) -> str:
        text = f"{self.store} /{self.path}" if self.path else str(self.store)
        return escape_controls(f"{text} ({self.format_.name})")


@dataclass(frozen=True, slots=True)
class CopySpec:
    """The source and the destination of a copy: nodes, or groups whose members are copied.

    Formats differ only if chunks are decoded.
    """

    source: NodeLocation
    dest: NodeLocation

    @property
    def in_place(self) -> bool:
        """Whether both are the same node in the same store."""
        return self.source.path == self.dest.path and bool(self.source.store == self.dest.store)

    @property
    def same_format(self) -> bool:
        """Whether the format does not change."""
        return self.source.format_.name == self.dest.format_.name

    def prefixes(self, path: str) -> list[tuple[str, str]]:
        """Return prefixes of all keys of a node except documents, each with that of its copy."""
        old, new = (side.format_.prefixes(side.at(path)) for side in (self.source, self.dest))
        return list(zip(old, new, strict=True))

    def reversed(self) -> CopySpec:
        """Return the specification of the copy in the other direction."""
        return CopySpec(self.dest, self.source)


def is_within(path: str, other: str) -> bool:
    """Whether a path is another path or below it."""
    return not other or f"{path}/".startswith(f"{other}/")


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyOptions:
    """The arguments of copies and conversions except locations, with the same names.

    In a conversion, the progress includes groups, and metadata that another writer stores meanwhile
    is never replaced.  Raises ValueError or TypeError if an argument is invalid or two arguments
    contradict each other.
    """

    overwrite: bool = False
    if_exists: IfExists = "raise"
    shallow: bool = False
    without_attrs: bool = False
    only: Callable[[str], bool] | None = None
    remove_source: bool = False
    on_error: Literal["raise", "skip"] = "raise"
    dry_run: bool = False
    max_memory: int | None = None
    verify: bool = False
    progress: Callable[[Progress], object] | bool | None = None
    log: Any = None
    executor: CopyExecutor | None = None
    is_conversion: bool = False
    layout: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> CopyOptions:
        """Create options from keyword arguments; all others are the layout."""
        own = arguments.keys() & {item.name for item in fields(cls)} - {"layout"}
        layout = {name: value for name, value in arguments.items() if name not in own}
        return cls(**{name: arguments[name] for name in own}, layout=layout)

    def __post_init__(self) -> None:
        check_word("if_exists", self.if_exists, ("raise", "replace", "skip", "skip_initialized"))
        check_word("on_error", self.on_error, ("raise", "skip"))
        if self.overwrite and self.if_exists in ("skip", "skip_initialized"):
            raise ValueError(
                'overwrite=True removes what if_exists="skip" keeps; pass only one of them'
            )
        if self.executor is not None and not isinstance(self.executor, CopyExecutor):
            raise TypeError(
                f"executor must be a CopyExecutor, such as zarr_dask.Workers(...), not {self.executor!r}"
            )
        if not (self.max_memory is None or is_integer(self.max_memory)):
            reason = f"max_memory must be a number of bytes, such as 2**28, not {self.max_memory!r}"
            raise TypeError(reason)

    @property
    def is_partial(self) -> bool:
        """Whether some nodes below the source may be omitted."""
        return self.shallow or self.only is not None


def check_word(name: str, value: str, known: tuple[str, ...]) -> None:
    """Raise ValueError if an argument is not one of the known words."""
    if value not in known:
        words = ", ".join(f'"{word}"' for word in known[:-1])
        raise ValueError(f'{name} must be {words} or "{known[-1]}", not {value!r}')


def is_within_location(store: Store, path: str, other: Store, other_path: str) -> bool:
    """Whether a location is another location or below it; the stores may be different objects."""
    return path_within(store, path, other, other_path) is not None


def path_within(store: Store, path: str, other: Store, other_path: str) -> str | None:
    """Return the path of a location relative to an outer one; None if it is not inside."""
    if store != other:
        if store.traits.endpoint != other.traits.endpoint:
            return None
        path, other_path = _address(store, path), _address(other, other_path)
    return path[len(other_path) :].lstrip("/") if is_within(path, other_path) else None


def _address(store: Store, path: str) -> str:
    url = store.url
    if url.startswith("file:"):
        return f"file://{os.path.realpath(os.path.join(path_from_url(url), path))}".rstrip("/")
    return f"{url.rstrip('/')}/{path}".rstrip("/")


# --- plans ---

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
    options : CopyOptions
        The arguments of the copy or conversion.
    """

    spec: CopySpec
    steps: tuple[CopyStep, ...]
    pairs: list[KeyPair] | None = field(default=None, repr=False)
    options: CopyOptions = field(default_factory=CopyOptions, compare=False, repr=False)

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
        return sum(step.is_array or self.options.is_conversion for step in self.todo)

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
