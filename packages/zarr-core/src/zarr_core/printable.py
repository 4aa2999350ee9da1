"""Escaping and shortening of stored text for display.

Names, attributes and other stored text are not trusted: control characters could clear a terminal,
set its title, or hide and reorder other text.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

# Control characters (C0, DEL, C1), marks of bidirectional text, line and paragraph separators,
# surrogates and invisible characters.  Joiners (U+200C, U+200D) are part of Persian, Hindi and
# emoji.
_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
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

    def escaped(match: re.Match[str]) -> str:
        character = match[0]
        return character if character in keep else ascii(character)[1:-1]

    return _CONTROL.sub(escaped, text)


def escape_json(text: str) -> str:
    r"""Escape control characters in a JSON text as ``\u``; its value is unchanged.

    Keeps line breaks, which are only between tokens.
    """

    def escaped(match: re.Match[str]) -> str:
        return match[0] if match[0] in "\n\r\t" else json.dumps(match[0])[1:-1]

    return _CONTROL.sub(escaped, text)


def shorten(text: str, most: int = _LENGTH) -> str:
    """Omit the middle of a long text.

    Examples
    --------
    >>> shorten("a" * 1000, 30)
    'aaaaaaaaaaaaaaa... (975 characters) ...aaaaaaaaaa'
    """
    if len(text) <= most:
        return text
    first, last = most // 2, most // 3
    return f"{text[:first]}... ({len(text) - first - last:,} characters) ...{text[-last:]}"


def quoted(value: object, most: int = _LENGTH) -> str:
    """Return the shortened :func:`repr` of a value; strings keep both quotes."""
    return repr(shorten(value, most)) if type(value) is str else shorten(repr(value), most)


def listed(items: Collection[object], most: int = _ITEMS) -> str:
    """Return the first items in quotes, separated by commas, and the number of others.

    Examples
    --------
    >>> listed(["x", "y", "z"], 2)
    "'x', 'y' and 1 more"
    """
    parts = [quoted(item, 60) for item, _ in zip(items, range(most), strict=False)]
    more = f" and {len(items) - most:,} more" if len(items) > most else ""
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
