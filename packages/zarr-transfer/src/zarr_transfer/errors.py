"""The errors of copies and conversions."""

from __future__ import annotations

from zarr_core.extension import Location, MetadataValidationError, ZarrError
from zarr_core.messages import pluralize


class ConversionError(MetadataValidationError):
    """A conversion is not possible; nothing was written.

    Parameters
    ----------
    location : Location or str
        The source and the destination.
    problems : iterable of ValidationProblem
        The problems of all nodes.  Pointers begin with the path of the node, then ``#`` and the
        JSON pointer in its metadata, as for version 3:
        ``"/ocean/salt#/codecs/0"``.
    """

    def _message(self) -> str:
        return f"cannot be converted, {pluralize(len(self.problems), 'problem')}:"


class ElementsDifferError(ZarrError, ValueError):
    """Elements that were read back differ, or cannot be represented in the data type.

    Parameters
    ----------
    location : Location or str
        The array.
    box : tuple of (int, int)
        Start and stop along each dimension.
    why : str
        The reason.
    """

    def __init__(
        self, location: Location | str, box: tuple[tuple[int, int], ...], why: str
    ) -> None:
        location = str(location)
        super().__init__(location, box, why)
        self.location = location
        self.box = box
        self.why = why

    def _message(self) -> str:
        part = ", ".join(f"{start}:{stop}" for start, stop in self.box)
        return f"elements [{part}]: {self.why}"
