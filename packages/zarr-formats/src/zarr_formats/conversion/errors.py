"""The error of a conversion that cannot be done as asked."""

from __future__ import annotations

from zarr_core.extension import MetadataValidationError


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
