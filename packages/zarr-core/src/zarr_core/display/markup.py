"""HTML that holds whatever a stranger has called something."""

from __future__ import annotations

from html import escape

MOST_TEXT = 200  # characters of a name or value that are shown


def text(value: object, most: int = MOST_TEXT) -> str:
    """A value as text of HTML: escaped, cut where it is long.

    Signs that are not to be seen, or that turn the order of others around, are written as
    Python writes them; so are halves of surrogate pairs, which no file can hold.
    """
    said = str(value)
    if len(said) > most:
        said = f"{said[:most]}…"
    shown = (
        sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii")
        for sign in said
    )
    return escape("".join(shown))


def tag(name: str, *content: str, **attributes: object) -> str:
    """An element; its content is HTML already, its attributes are escaped.

    An underscore at the end of an attribute's name is left out, others are dashes.
    """
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{said}>{''.join(content)}</{name}>"


def number(value: float) -> str:
    """A coordinate with at most one digit after the point."""
    return f"{value:.1f}".rstrip("0").rstrip(".")
