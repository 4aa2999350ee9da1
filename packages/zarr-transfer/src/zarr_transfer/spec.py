"""Sources, destinations and options of copies, and the comparison of locations."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

from zarr_core import array_from_metadata
from zarr_core.errors import ExtensionError, MetadataError
from zarr_core.extension import ArrayMetadata, Location, escape_controls
from zarr_core.selection.parse import is_integer
from zarr_core.stores.local import path_from_url

from zarr_transfer.copy_executor import CopyExecutor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from zarr_core import Array
    from zarr_core.extension import Format, Store
    from zarr_core.interfaces.format import NodeMetadata

    from zarr_transfer.progress import Progress


Compare = Literal["content", "size"]
IfExists = Literal["raise", "replace", "skip", "skip_initialized"]


@dataclass(frozen=True, slots=True)
class NodeLocation:
    """A node in a store, and its format.

    ``snapshot`` is read instead of the store before anything is written, if the store has latency.
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
        """Return the path in the store of a node at a path below this one."""
        return "/".join(part for part in (self.path, path) if part)

    def below(self, path: str) -> str:
        """Return a path of the store relative to this node."""
        return path[len(self.path) :].lstrip("/")

    def is_within(self, other: NodeLocation) -> bool:
        """Whether this node is the same as another, or below it, also in another store."""
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
        """Whether there is a node of a format at a path below this one, valid or not."""
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
    """Whether a path is another, or below it."""
    return not other or f"{path}/".startswith(f"{other}/")


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyOptions:
    """The arguments of copies and conversions except locations, with the same names.

    Raises ValueError or TypeError if one is invalid, or two contradict each other.
    """

    overwrite: bool = False
    if_exists: IfExists = "raise"
    shallow: bool = False
    without_attrs: bool = False
    only: Callable[[str], bool] | None = None
    compare: Compare = "content"
    remove_source: bool = False
    on_error: Literal["raise", "skip"] = "raise"
    dry_run: bool = False
    max_memory: int | None = None
    verify: bool = False
    progress: Callable[[Progress], object] | bool | None = None
    log: Any = None
    executor: CopyExecutor | None = None
    portable: str | Sequence[str] | None = None
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
        check_word("compare", self.compare, ("content", "size"))
        check_word("on_error", self.on_error, ("raise", "skip"))
        if self.overwrite and self.if_exists in ("skip", "skip_initialized"):
            raise ValueError(
                'overwrite=True removes what if_exists="skip" keeps; pass only one of them'
            )
        if self.executor is not None and not isinstance(self.executor, CopyExecutor):
            raise TypeError(
                f"executor must be a CopyExecutor, such as zarr_dask.Workers(...), not {self.executor!r}"
            )
        if self.max_memory is not None:
            check_max_memory(self.max_memory)

    @property
    def is_partial(self) -> bool:
        """Whether some nodes below the source may be omitted."""
        return self.shallow or self.only is not None


def check_word(name: str, given: str, known: tuple[str, ...]) -> None:
    """Raise ValueError if an argument is not one of the known words."""
    if given not in known:
        words = ", ".join(f'"{word}"' for word in known[:-1])
        raise ValueError(f'{name} must be {words} or "{known[-1]}", not {given!r}')


def check_max_memory(given: object) -> None:
    """Raise TypeError if the argument ``max_memory`` is not an integer."""
    if not is_integer(given):
        raise TypeError(f"max_memory must be a number of bytes, such as 2**28, not {given!r}")


def is_within_location(store: Store, path: str, other: Store, other_path: str) -> bool:
    """Whether a location is the same as another, or below it, also in another store."""
    return path_within(store, path, other, other_path) is not None


def path_within(store: Store, path: str, other: Store, other_path: str) -> str | None:
    """Return the path of a location relative to an outer one; None if it is not inside."""
    if store == other:
        return _rest(path, other_path)
    if store.traits.endpoint != other.traits.endpoint:
        return None
    return _rest(_address(store, path), _address(other, other_path))


def _rest(path: str, around: str) -> str | None:
    if not around:
        return path
    return path[len(around) + 1 :] if f"{path}/".startswith(f"{around}/") else None


def _address(store: Store, path: str) -> str:
    url = store.url
    if url.startswith("file:"):
        return f"file://{os.path.realpath(os.path.join(path_from_url(url), path))}".rstrip("/")
    return f"{url.rstrip('/')}/{path}".rstrip("/")
