"""Warnings that show the line of the calling program."""

from __future__ import annotations

import sys
import warnings

from zarr_core.printable import printable_message


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning for the line that called this library; control characters are escaped.

    Skips frames of modules whose names begin with ``zarr_``.  The argument ``skip_file_prefixes``
    of :func:`warnings.warn` needs Python 3.12.
    """
    level, frame = 1, sys._getframe()  # noqa: SLF001 - as the standard library does
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("zarr_"):
        level, frame = level + 1, frame.f_back
    warnings.warn(printable_message(message), category, stacklevel=level)


_issued: set[str] = set()


def warn_once(message: str, key: str = "") -> None:
    """As :func:`warn`, but once in a process for a key, which is by default the message."""
    if (key or message) not in _issued:
        _issued.add(key or message)
        warn(message)
