"""Shell completion of locations: files, or the members of a local hierarchy."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

from zarr_cli.output import escape_text

if TYPE_CHECKING:
    import click


def complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete files, or after ``#`` the members of the group.

    Only local stores are opened; a request to a server per key press would be too slow.
    """
    url, hash_, path = incomplete.partition("#")
    if not hash_ or "://" in url:
        return [CompletionItem(incomplete, type="file")]
    above, _, last = path.rpartition("/")
    prefix = f"{url}#{above}/" if above else f"{url}#"
    return [CompletionItem(prefix + name) for name in _members(url, above) if name.startswith(last)]


def _members(url: str, path: str) -> list[str]:
    import zarr_core

    if not os.path.exists(url):
        return []
    try:
        names = sorted(zarr_core.open_group(url, "r", path=path))
        return [name for name in names if escape_text(name) == name]
    except Exception:  # the command itself reports the error
        return []
