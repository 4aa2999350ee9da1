"""Calling the hooks."""

from __future__ import annotations
from typing import Any


def select_provider(kind: str, name: str, providers: Any) -> Any:
    return None


def supply_extension(kind: str, definition: Any) -> Any:
    return None


def extension_used(where: str, kind: str, name: str, provider: Any) -> None:
    return


def generation() -> int:
    return 0
