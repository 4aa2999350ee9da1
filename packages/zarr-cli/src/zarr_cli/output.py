"""How results are printed: styled for a terminal, plain in a pipe, or as JSON."""

from __future__ import annotations

import sys
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rich.console import Console


_JSON_WIDTH = 80


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option ``--json``, as the argument ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(
        function
    )


def print_json(document: Any) -> None:
    """Print a document, members in the order they have; what fits into a line is one.

    NaN and infinities, which JSON does not have and attributes of version 2 do, are strings.
    """
    click.echo(json_text(_strict(document)))


def _strict(value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {name: _strict(item) for name, item in value.items()}
    return [_strict(item) for item in value] if isinstance(value, (list, tuple)) else value


def json_text(document: Any, indent: str = "") -> str:
    """A document as text: two spaces a level, what fits into a line of it on one line."""
    import json  # noqa: PLC0415 - lazy: only if asked for

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
    """Whether somebody looks at the output."""
    return sys.stdout.isatty()


def console() -> Console:
    """The terminal, for what is more than lines of text."""
    from rich.console import Console  # noqa: PLC0415 - lazy: only for a terminal

    return Console(file=sys.stdout, highlight=False, soft_wrap=False)


def print_styled(parts: Iterable[tuple[str, str]], hanging: int | None = None) -> None:
    """One line made of texts, each with its style in the words of rich.

    Parameters
    ----------
    parts : iterable of (str, str)
        Texts with their styles.
    hanging : int, optional
        How far the rest of what is too long for the terminal is indented; if not given, it
        is left to the terminal.
    """
    if not is_terminal():
        click.echo("".join(text for text, _ in parts))
        return
    from rich.text import Text  # noqa: PLC0415 - as above

    terminal, text = console(), Text.assemble(*parts)
    if hanging is None:
        terminal.print(text, soft_wrap=True)
        return
    first = text.wrap(terminal, terminal.width)[0]
    rest = text[len(first.plain) :]
    rest = rest[len(rest.plain) - len(rest.plain.lstrip()) :]
    lines = rest.wrap(terminal, max(20, terminal.width - hanging)) if rest else ()
    for line in (first, *(Text(" " * hanging) + line for line in lines)):
        line.rstrip()
        terminal.print(line)


def print_pairs(rows: Iterable[tuple[str, str]]) -> None:
    """Names with their values, a line each; long values continue below their beginning."""
    rows = list(rows)
    if is_terminal():
        from rich.table import Table  # noqa: PLC0415 - as above
        from rich.text import Text  # noqa: PLC0415 - as above

        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(style="bold", no_wrap=True)
        grid.add_column(overflow="fold")
        for name, value in rows:
            grid.add_row(Text(name), Text(value))
        console().print(grid)
        return
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        click.echo(f"{name:<{width}}  {value}".rstrip())


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[str] = ()
) -> None:
    """Rows under headings.

    Parameters
    ----------
    columns : sequence of str
        Headings.
    rows : iterable of sequences of str
        The cells.
    right : iterable of str
        Headings of the columns that are aligned to the right, as numbers are.
    """
    rows, aligned = [list(row) for row in rows], set(right)
    if is_terminal():
        from rich.table import Table  # noqa: PLC0415 - as above
        from rich.text import Text  # noqa: PLC0415 - as above

        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        for name in columns:
            justify: Any = "right" if name in aligned else "left"
            # What a row is about stays in one piece, as the first column.
            table.add_column(name, justify=justify, overflow="fold", no_wrap=name == columns[0])
        for row in rows:
            table.add_row(*map(Text, row))
        console().print(table)
        return
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]
    for row in ([*columns], *rows):
        cells = (
            cell.rjust(width) if name in aligned else cell.ljust(width)
            for name, cell, width in zip(columns, row, widths, strict=True)
        )
        click.echo("  ".join(cells).rstrip())
