"""Printing of results: text, with colours on a terminal, or JSON."""

from __future__ import annotations

import json
import os
import re
import sys
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_JSON_WIDTH = 80


def escape_text(text: str, keep: str = "") -> str:
    """Return text with control characters escaped, so that it is safe to print."""
    from zarr_core.extension import escape_controls

    return escape_controls(text, keep)


def echo(text: str, *, err: bool = False) -> None:
    """Print lines of text with control characters escaped."""
    click.echo(escape_text(text, keep="\n"), err=err)


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option ``--json``, passed as the argument ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(
        function
    )


def print_json(document: Any) -> None:
    """Print a JSON document; values that fit into a line are printed on one line.

    NaN and infinities, which attributes of version 2 may contain, are printed as strings.
    Control characters are escaped, also those that JSON permits in strings.
    """
    click.echo(escape_json(json_text(replace_non_finite(document))))


def escape_json(text: str) -> str:
    r"""Escape control characters in a JSON text as ``\u``; its value is unchanged.

    Keeps line breaks, which are only between tokens.
    """

    def escape(match: re.Match[str]) -> str:
        return match[0] if escape_text(match[0]) == match[0] else json.dumps(match[0])[1:-1]

    return re.sub(r"[^\n\r\t -~]", escape, text)


def replace_non_finite(value: Any) -> Any:
    """Return a value with NaN and infinities replaced by strings."""
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {name: replace_non_finite(item) for name, item in value.items()}
    return (
        [replace_non_finite(item) for item in value] if isinstance(value, (list, tuple)) else value
    )


def json_text(document: Any, indent: str = "") -> str:
    """Return a document as JSON text, with values that fit into a line on one line."""
    line = json.dumps(document, ensure_ascii=False, allow_nan=False)
    if len(indent) + len(line) <= _JSON_WIDTH or not document:
        return line
    deeper = indent + "  "
    if isinstance(document, dict):
        parts = [
            f"{json.dumps(name, ensure_ascii=False)}: {json_text(value, deeper)}"
            for name, value in document.items()
        ]
        return "{\n" + ",\n".join(deeper + part for part in parts) + f"\n{indent}}}"
    if isinstance(document, (list, tuple)):
        parts = [json_text(value, deeper) for value in document]
        return "[\n" + ",\n".join(deeper + part for part in parts) + f"\n{indent}]"
    return line


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def print_styled(parts: Iterable[tuple[str, str]]) -> None:
    """Print texts in one line, each with a style for terminals, such as ``"bold red"``."""
    _echo_styled((escape_text(text), style) for text, style in parts)


def print_pairs(rows: Iterable[tuple[str, str]]) -> None:
    """Print names and values, one pair per line."""
    rows = [(escape_text(name), escape_text(value)) for name, value in rows]
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        padding = " " * (width - len(name) + 2) if value else ""
        _echo_styled([(name, "bold"), (padding + value, "")])


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[str] = ()
) -> None:
    """Print rows as a table with column headings; ``right`` has those of right-aligned columns."""
    rows, aligned = [[escape_text(cell) for cell in row] for row in rows], set(right)
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]
    for style, row in [("bold", [*columns]), *(("", row) for row in rows)]:
        cells = (
            cell.rjust(width) if name in aligned else cell.ljust(width)
            for name, cell, width in zip(columns, row, widths, strict=True)
        )
        _echo_styled([("  ".join(cells).rstrip(), style)])


def _echo_styled(parts: Iterable[tuple[str, str]]) -> None:
    """Print one line; click removes the styles if standard output is not a terminal."""
    line = ""
    for text, style in parts:
        colours = [word for word in style.split() if word not in ("bold", "dim")]
        fg = colours[0] if colours else None
        bold, dim = ("bold" in style) or None, ("dim" in style) or None
        line += click.style(text, fg, bold=bold, dim=dim) if style and text else text
    click.echo(line, color=False if os.environ.get("NO_COLOR") else None)
