"""Rollback of the nodes that a failed call has created."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from zarr_core.engine.resolved_metadata import resolve_metadata
from zarr_core.engine.stored_array import StoredArray
from zarr_core.errors import reason
from zarr_core.location import Location
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.threads import INTERRUPTS, call_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.store import Store

_INTERRUPTED_SECONDS = 1.0  # for the removal after an interrupt
_REMEDY = "remove it before you try again"

_outer: ContextVar[Rollback | None] = ContextVar("outer rollback", default=None)


# The parts of a note, which become text only for an error, and a function that undoes an effect and
# returns whether something remains, or another note about it.
_Effect: TypeAlias = "tuple[tuple[object, ...], Callable[[], object]]"


class Rollback:
    """Removes the nodes that a call has created, if the call fails or is interrupted.

    A context manager.  If its block raises, all nodes that were created within are removed, the
    last one first.  The exception gets notes about everything that cannot be undone: nodes that
    ``overwrite=True`` has removed, and everything that remains.  Only what the call itself has
    stored is removed: a group is kept if anything else is below it, such as nodes of other writers.
    """

    def __init__(self) -> None:
        self._effects: list[_Effect] = []
        self._cleanups: list[_Effect] = []  # done after all others
        self._is_remote = False

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
            keys = format_.documents(path)
            self._is_remote |= store.max_concurrency is not None
            self.note(
                f"{Location(store, path)}: an incomplete node may remain, because this attempt may "
                f"have stored {' or '.join(map(repr, keys))}; {_REMEDY}",
                lambda: any(map(store.exists, keys)),
            )
            raise
        self.record(store, path, format_, metadata)
        return True

    def write(self, store: Store, path: str, format_: Format, metadata: NodeMetadata) -> None:
        """Store and record a new node; the caller knows that no node exists."""
        self.record(store, path, format_, metadata)
        format_.write(store, path, metadata)

    def record(self, store: Store, path: str, format_: Format, metadata: NodeMetadata) -> None:
        """Record a new node that other code stores within the block."""
        is_array = isinstance(metadata, ArrayMetadata)
        text = f"this incomplete array remains; {_REMEDY}" if is_array else "this new group is kept"
        undo = partial(_remove, store, path, format_, metadata)
        self._is_remote |= store.max_concurrency is not None
        self._effects.append(((Location(store, path), text), undo))

    def note(self, text: str, applies: Callable[[], bool] = lambda: True) -> None:
        """Record a note for the exception, about an effect that is not undone."""
        self._effects.append(((text,), applies))

    def note_incomplete(self, store: Store, format_: Format, paths: list[str], remedy: str) -> None:
        """Record paths that have chunks but no node yet: the next call continues with them."""
        for path in () if store.traits.metadata_first else paths:
            note = f"{Location(store, path)}: is incomplete; {remedy}"
            self.note(note, partial(has_keys, store, path, format_))

    def complete(self) -> None:
        """Keep everything that was created so far: all nodes are complete."""
        self._effects.clear()

    def add_cleanup(self, cleanup: Callable[[], None]) -> None:
        """Call a function that updates consolidated metadata after nodes were removed."""
        note = "consolidated metadata may list nodes that do not exist; call consolidate_metadata"
        self._cleanups.append(((note,), cleanup))

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
        if error is not None and self._effects:
            for note in dict.fromkeys(self._undo_within_limits(error)):
                error.add_note(note)
        elif error is None and (outer := _outer.get()) is not None:
            outer._take_over(self)  # noqa: SLF001 - of this class

    def _take_over(self, other: Rollback) -> None:
        self._effects += other._effects
        self._cleanups += other._cleanups
        self._is_remote |= other._is_remote

    def _undo_within_limits(self, error: BaseException) -> list[str]:
        """Remove what was created, unless a server does not answer; return notes."""
        notes: list[str] = []
        if self._is_remote and getattr(error, "unanswered", False):
            notes.append("nothing is removed, because the server does not answer")
        elif self._is_remote and isinstance(error, INTERRUPTS):
            with suppress(BaseException):
                if call_for(_INTERRUPTED_SECONDS, lambda: self._undo(notes)):
                    return notes
        else:
            self._undo(notes)
        return [*notes, *(_text(*note) for note, _ in self._effects[::-1])]

    def _undo(self, notes: list[str]) -> None:
        """Undo all effects, the last first; add notes about what remains."""
        self._effects[:0] = self._cleanups
        while self._effects:
            note, undo = self._effects[-1]
            try:
                remains = undo()
            except BaseException as failure:  # a second interrupt, too
                remains = f"{_text(*note)} ({reason(failure)})"
            self._effects.pop()
            if remains:
                notes.append(remains if isinstance(remains, str) else _text(*note))


def _text(*note: object) -> str:
    return ": ".join(map(str, note))


def _remove(store: Store, path: str, format_: Format, metadata: NodeMetadata) -> bool | str:
    """Remove only this node; return whether something of it may remain, or a note about it."""
    documents = format_.documents(path)
    if isinstance(metadata, ArrayMetadata):
        store.erase_values(documents)
        if not store.supports_listing:
            return f"{Location(store, path)}: chunks may remain, because the store cannot list them"
        # The codecs of a copied array may not be installed: only its chunks need them.
        if any(store.list_prefix(format_.chunk_prefix(path))):
            resolved = resolve_metadata(metadata, Location(store, path))
            array = StoredArray(store, path, format_, metadata, resolved)
            array.chunk_store.erase_values([key for _, key in array.stored_chunks()])
        return False
    if not store.supports_listing:
        return True
    keys = chain.from_iterable(map(store.list_prefix, format_.prefixes(path)))
    if any(key not in documents for key in keys):
        return True
    store.erase_values(documents)
    return format_.read(store, path) is not None


def has_keys(store: Store, path: str, format_: Format) -> bool:
    """Whether any key of a node, or below it, is stored."""
    return any(map(store.exists, format_.documents(path))) or any(
        True for prefix in format_.prefixes(path) for _ in store.list_prefix(prefix)
    )
