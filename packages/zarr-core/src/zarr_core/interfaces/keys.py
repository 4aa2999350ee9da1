"""Keys of stores: validation of keys and prefixes, and locks between the threads of this process.

Specification: v3.1, "Abstract store interface", requires only that a key does not end in "/".
The other rules keep every store inside its root: no empty, "." or ".." segment, no backslash,
no NUL.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from zarr_core.errors import StoreKeyError
from zarr_core.threads import call_after_fork, interruptible

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence
    from contextlib import AbstractContextManager


def check_key(key: str) -> str:
    """Return a valid key; raise a StoreKeyError for any other string.

    It must not be empty, have an empty, ``.`` or ``..`` segment, a backslash or a NUL.
    """
    # Called by every operation of every store; searches are faster than a pattern.
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


def encode_key(key: str) -> bytes:
    """Return a key in UTF-8; raise a StoreKeyError if it contains surrogates."""
    try:
        return key.encode()
    except UnicodeEncodeError as error:
        raise StoreKeyError("cannot be encoded as UTF-8", key=ascii(key)) from error


def check_prefix(prefix: str) -> str:
    """Return a valid prefix: empty, or a key followed by ``/``; else raise a StoreKeyError."""
    if prefix and not (prefix.endswith("/") and _is_key(prefix[:-1])):
        raise StoreKeyError("not a prefix: must be empty, or a key followed by '/'", key=prefix)
    return prefix


def only_keys(names: Sequence[str]) -> Sequence[str]:
    """Return the names that are valid keys, in their order; other writers may store any name."""
    # Usually all are valid: one check of all names, joined to a single key.
    return names if _is_key("/-/".join(names)) else [*filter(_is_key, names)]


def _is_key(name: str) -> bool:
    try:
        check_key(name)
    except StoreKeyError:
        return False
    return True


# --- locks ---


# A lock exists as long as a thread holds it or waits for it.
_locks: WeakValueDictionary[Hashable, threading.Lock] = WeakValueDictionary()
_locks_guard = threading.Lock()


def key_lock(location: Hashable, key: str) -> AbstractContextManager[object]:
    """Return the lock of one key; equal values of ``location`` identify the same store."""
    with _locks_guard:
        return interruptible(_locks.setdefault((location, key), threading.Lock()))


def _after_fork() -> None:
    # A lock that another thread held during the fork would never be released.
    global _locks_guard
    _locks_guard = threading.Lock()
    _locks.clear()


call_after_fork(_after_fork)
