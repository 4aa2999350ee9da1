"""Progress of long operations; zarr-transfer provides the reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.optional import optional_function

if TYPE_CHECKING:
    from typing import Self


class Reporter:
    """Receives the progress of an operation; this class reports nothing."""

    def begin(self, path: str, total: int | None, unit: str) -> None:
        """Begin the next part, such as a node, with ``total`` units if that is known."""

    def advance(self, count: int, nbytes: int = 0) -> None:
        """Add completed units, and the bytes that were stored; callable from any thread."""

    def end(self) -> None:
        """Complete the part."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Complete the operation, also after an error."""


def reporter_for(progress: Any, parts: int) -> Reporter:
    """The reporter for the argument ``progress`` of an operation with some parts."""
    if progress is None or progress is False:
        return Reporter()
    reporter: Reporter = optional_function("progress=")(progress, parts)
    return reporter
