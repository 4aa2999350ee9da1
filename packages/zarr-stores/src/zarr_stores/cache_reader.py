"""Reading a value from the parts that are held in memory, or else from where it is."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from zarr_core.extension import ByteRange, StoreReadError, ValueReader, ValueReplacedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import Buffer

    from zarr_stores.cache_memory import Changes, Memory, Opened
    from zarr_stores.wrapper import WrapperStore

__all__ = ["HeldReader"]


class HeldReader(ValueReader):
    """One version of a value, parts of which may be held.

    Parameters
    ----------
    store : WrapperStore
        Around the store where the value is.
    memory : Memory
        What is held.
    key : str
        Of the value.
    opened : Opened
        What is known of it; the version as well, if there is no reader.
    changes : Changes
        The state of the key when it was opened.
    inner : ValueReader or None
        The value where it is; None to open it once something is not held.
    """

    def __init__(
        self,
        store: WrapperStore,
        memory: Memory,
        key: str,
        opened: Opened,
        changes: Changes,
        inner: ValueReader | None,
    ) -> None:
        self._store = store
        self._memory = memory
        self._key = key
        self._changes = changes
        self._inner = inner
        self._guard = threading.Lock()
        self._size, self.version, self.requests, self.gap_bytes = opened

    @property
    def size(self) -> int:
        return self._size

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        missing = []
        for start, buffer in parts:
            held = self._held(start, len(buffer))
            if held is None:
                missing.append((start, buffer))
            else:
                buffer[:] = held
        if missing:
            self._reader(*missing[0]).read_into(missing)
        for start, buffer in missing:
            if self._memory.fits(len(buffer)):
                part = ByteRange(start, len(buffer))
                self._memory.keep(self._key, part, bytes(buffer), self._changes)

    def read(self, start: int, length: int) -> memoryview:
        held = self._held(start, length)
        if held is not None:
            return memoryview(held)
        value = self._reader(start, length).read(start, length)
        part = ByteRange(start, length)
        return memoryview(self._memory.keep(self._key, part, value, self._changes))

    def _held(self, start: int, length: int) -> Buffer | None:
        if start < 0 or start + length > self._size:
            raise StoreReadError(
                f"bytes {start} to {start + length} of a value of {self._size} bytes",
                self._store,
                self._key,
            )
        # What is held now may be of a later version than this reader's.
        return self._memory.find(self._key, ByteRange(start, length), self._changes)

    def _reader(self, start: int, wanted: int | memoryview) -> ValueReader:
        with self._guard:
            if self._inner is None:
                length = wanted if isinstance(wanted, int) else len(wanted)
                reader = self._store.inner.open_value(self._key, ByteRange(start, length))
                if reader is None or (reader.size, reader.version) != (self._size, self.version):
                    if reader is not None:
                        reader.close()
                    self._memory.forget(self._key)
                    raise ValueReplacedError(
                        "the value was replaced while parts of it were read", self._store, self._key
                    )
                self._inner = reader
            return self._inner

    def close(self) -> None:
        with self._guard:
            inner, self._inner = self._inner, None
        if inner is not None:
            inner.close()
