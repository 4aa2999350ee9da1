"""Text for people: escaping and shortening of stored text, warnings, log records.

Names, attributes and other stored text are not trusted: control characters could clear a terminal,
set its title, or hide and reorder other text.
"""

from __future__ import annotations

import re
import sys
import warnings
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Collection

# Control characters (C0, DEL, C1), marks of bidirectional text, line and paragraph separators,
# surrogates and invisible characters.  Joiners (U+200C, U+200D) are part of Persian, Hindi and
# emoji.
_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
Topic = Literal["credentials", "extensions", "native", "recovery", "retries"]
"""The last part of the name of a logger."""

_INFO, _WARNING = 20, 30  # levels of the module logging, which may not be imported
_prepared = False  # the logger zarr_core has a handler
_ITEMS = 10  # shown items of a list
_LENGTH = 200  # shown characters of a name
_MESSAGE = 2_500  # characters of a message


def escape_controls(text: str, keep: str = "") -> str:
    r"""Escape characters that are not displayed but control a terminal, except those in ``keep``.

    Escapes are those of :func:`repr`.  Letters, marks and symbols of all scripts are unchanged.

    Examples
    --------
    >>> escape_controls("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return _CONTROL.sub(lambda match: match[0] if match[0] in keep else ascii(match[0])[1:-1], text)


def shorten(text: str, max_length: int = _LENGTH) -> str:
    """Omit the middle of a long text.

    Examples
    --------
    >>> shorten("a" * 1000, 30)
    'aaaaaaaaaaaaaaa... (975 characters) ...aaaaaaaaaa'
    """
    if len(text) <= max_length:
        return text
    first, last = max_length // 2, max_length // 3
    return f"{text[:first]}... ({len(text) - first - last:,} characters) ...{text[-last:]}"


def quoted(value: object, max_length: int = _LENGTH) -> str:
    """Return the shortened :func:`repr` of a value; strings keep both quotes."""
    if type(value) is str:
        return repr(shorten(value, max_length))
    return shorten(repr(value), max_length)


def listed(items: Collection[object], max_items: int = _ITEMS) -> str:
    """Return the first items in quotes, separated by commas, and the number of others.

    Examples
    --------
    >>> listed(["x", "y", "z"], 2)
    "'x', 'y' and 1 more"
    """
    parts = [quoted(item) for item, _ in zip(items, range(max_items), strict=False)]
    more = f" and {len(items) - max_items:,} more" if len(items) > max_items else ""
    return ", ".join(parts) + more


def printable_message(text: str) -> str:
    """Escape control characters in a message, and limit its length."""
    # Location and problem are at the beginning, the remedy at the end.
    return escape_controls(shorten(text, _MESSAGE), keep="\n")


def format_bytes(nbytes: float) -> str:
    """Return a number of bytes with a unit, such as ``1.6 KiB``."""
    size, unit = float(nbytes), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if size < 1023.95:  # else 1024.0 KiB
            break
        size, unit = size / 1024, larger
    return f"{nbytes:.0f} B" if unit == "B" else f"{size:.1f} {unit}"


def pluralize(number: int, noun: str) -> str:
    """Return a number with its noun, such as ``1 chunk`` or ``12,000 chunks``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


# --- warnings ---


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


# --- log records ---


def log(topic: Topic, message: str, *arguments: Any) -> None:
    """Log an event that programs need not handle.

    The loggers ``zarr_core.credentials``, ``zarr_core.extensions``,
    ``zarr_core.native``, ``zarr_core.recovery`` and ``zarr_core.retries`` belong to the standard
    module ``logging``.  The logger ``zarr_core`` has a ``NullHandler``: nothing is printed unless
    the program configures logging.  Ignored extensions are logged as warnings, since values can be
    wrong; all other events as information.

    The message has ``%s`` for each argument; other formats for strings and numbers.  Arguments
    are formatted only if the logger is enabled for the level.
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
        texts = [a if isinstance(a, (int, float)) else escape_controls(str(a)) for a in arguments]
        logger.log(level, message, *texts)
