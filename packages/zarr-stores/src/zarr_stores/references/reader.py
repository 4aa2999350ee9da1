"""Reader of a part of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import StoreReadError
from zarr_core.tools import SubrangeReader

if TYPE_CHECKING:
    from zarr_core.extension import ByteReader

    from zarr_stores.references.entries import Target


class PartReader(SubrangeReader):
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
        size = whole.size if target.length is None else target.length
        super().__init__(whole, target.offset, size)
        if self.start + size > whole.size:
            whole.close()
            raise StoreReadError(
                f"has {whole.size} bytes, but the reference is to bytes {self.start} to "
                f"{self.start + size}"
            )
