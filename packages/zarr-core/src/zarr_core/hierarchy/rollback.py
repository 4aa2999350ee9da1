"""Rollback of the nodes that a failed call has created."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
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
    from typing import Self

    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.store import Store

_INTERRUPTED_SECONDS = 1.0  # for the removal after an interrupt

_outer: ContextVar[Rollback | None] = ContextVar("outer rollback", default=None)


class Rollback:
    """Removes the nodes that a call has created, if the call fails or is interrupted.

    A context manager.  If its block raises, all nodes that were created within are removed, the
    last one first.  The exception gets notes about everything that cannot be undone: nodes that
    ``overwrite=True`` has removed, and everything that remains.  Only what the call itself has
    stored is removed: a group is kept if anything else is below it, such as nodes of other writers.
    """

    def __init__(self) -> None:
        self._created: list[_CreatedNode] = []
        # Each note, and the condition on which it applies.
        self._notes: dict[str, Callable[[], bool]] = {}
        self._is_remote = False
        self._cleanups: list[Callable[[], object]] = []

    def create(
        self,
        store: Store,
        path: str,
        format_: Format,
        metadata: NodeMetadata,
        *,
        known_empty: bool = False,
    ) -> bool:
        """Create a node by :meth:`Format.create` and record it; return False if one exists."""
        try:
            if not format_.create(store, path, metadata, known_empty=known_empty):
                return False
        except BaseException:
            self.record_uncertain(store, path, format_)
            raise
        self.record(store, path, format_, metadata)
        return True

    def write(self, store: Store, path: str, format_: Format, metadata: NodeMetadata) -> None:
        """Store and record a new node; the caller knows that no node exists."""
        self.record(store, path, format_, metadata)
        format_.write(store, path, metadata)

    def record(self, store: Store, path: str, format_: Format, metadata: NodeMetadata) -> None:
        """Record a new node that other code stores within the block."""
        self._is_remote |= store.max_concurrency is not None
        self._created.append(_CreatedNode(store, path, format_, metadata))

    def record_uncertain(self, store: Store, path: str, format_: Format) -> None:
        """Record a node that is not removed, as another writer may have stored it."""
        self._is_remote |= store.max_concurrency is not None
        keys = format_.documents(path)
        self._notes[
            f"{Location(store, path)}: an incomplete node may remain, because this attempt may have "
            f"stored {' or '.join(map(repr, keys))}; remove it before you try again"
        ] = lambda: any(map(store.exists, keys))

    def note(self, text: str) -> None:
        """Record a note for the exception, about an effect that is not undone."""
        self._notes[text] = lambda: True

    def note_incomplete(self, store: Store, format_: Format, paths: list[str], remedy: str) -> None:
        """Record paths that have chunks but no node yet: the next call continues with them."""
        for path in () if store.traits.metadata_first else paths:
            note = f"{Location(store, path)}: is incomplete; {remedy}"
            self._notes[note] = partial(has_keys, store, path, format_)

    def complete(self) -> None:
        """Keep everything that was created so far: all nodes are complete."""
        self._created.clear()
        self._notes.clear()

    def add_cleanup(self, cleanup: Callable[[], object]) -> None:
        """Call a function after nodes were removed, for example to update consolidated metadata."""
        self._cleanups.append(cleanup)

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Record what successful calls within the block have created."""
        token = _outer.set(self)
        try:
            yield
        finally:
            _outer.reset(token)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            for note in self._undo_within_limits(error):
                error.add_note(note)
        elif (outer := _outer.get()) is not None:
            outer._take_over(self)  # noqa: SLF001 - of this class

    def _take_over(self, other: Rollback) -> None:
        self._created += other._created
        self._notes |= other._notes
        self._cleanups += other._cleanups
        self._is_remote |= other._is_remote

    def _undo_within_limits(self, error: BaseException) -> list[str]:
        """Remove what was created, unless a server does not answer; return notes."""
        notes: list[str] = []
        if self._is_remote and getattr(error, "unanswered", False):
            reason = "the server does not answer"
        elif self._is_remote and isinstance(error, INTERRUPTS):
            reason = "the call was interrupted"
            with suppress(BaseException):
                if call_for(_INTERRUPTED_SECONDS, lambda: self._undo(notes)):
                    return notes
        else:
            self._undo(notes)
            return notes
        return [*notes, *(node.remains(reason) for node in self._created[::-1]), *self._notes]

    def _undo(self, notes: list[str]) -> None:
        """Remove what was created, the last first; add notes about what remains."""
        cleanups = self._cleanups if self._created or self._notes else ()
        while self._created:
            node = self._created[-1]
            try:
                kept = node.remove()
            except BaseException as failure:  # a second interrupt, too
                kept = node.remains(f"it could not be removed ({_reason(failure)})")
            self._created.pop()
            if kept:
                notes.append(kept)
        for cleanup in cleanups:
            try:
                cleanup()
            except BaseException as failure:
                notes.append(
                    f"consolidated metadata may list nodes that do not exist ({_reason(failure)}); "
                    "call consolidate_metadata"
                )
        for note, applies in self._notes.items():
            with suppress(BaseException):
                if not applies():
                    continue
            notes.append(note)


class _CreatedNode(NamedTuple):
    store: Store
    path: str
    format: Format
    metadata: NodeMetadata

    def remains(self, reason: str) -> str:
        """A note about a node that is not removed."""
        kind = "array" if isinstance(self.metadata, ArrayMetadata) else "group"
        return (
            f"{Location(self.store, self.path)}: this incomplete {kind} remains, because {reason}; "
            "remove it before you try again"
        )

    def remove(self) -> str:
        """Remove only this node; return a note about what remains of it, or an empty text."""
        store, location = self.store, Location(self.store, self.path)
        documents = self.format.documents(self.path)
        if isinstance(self.metadata, ArrayMetadata):
            store.erase_values(documents)
            if not store.supports_listing:
                return f"{location}: chunks of the array may remain; the store cannot list them"
            # The codecs of a copied array may not be installed: only its chunks need them.
            if any(True for _ in store.list_prefix(self.format.chunk_prefix(self.path))):
                resolved = resolve_metadata(self.metadata, location)
                array = StoredArray(store, self.path, self.format, self.metadata, resolved)
                array.chunk_store.erase_values([key for _, key in array.stored_chunks()])
            return ""
        reason = ""
        if store.supports_listing:
            keys = chain.from_iterable(map(store.list_prefix, self.format.prefixes(self.path)))
            key = next((key for key in keys if key not in documents), None)
            if key is None:
                store.erase_values(documents)
                if self.format.read(store, self.path) is None:
                    return ""
            else:
                reason = f", because it contains {key!r}"
        return f"{location}: this new group is kept{reason}"


def _reason(failure: BaseException) -> str:
    text = str(failure)
    return text if isinstance(failure, ZarrError) else f"{type(failure).__name__}: {text}"


def has_keys(store: Store, path: str, format_: Format) -> bool:
    """Whether any key of a node, or below it, is stored."""
    return any(map(store.exists, format_.documents(path))) or any(
        True for prefix in format_.prefixes(path) for _ in store.list_prefix(prefix)
    )
