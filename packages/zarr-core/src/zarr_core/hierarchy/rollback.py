"""Rollback of the nodes that a failed call has created."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from zarr_core import strictjson
from zarr_core.engine.resolved_metadata import resolve_metadata
from zarr_core.engine.stored_array import StoredArray
from zarr_core.errors import ZarrError
from zarr_core.location import Location
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.threads import INTERRUPTS, call_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import Self

    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.store import Store

_INTERRUPTED_SECONDS = 1.0  # for the removal after an interrupt

_outer: ContextVar[Rollback | None] = ContextVar("outer rollback", default=None)


class _Node(NamedTuple):
    store: Store
    path: str
    format: Format
    metadata: NodeMetadata

    @property
    def location(self) -> Location:
        return Location(self.store, self.path)


class Rollback:
    """Removes the nodes that a call has created, if the call fails or is interrupted.

    A context manager.  If its block raises, all nodes that were created within are removed, the
    last one first.  The exception gets notes (:meth:`BaseException.add_note`) about everything
    that cannot be undone: nodes that ``overwrite=True`` has removed, and everything that remains.

    Only what the call itself has stored is removed: a group is kept if anything else is below it,
    such as nodes of other writers.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> store = zarr.MemoryStore()
    >>> try:
    ...     with Rollback() as rollback, rollback.nested():
    ...         _ = zarr.create_array(store, path="a/x", data=[1, 2, 3])
    ...         raise OSError("the disk is full")
    ... except OSError:
    ...     print(list(store.list()))
    []
    """

    def __init__(self) -> None:
        self._created: list[_Node] = []
        self._uncertain: list[_Node] = []
        self._overwritten: dict[str, None] = {}
        self._notes: list[str] = []
        self._incomplete: list[tuple[Store, Format, str, str]] = []
        self._cleanups: list[Callable[[], object]] = []

    # --- recording ---

    def create(
        self,
        store: Store,
        path: str,
        format_: Format,
        metadata: NodeMetadata,
        write: Callable[[Store, str, NodeMetadata], object] | None = None,
        *,
        where_empty: bool = False,
    ) -> bool:
        """Store the metadata of a new node and record it; return False if a node exists already.

        ``write`` stores metadata where no node exists, such as ``format_.write_new``; by default
        ``format_.create``, which does nothing if a node exists.  ``where_empty`` means that the
        caller has just seen that no key is below the path.
        """
        if write is not None:
            self.expect(store, path, format_, metadata)
            write(store, path, metadata)
            return True
        try:
            create = format_.create_where_empty if where_empty else format_.create
            created = create(store, path, metadata)
        except BaseException:
            self.doubt(store, path, format_, metadata)
            raise
        if created:
            self.expect(store, path, format_, metadata)
        return created

    def expect(self, store: Store, path: str, format_: Format, metadata: NodeMetadata) -> None:
        """Record a new node that other code stores within the block."""
        self._created.append(_Node(store, path, format_, metadata))

    def doubt(self, store: Store, path: str, format_: Format, metadata: NodeMetadata) -> None:
        """Record a node that may be stored: the store failed during its creation.

        It is not removed, as it may have existed before; a note mentions it if it exists.
        """
        self._uncertain.append(_Node(store, path, format_, metadata))

    def overwrite(self, store: Store, path: str) -> None:
        """Record that the node at a path was removed, to be overwritten."""
        self._overwritten[str(Location(store, path))] = None

    def note_incomplete(self, store: Store, format_: Format, paths: list[str], remedy: str) -> None:
        """Record paths that have chunks but no node yet.

        They are not removed: the next call continues with them.  The note has the path and the
        remedy.
        """
        if not store.metadata_first:
            self._incomplete += [(store, format_, path, remedy) for path in paths]

    def note(self, text: str) -> None:
        """Record a note for the exception, about an effect that is not undone."""
        self._notes.append(text)

    def complete(self) -> None:
        """Keep everything that was created so far: all nodes are complete."""
        self._created.clear()
        self._incomplete.clear()
        self._notes.clear()
        self._overwritten.clear()

    def add_cleanup(self, work: Callable[[], object]) -> None:
        """Call a function after nodes were removed, for example to update consolidated metadata."""
        self._cleanups.append(work)

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Record what successful calls within the block have created."""
        token = _outer.set(self)
        try:
            yield
        finally:
            _outer.reset(token)

    # --- the context ---

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            for note in self._undo_within_limits(error):
                error.add_note(note)
        elif (outer := _outer.get()) is not None:
            outer._take_over(self)  # noqa: SLF001 - of this class

    def _take_over(self, other: Rollback) -> None:
        self._created += other._created
        self._overwritten |= other._overwritten
        self._cleanups += other._cleanups
        self._notes += other._notes

    def _undo_within_limits(self, error: BaseException) -> list[str]:
        """Remove what was created, unless a server does not answer; return notes."""
        nodes = [*self._created, *self._uncertain]
        notes: list[str] = []
        if all(node.store.max_concurrency is None for node in nodes):
            notes.extend(self._undo())
        elif getattr(error, "unanswered", False):
            notes.extend(self._leave("the server does not answer"))
        elif not isinstance(error, INTERRUPTS):
            notes.extend(self._undo())
        else:
            try:
                done = call_for(_INTERRUPTED_SECONDS, lambda: notes.extend(self._undo()))
            except BaseException:  # a second interrupt
                done = False
            if not done:
                notes = [*notes, *self._leave("the call was interrupted")]
        return notes

    def _leave(self, reason: str) -> Iterator[str]:
        """Yield notes about everything that is not removed."""
        for node in reversed(self._created):
            yield (
                f"{node.location}: this incomplete {_kind(node)} may remain, because {reason}; remove "
                "it before you try again"
            )
        for _, _, path, remedy in self._incomplete:
            yield f"{path}: may be incomplete; {remedy}"
        for node in self._uncertain:
            yield (
                f"{node.location}: whether this {_kind(node)} was created is not known, because "
                f"{reason}; check it before you try again"
            )
        yield from self._notes
        for location in self._overwritten:
            yield f"{location}: the previous node has been removed (overwrite) and is lost"

    def _undo(self) -> Iterator[str]:
        """Remove what was created; yield notes about what remains."""
        cleanups = self._cleanups if self._created or self._overwritten else ()
        while self._created:
            node = self._created[-1]
            try:
                kept = _remove(node)
            except BaseException as failure:  # a second interrupt, too
                kept = (
                    f"{node.location}: this incomplete {_kind(node)} remains, because it could not be "
                    f"removed ({_reason(failure)}); remove it before you try again"
                )
            self._created.pop()
            if kept is not None:
                yield kept
        for incomplete in self._incomplete:
            yield from _incomplete(*incomplete)
        for node in self._uncertain:
            yield from _doubtful(node)
        for work in cleanups:
            try:
                work()
            except BaseException as failure:
                yield (
                    f"consolidated metadata may list nodes that do not exist ({_reason(failure)}); "
                    "call consolidate_metadata"
                )
        yield from self._notes
        for location in self._overwritten:
            yield f"{location}: the previous node has been removed (overwrite) and is lost"


