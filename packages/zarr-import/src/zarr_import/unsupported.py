"""The error for what a hierarchy has no place for."""

from __future__ import annotations

from zarr_core.extension import ZarrError


class UnsupportedSourceError(ZarrError, ValueError):
    """Something of a source cannot be brought into a hierarchy.

    Parameters
    ----------
    source : str
        What it is called in the source.
    reason : str
        Why it cannot, and what to do.
    """

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(source, reason)
        self.source = source
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.source}: {self.reason}"
