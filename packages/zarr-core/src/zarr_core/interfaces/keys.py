"""Keys of stores: what is one, what is the beginning of one.

Specification: v3.1, "Abstract store interface", asks only that a key does not end in "/".
The rest keeps every back end inside its root: no empty, "." or ".." segment, no backslash,
no NUL, no drive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.errors import StoreKeyError

if TYPE_CHECKING:
    from collections.abc import Sequence


def check_key(key: str) -> str:
    """Return the key if it is one.

    Raises
    ------
    StoreKeyError
        If it is empty, absolute, ends in ``/``, or has an empty, ``.`` or ``..``
        segment, a backslash or a NUL.
    """
    # Every operation of every store begins with this: searches, which are faster than a pattern.
    framed = f"/{key}/"
    if (
        "//" in framed
        or "\\" in key
        or "\0" in key
        or ("/." in framed and ("/./" in framed or "/../" in framed))
    ):
        raise StoreKeyError(
            "not a key: segments between '/' must not be empty, '.' or '..', "
            "nor contain a backslash or NUL",
            key=key,
        )
    return key


def check_prefix(prefix: str) -> str:
    """Return the prefix if it is one: empty, or a key followed by ``/``.

    Raises
    ------
    StoreKeyError
        If it is neither.
    """
    if prefix and not (prefix.endswith("/") and _is_key(prefix[:-1])):
        raise StoreKeyError("not a prefix: must be empty, or a key followed by '/'", key=prefix)
    return prefix


def only_keys(names: Sequence[str]) -> Sequence[str]:
    """Those of some names that are keys, in their order; for what others may have stored."""
    # Nearly always all are, as are then the segments of one long key with a segment between.
    return names if _is_key("/-/".join(names)) else [*filter(_is_key, names)]


def _is_key(name: str) -> bool:
    try:
        check_key(name)
    except StoreKeyError:
        return False
    return True
