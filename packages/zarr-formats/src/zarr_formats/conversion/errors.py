"""The errors of conversions that cannot be done as asked."""

from __future__ import annotations

from zarr_core.extension import MetadataValidationError, ZarrError


class ConversionError(MetadataValidationError):
    """Something cannot be converted as it was asked; nothing has been written.

    Parameters
    ----------
    where : str
        What was to be converted, to what.
    problems : iterable of Problem
        Everything that is in the way, of all nodes.  Pointers begin with the path of the
        node, then ``#`` and the place in its document in the words of version 3:
        ``"/ocean/salt#/codecs/0"``.
    """

    def _summary(self) -> str:
        count = len(self.problems)
        return f"cannot be converted, {count} problem{'' if count == 1 else 's'}:"


class ElementsDifferError(ZarrError, ValueError):
    """What was written is not read back as it was, or cannot be written as it is.

    Parameters
    ----------
    where : str
        The array.
    box : tuple of (int, int)
        First and last but one index along each dimension.
    why : str
        What is wrong with the elements within.
    """

    def __init__(self, where: str, box: tuple[tuple[int, int], ...], why: str) -> None:
        super().__init__(where, box, why)
        self.where = where
        self.box = box
        self.why = why

    def __str__(self) -> str:
        part = ", ".join(f"{start}:{stop}" for start, stop in self.box)
        return f"{self.where}, elements [{part}]: {self.why}"
