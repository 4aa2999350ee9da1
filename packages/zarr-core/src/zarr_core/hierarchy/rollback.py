"""Rollback of the nodes that a failed call has created."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

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
    """A new node; if it is not certain that the call has stored it, it is not removed."""

    store: Store
    path: str
    format: Format
    metadata: NodeMetadata
    is_certain: bool

    def remains(self, reason: str) -> str:
        """A note about a node that is not removed."""
        kind = "array" if isinstance(self.metadata, ArrayMetadata) else "group"
        verb = "remains" if self.is_certain else "may remain"
        return (
            f"{Location(self.store, self.path)}: this incomplete {kind} {verb}, because {reason}; "
            "remove it before you try again"
        )


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
        # Each note, and where keys must be stored for it to apply.
        self._notes: dict[str, tuple[Store, str, Format] | None] = {}
        self._has_overwritten = False
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
            self.record(store, path, format_, metadata)
            write(store, path, metadata)
            return True
        try:
            create = format_.create_where_empty if where_empty else format_.create
            is_new = create(store, path, metadata)
        except BaseException:
            self.record(store, path, format_, metadata, is_certain=False)
            raise
        if is_new:
            self.record(store, path, format_, metadata)
        return is_new

    def record(
        self,
        store: Store,
        path: str,
        format_: Format,
        metadata: NodeMetadata,
        *,
        is_certain: bool = True,
    ) -> None:
        """Record a new node that other code stores within the block.

        A node of which it is not certain that the call has stored it is kept, with a note.
        """
        self._created.append(_Node(store, path, format_, metadata, is_certain))

    def overwrite(self, store: Store, path: str) -> None:
        """Record that the node at a path was removed, to be overwritten."""
        self._has_overwritten = True
        location = Location(store, path)
        self.note(f"{location}: the previous node has been removed (overwrite) and is lost")

    def note(self, text: str) -> None:
        """Record a note for the exception, about an effect that is not undone."""
        self._notes[text] = None

    def note_incomplete(self, store: Store, format_: Format, paths: list[str], remedy: str) -> None:
        """Record paths that have chunks but no node yet: the next call continues with them."""
        for path in () if store.traits.metadata_first else paths:
            where = store, path, format_
            self._notes[f"{Location(store, path)}: is incomplete; {remedy}"] = where

    def complete(self) -> None:
        """Keep everything that was created so far: all nodes are complete."""
        self._created.clear()
        self._notes.clear()
        self._has_overwritten = False

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
        self._notes |= other._notes
        self._has_overwritten |= other._has_overwritten
        self._cleanups += other._cleanups

    def _undo_within_limits(self, error: BaseException) -> list[str]:
        """Remove what was created, unless a server does not answer; return notes."""
        notes: list[str] = []
        reason = ""
        if all(node.store.max_concurrency is None for node in self._created):
            notes.extend(self._undo())
        elif getattr(error, "unanswered", False):
            reason = "the server does not answer"
        elif not isinstance(error, INTERRUPTS):
            notes.extend(self._undo())
        else:
            reason = "the call was interrupted"
            try:
                if call_for(_INTERRUPTED_SECONDS, lambda: notes.extend(self._undo())):
                    reason = ""
            except BaseException:
                pass
        if reason:
            notes += [node.remains(reason) for node in reversed(self._created)]
            notes += self._notes
        return notes

    def _undo(self) -> Iterator[str]:
        """Remove what was created; yield notes about what remains."""
        has_changed = self._has_overwritten or any(node.is_certain for node in self._created)
        cleanups = self._cleanups if has_changed else ()
        while self._created:
            node = self._created[-1]
            try:
                kept = _remove(node) if node.is_certain else _leave(node)
            except BaseException as failure:  # a second interrupt, too
                kept = node.remains(f"it could not be removed ({_reason(failure)})")
            self._created.pop()
            if kept is not None:
                yield kept
        for cleanup in cleanups:
            try:
                cleanup()
            except BaseException as failure:
                yield (
                    f"consolidated metadata may list nodes that do not exist ({_reason(failure)}); "
                    "call consolidate_metadata"
                )
        for note, where in self._notes.items():
            try:
                applies = where is None or holds_anything(*where)
            except BaseException:
                applies = True
            if applies:
                yield note


def _remove(node: _Node) -> str | None:
    """Remove only this node; return a note about what remains of it."""
    store, path, format_, metadata, _ = node
    location = Location(store, path)
    documents = format_.documents(path)
    if isinstance(metadata, ArrayMetadata):
        for document in documents:
            store.erase(document)
        if not store.supports_listing:
            return f"{location}: chunks of the array may remain; the store cannot list them"
        chunks, keys = _stored_chunks(node, metadata)
        chunks.erase_values(keys)
        return None
    if not store.supports_listing:  # whether the group is empty is not known
        return f"{location}: this new group is kept"
    below = chain.from_iterable(map(store.list_prefix, format_.prefixes(path)))
    key = next((key for key in below if key not in documents), None)
    if key is None:
        for document in documents:
            store.erase(document)
    if format_.read(store, path) is None:
        return None
    reason = "" if key is None else f", because it contains {key!r}"
    return f"{location}: this new group is kept{reason}"


def _leave(node: _Node) -> str | None:
    """A note about a node that the call, or another writer, may have stored."""
    keys = [key for key in node.format.documents(node.path) if node.store.exists(key)]
    if not keys:
        return None
    return node.remains(f"this attempt may have stored {', '.join(map(repr, keys))}")


def _stored_chunks(node: _Node, metadata: ArrayMetadata) -> tuple[Store, list[str]]:
    """The keys of the stored chunks of an array, and their store."""
    location = Location(node.store, node.path)
    try:
        resolved = resolve_metadata(metadata, location)
        array = StoredArray(node.store, node.path, node.format, metadata, resolved)
    except ZarrError:
        # The codecs of a copied array may not be installed.
        prefix = node.format.chunk_prefix(node.path)
        if next(iter(node.store.list_prefix(prefix)), None) is not None:
            raise
        return node.store, []
    return array.chunk_store, [key for _, key in array.stored_chunks()]


def _reason(failure: BaseException) -> str:
    text = str(failure)
    return text if isinstance(failure, ZarrError) else f"{type(failure).__name__}: {text}"


def holds_anything(store: Store, path: str, format_: Format) -> bool:
    """Whether any key of a node, or below it, is stored."""
    return any(map(store.exists, format_.documents(path))) or any(
        True for prefix in format_.prefixes(path) for _ in store.list_prefix(prefix)
    )
