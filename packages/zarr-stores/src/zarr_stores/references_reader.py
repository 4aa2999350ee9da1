"""Reading a part of a value as if it were one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import StoreReadError, WrapperReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import ValueReader

    from zarr_stores.references_entries import Target


class PartReader(WrapperReader):
    """The part of a file that a reference means.

    Parameters
    ----------
    whole : ValueReader
        Reads the file; closed with this one.
    target : Target
        The part.

    Raises
    ------
    StoreReadError
        If the file ends before the part does.
    """

    def __init__(self, whole: ValueReader, target: Target) -> None:
        super().__init__(whole)
        self.whole = whole
        """Reads the file."""
        self.start = target.offset
        """Where the part begins in it."""
        self._size = whole.size if target.length is None else target.length
        if self.start + self._size > whole.size:
            whole.close()
            raise StoreReadError(
                f"has {whole.size} bytes, of which there are none at {self.start} to "
                f"{self.start + self._size}"
            )

    @property
    def size(self) -> int:
        return self._size

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            self._check(start, len(buffer))
        self.whole.read_into([(self.start + start, buffer) for start, buffer in parts])

    def read(self, start: int, length: int) -> memoryview:
        self._check(start, length)
        return self.whole.read(self.start + start, length)

    def _check(self, start: int, length: int) -> None:
        if start < 0 or length < 0 or start + length > self._size:
            raise StoreReadError(
                f"bytes {start} to {start + length} of a value of {self._size} bytes"
            )
