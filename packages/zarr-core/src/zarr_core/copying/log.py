"""Writing down what a copy does, line by line."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_core.transfer.plan import Copied


@contextmanager
def logging_to(log: Any) -> Iterator[Callable[[str], object]]:
    """Give a function that takes lines.

    Parameters
    ----------
    log : callable, path, file or None
        What is called with each line, or what the lines are written to.

    Raises
    ------
    TypeError
        If it is something else.
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
        file.write(f"{line}\n")
        if hasattr(file, "flush"):
            file.flush()  # to be followed while it goes on

    return write


def summary(done: Copied, *, dry_run: bool) -> str:
    """The last line."""
    line = f"{done.copied:,} copied, {done.skipped:,} skipped"
    return f"dry run: {line}" if dry_run else f"all done: {line}, {done.nbytes:,} bytes copied"
