"""Reader of a part of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import StoreReadError
from zarr_core.tools import WrapperReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import ByteReader

    from zarr_stores.references_entries import Target


class PartReader(WrapperReader):
    """Reader of the part of a file to which a reference refers.

    Parameters
    ----------
    whole : ByteReader
        Reader of the file; closed with this reader.
    target : Target
        The part.

    Raises
    ------
    StoreReadError
        If the file is shorter than the reference.
    """

    def __init__(self, whole: ByteReader, target: Target) -> None:
        super().__init__(whole)
        self.whole = whole
        """Reader of the file."""
        self.start = target.offset
        """Offset of the part in the file."""
        self._size = whole.size if target.length is None else target.length
        if self.start + self._size > whole.size:
            whole.close()
            raise StoreReadError(
                f"has {whole.size} bytes, but the reference is to bytes {self.start} to "
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
                f"bytes {start} to {start + length} are outside the value of {self._size} bytes"
            )
