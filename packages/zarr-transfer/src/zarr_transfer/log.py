"""Logs of copies."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from zarr_core.tools import escape_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_transfer.copy_executor import CopyResult


@contextmanager
def logging_to(log: Any) -> Iterator[Callable[[str], object]]:
    """Return a function that writes lines to a callable, path, file or None.

    Raises TypeError if the log has another type.
    """
    if log is None:
        yield lambda line: None
    elif callable(log):
        yield log
    elif isinstance(log, str | os.PathLike):
        with open(log, "w", encoding="utf-8") as file:
            yield _writer(file)
    elif hasattr(log, "write"):
        yield _writer(log)
    else:
        raise TypeError(f"log must be a callable, a path or a file, not {log!r}")


def _writer(file: Any) -> Callable[[str], object]:
    def write(line: str) -> None:
        file.write(f"{escape_controls(line)}\n")
        if hasattr(file, "flush"):
            file.flush()  # for users that follow the log

    return write


def summary(done: CopyResult, *, dry_run: bool) -> str:
    """Return the last line of a log."""
    line = f"{done.copied:,} copied, {done.skipped:,} skipped"
    return f"dry run: {line}" if dry_run else f"all done: {line}, {done.nbytes:,} bytes copied"