def _remove(node: _Node) -> str | None:
    """Remove only this node; return a note about what remains of it."""
    store, path, format_, metadata = node
    documents = format_.documents(path)
    if isinstance(metadata, ArrayMetadata):
        for document in documents:
            store.erase(document)
        if not store.supports_listing:
            return f"{node.location}: chunks of the array may remain; the store cannot list them"
        chunks, keys = _stored(node, metadata)
        chunks.erase_values(keys)
        return None
    if not store.supports_listing:  # whether the group is empty is not known
        return f"{node.location}: this new group is kept"
    below = chain.from_iterable(map(store.list_prefix, format_.prefixes(path)))
    key = next((key for key in below if key not in documents), None)
    if key is None:
        for document in documents:
            store.erase(document)
    if format_.read(store, path) is None:
        return None
    reason = "" if key is None else f", because it contains {key!r}"
    return f"{node.location}: this new group is kept{reason}"


def _stored(node: _Node, metadata: ArrayMetadata) -> tuple[Store, list[str]]:
    """The keys of the stored chunks of an array, and their store."""
    try:
        array = StoredArray(
            node.store, node.path, node.format, metadata, resolve_metadata(metadata, node.location)
        )
    except ZarrError:
        # The codecs of a copied array may not be installed.
        prefix = node.format.chunk_prefix(node.path)
        if next(iter(node.store.list_prefix(prefix)), None) is not None:
            raise
        return node.store, []
    return array.chunk_store, [key for _, key in array.stored_chunks()]


def _incomplete(store: Store, format_: Format, path: str, remedy: str) -> Iterator[str]:
    """Notes about a path with incomplete contents."""
    try:
        found = holds_anything(store, path, format_)
    except BaseException as failure:
        yield f"{Location(store, path)}: may be incomplete ({_reason(failure)})"
    else:
        if found:
            yield f"{Location(store, path)}: is incomplete; {remedy}"


def _doubtful(node: _Node) -> Iterator[str]:
    """Notes about a node whose metadata may have been stored by a failed call."""
    store, path, format_, metadata = node
    try:
        found = format_.read(store, path)
        if found is None:
            keys = [key for key in format_.documents(path) if store.exists(key)]
        else:
            keys = [*format_.documents(path)[:1]]
    except BaseException as failure:
        yield (
            f"{node.location}: whether this {_kind(node)} was created is not known "
            f"({_reason(failure)}); check it before you try again"
        )
        return
    if found is None and keys:
        yield f"{node.location}: {', '.join(map(repr, keys))} may remain of this attempt; remove it"
    elif type(found) is type(metadata) and strictjson.identical(
        format_.to_json(found), format_.to_json(metadata)
    ):
        yield (
            f"{node.location}: an equal node exists, perhaps created by this attempt and incomplete; "
            "check it before you try again"
        )


def _kind(node: _Node) -> str:
    return "array" if isinstance(node.metadata, ArrayMetadata) else "group"


def _reason(failure: BaseException) -> str:
    text = str(failure)
    return text if isinstance(failure, ZarrError) else f"{type(failure).__name__}: {text}"


def holds_anything(store: Store, path: str, format_: Format) -> bool:
    """Whether any key of a node, or below it, is stored."""
    return any(map(store.exists, format_.documents(path))) or any(
        True for prefix in format_.prefixes(path) for _ in store.list_prefix(prefix)
    )
