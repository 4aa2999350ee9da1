"""What a local store says when the operating system refuses."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from zarr_core.errors import StoreError, StoreKeyError, StoreReadError
from zarr_core.interfaces.keys import check_key

if TYPE_CHECKING:
    from zarr_core.interfaces.store import Store


def unreadable(store: Store, key: str, error: Exception) -> StoreReadError:
    """The value of a key cannot be read; or it is no key, which is said first."""
    check_key(key)
    return StoreReadError(not_read(error), store, key)


def not_read(error: Exception) -> str:
    """Say why a file could not be read."""
    if isinstance(error, IsADirectoryError):
        return "a directory stands where the value should be"
    if isinstance(error, MemoryError | OverflowError):
        return "there is no memory for a value of its size"
    if isinstance(error, OSError) and error.errno == errno.ESPIPE:
        return "not a regular file"
    return f"cannot be read: {getattr(error, 'strerror', None) or error}"


def unlistable(store: Store, prefix: str, error: OSError) -> StoreReadError:
    """What is below a prefix cannot be listed."""
    return StoreReadError(f"cannot be listed: {error.strerror}", store, prefix)


def unwritable(store: Store, key: str, error: OSError) -> StoreError:
    """A value, or what is below a prefix, cannot be changed."""
    if isinstance(error, IsADirectoryError):
        reason = "a directory stands where the value should be; erase_prefix removes it"
    elif isinstance(error, NotADirectoryError | FileExistsError):
        reason = "a file stands where a directory is needed"
    else:
        reason = f"cannot be changed: {error.strerror or error}; the old value is kept"
    return StoreError(reason, store, key)


def not_a_name(store: Store, key: str) -> StoreKeyError:
    """A key cannot be the path of a file."""
    return StoreKeyError("not a key: contains a NUL or cannot be encoded", store, ascii(key))


def no_key(store: Store, key: str) -> StoreKeyError:
    """A key has a segment that is a name of the store's own."""
    return StoreKeyError(
        "names that begin with '.' and end in '.zarr-partial' or '.zarr-lock' belong to the store",
        store,
        key,
    )
