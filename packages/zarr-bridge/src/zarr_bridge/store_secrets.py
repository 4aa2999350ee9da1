"""Detection of credentials in stores of zarr-python before they are pickled."""

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
# Marks storage of Icechunk with static credentials, rather than a source of credentials.
_STATIC = re.compile(rb"credentials.{0,3}\xa6static", re.DOTALL)


def check_no_credentials(store: Any, named: object) -> None:
    """Raise an error if a pickle of the store would contain credentials."""
    if secrets := sorted(set(_secrets(store))):
        raise StoreError(
            f"cannot be pickled, because the pickle would contain credentials ({', '.join(secrets)}); "
            "pass them by environment variables or configuration files of the service",
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
    data = getattr(getattr(store, "_store", None), "as_bytes", None)
    if data is not None and _STATIC.search(data()):
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
