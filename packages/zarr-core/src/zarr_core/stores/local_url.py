"""URLs of local directories."""

from __future__ import annotations

import re
from pathlib import PurePath
from urllib.parse import unquote

from zarr_core.errors import StoreError

_SCHEME = "file:"
_PLAIN = re.compile(r"(?:/[A-Za-z0-9_.~-]+)+", re.ASCII).fullmatch


def from_path(path: str) -> str:
    """URL of an absolute path, ``file:///...``."""
    # Asked for whenever a node is opened; pathlib takes ten times as long.
    return f"{_SCHEME}//{path}" if _PLAIN(path) else PurePath(path).as_uri()


def to_path(url: str) -> str:
    """Path that a URL names; what is not a file URL is a path already.

    Only ``%`` is special: a ``?`` or ``#`` belongs to the name.

    Raises
    ------
    StoreError
        If the URL names another machine, or its path is not absolute.
    """
    if url[: len(_SCHEME)].lower() != _SCHEME:
        return url
    rest = url[len(_SCHEME) :]
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        rest = slash + path if host in ("", "localhost") else ""
    if not rest.startswith("/"):
        raise StoreError(
            "a file URL needs an absolute path, as in file:///data/field.zarr; "
            "give a relative path without file://",
            store=url,
        )
    return unquote(rest)
