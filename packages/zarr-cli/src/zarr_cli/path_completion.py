"""Completing places for the shell: files, or the members of a local hierarchy."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    import click


def complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What may follow: behind ``#`` the members of the group that was typed, else files.

    Only local places are asked; a request to a server for each key pressed would be too slow.
    """
    url, hash_, path = incomplete.partition("#")
    if not hash_ or "://" in url:
        return [CompletionItem(incomplete, type="file")]
    above, _, last = path.rpartition("/")
    prefix = f"{url}#{above}/" if above else f"{url}#"
    return [CompletionItem(prefix + name) for name in _members(url, above) if name.startswith(last)]


def _members(url: str, path: str) -> list[str]:
    import zarr_core  # noqa: PLC0415 - lazy: few completions need it

    if not os.path.exists(url):
        return []
    try:
        return sorted(zarr_core.open_group(url, "r", path=path))
    except Exception:  # whatever is wrong there, it is told once the command runs
        return []
