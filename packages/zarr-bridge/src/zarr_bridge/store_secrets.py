"""Credentials that stores of zarr-python would write into a pickle."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zarr_core.extension import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

_SECRET = re.compile(
    r"secret|token|passw|passphrase|\bsas|_sas|credential|connection_string|authorization|cookie"
    r"|(?:^|[_-])key(?:_id)?$",
    re.IGNORECASE,
)
_PUBLIC = (None, False, True, "", "anon", "cloud", "google_default")
# How Icechunk writes that its storage was given credentials, rather than told where they are.
_STATIC = re.compile(rb"credentials.{0,3}\xa6static", re.DOTALL)


def check_to_pickle(store: Any, named: object) -> None:
    """Refuse to write credentials where they can be read.

    Parameters
    ----------
    store : zarr.abc.store.Store
        The store.
    named : object
        What the message calls it.

    Raises
    ------
    StoreError
        If it was given some.
    """
    if found := sorted(set(_secrets(store))):
        raise StoreError(
            f"is not pickled, as anyone could read the credentials in it ({', '.join(found)}); give "
            "them by environment variables or files, where the library for the service looks for them",
            store=named,
        )


def _secrets(store: Any) -> Iterator[str]:
    fs = getattr(store, "fs", None)  # zarr-python's FsspecStore
    while fs is not None:
        yield from _names(getattr(fs, "storage_options", {}))
        fs = getattr(fs, "fs", None)
    inner = getattr(store, "store", None)  # its ObjectStore
    for part in ("config", "client_options"):
        yield from _names(getattr(inner, part, None) or {})
    described = getattr(getattr(store, "_store", None), "as_bytes", None)
    if described is not None and _STATIC.search(described()):
        yield "static credentials"


def _names(options: Any) -> Iterator[str]:
    if not isinstance(options, Mapping):
        return
    for name, value in options.items():
        if isinstance(value, Mapping):
            yield from _names(value)
        elif _SECRET.search(str(name)) and value not in _PUBLIC and not _is_path(value):
            yield str(name)


def _is_path(value: Any) -> bool:
    return isinstance(value, str) and (value.startswith(("/", "~")) or value.endswith(".json"))
