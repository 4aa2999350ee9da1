"""Version of an object as a string."""

from __future__ import annotations

from typing import Any


def generation_of(meta: Any) -> str:
    """Return the generation of an object.

    Parameters
    ----------
    meta : mapping
        Properties of the object: ``e_tag``, ``version``, ``last_modified``, ``size``.
    """
    tag: str | None = meta.get("e_tag")
    if tag:
        return tag.removeprefix("W/").strip('"')
    return str(meta.get("version") or f"{meta['last_modified']:%Y%m%dT%H%M%S.%f}-{meta['size']}")
