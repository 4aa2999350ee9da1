"""Options of s3fs, gcsfs and adlfs in the terms of obstore."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from zarr_core.extension import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES: Final[Mapping[str, Mapping[str, str]]] = {
    "s3": {
        "key": "access_key_id",
        "secret": "secret_access_key",
        "token": "session_token",
        "anon": "skip_signature",
        "endpoint_url": "endpoint",
        "requester_pays": "request_payer",
    },
    "gs": {"anon": "skip_signature", "endpoint_url": "base_url"},
    "az": {"anon": "skip_signature"},
}
_CLIENT_NAMES: Final[Mapping[str, str]] = {
    "aws_access_key_id": "access_key_id",
    "aws_secret_access_key": "secret_access_key",
    "aws_session_token": "session_token",
    "endpoint_url": "endpoint",
    "region_name": "region",
}
_OTHER_SPELLINGS: Final[Mapping[str, str]] = {"s3a": "s3", "gcs": "gs"}


def translate_options(scheme: str, options: Mapping[str, Any], store: str) -> dict[str, Any]:
    """Return options in the terms of obstore.

    Parameters
    ----------
    scheme : str
        Scheme of the URL.
    options : mapping
        Options of obstore, or of the file system of fsspec for the service.
    store : str
        Store, for messages.

    Raises
    ------
    StoreError
        If an option is given in both terms with different values, or is not supported.
    """
    scheme = _OTHER_SPELLINGS.get(scheme, scheme)
    names = _NAMES.get("az" if scheme in ("abfs", "abfss", "adl", "azure") else scheme, {})
    found: dict[str, Any] = {}
    given: dict[str, str] = {}
    for old, name, value in _renamed(scheme, names, options, store):
        if name in found and found[name] != value:
            raise StoreError(f"the options {given[name]} and {old} contradict each other", store)
        found[name], given[name] = value, old
    return found


def _renamed(
    scheme: str, names: Mapping[str, str], options: Mapping[str, Any], store: str
) -> Iterator[tuple[str, str, Any]]:
    """Iterate over the options: the given name, the name in obstore, and the value."""
    for name, value in options.items():
        if scheme == "gs" and name == "token" and value in ("anon", None):
            yield name, "skip_signature", value == "anon"
        elif scheme == "s3" and name == "client_kwargs" and isinstance(value, Mapping):
            if unknown := sorted(value.keys() - _CLIENT_NAMES.keys()):
                reason = f"client_kwargs with {', '.join(unknown)} is not supported"
                raise StoreError(f"{reason}; use fsspec+s3://", store)
            for one, its_value in value.items():
                yield f"client_kwargs {one}", _CLIENT_NAMES[one], its_value
        elif name in names:
            if value is not None and not (names[name] == "skip_signature" and not value):
                yield name, names[name], value
        else:
            yield name, name, value
