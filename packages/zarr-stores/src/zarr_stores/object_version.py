"""The version of an object, as one word."""

from __future__ import annotations

from typing import Any


def word(meta: Any) -> str:
    """A word for the version of an object.

    Parameters
    ----------
    meta : mapping
        What the service says of it: ``e_tag``, ``version``, ``last_modified``, ``size``.
    """
    tag: str | None = meta.get("e_tag")
    if tag:
        return tag.removeprefix("W/").strip('"')
    return str(meta.get("version") or f"{meta['last_modified']:%Y%m%dT%H%M%S.%f}-{meta['size']}")
