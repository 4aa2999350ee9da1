"""Log records of events that programs need not handle.

The loggers ``zarr_core.retries``, ``zarr_core.extensions``, ``zarr_core.recovery``,
``zarr_core.native`` and ``zarr_core.credentials`` belong to the standard module ``logging``.
The logger ``zarr_core`` has a ``NullHandler``, so nothing is printed unless the program
configures logging.
"""

from __future__ import annotations

import sys
from typing import Any, Literal

Topic = Literal["retries", "extensions", "recovery", "native", "credentials"]

_INFO, _WARNING = 20, 30
_prepared = False


def log(topic: Topic, message: str, *arguments: Any) -> None:
    """Log an event.

    Parameters
    ----------
    topic : {"retries", "extensions", "recovery", "native", "credentials"}
        The last part of the name of the logger.  Ignored extensions are logged as warnings,
        since values can be wrong; all other events as information.
    message : str
        The message, with ``%s`` for each argument; other formats for strings and numbers.
    *arguments
        Formatted only if the logger is enabled for the level.
    """
    global _prepared
    # A program that has not imported it has not configured it, and importing it takes time.
    if (logging := sys.modules.get("logging")) is None:
        return
    if not _prepared:
        logging.getLogger("zarr_core").addHandler(logging.NullHandler())
        _prepared = True
    level = _WARNING if topic == "extensions" else _INFO
    logger = logging.getLogger(f"zarr_core.{topic}")
    if logger.isEnabledFor(level):
        # A record that a handler keeps must not keep a store open or an array in memory.
        # A name with a line end must not look like another record.
        texts = [a if isinstance(a, (int, float)) else _escaped(str(a)) for a in arguments]
        logger.log(level, message, *texts)


def _escaped(text: str) -> str:
    return "".join(it if it.isprintable() else ascii(it)[1:-1] for it in text)
