"""Checks of the URLs and options of object stores, which obstore ignores or does not survive.

No message contains a value, because it may be secret.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from zarr_core.extension import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDPOINT: Final = re.compile(
    r"(?:aws_|azure_|azure_storage_)?endpoint(?:_url)?(?:_s3)?|(?:google_)?base_url", re.I
)
CONTAINERS: Final = ("abfs", "abfss", "adl", "az", "azure")
"""Schemes of Azure, whose URLs can have a container: ``abfs://container@account.host/path``."""

_CREDENTIALS: Final = {
    "s3": "access_key_id and secret_access_key",
    "gs": "service_account_key or bearer_token",
    "az": "account_key or sas_token",
}
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_DOCUMENT: Final = re.compile(r"service_account|application_credentials", re.I)  # can be JSON
_SETTING: Final = re.compile(r"key|secret|token|region|endpoint|account", re.I)


def check_bucket_url(scheme: str, url: str, named: str) -> None:
    """Raise an error for parts of the URL of a bucket that would have no effect.

    ``scheme`` is that of the service, and ``named`` the URL without secrets.
    """
    address, query = re.match(r"([^?#]*)([?#].*)?", url.partition("://")[2], re.S).groups()  # type: ignore[union-attr]  # matches every text
    user, at, host = address.partition("/")[0].rpartition("@")
    if at and not (scheme in CONTAINERS and user and host and ":" not in user):
        names = _CREDENTIALS.get(_family(scheme), "credentials")
        raise StoreError(
            f"the URL of a bucket has no user and no password; pass {names} in storage_options",
            named,
        )
    if query:
        raise StoreError(
            "the URL of a bucket has no query and no fragment; pass options in storage_options, "
            "open a presigned URL with https://, or write ? and # in a path as %3F and %23",
            named,
        )


def check_values(scheme: str, arguments: Mapping[str, Any], named: str) -> None:
    """Raise an error for values of options and environment variables that cannot be sent."""
    for name, value in _settings(arguments):
        if name.endswith("timeout"):  # has a check of its own
            continue
        if isinstance(value, bytes | bytearray | list | tuple | set | dict):
            decode = "; decode it" if isinstance(value, bytes | bytearray) else ""
            raise StoreError(
                f"{name} must be a string, a number or a bool, not {type(value).__name__}{decode}",
                named,
            )
        _check_text(name, value, named)
    prefix = {"s3": "AWS_", "gs": "GOOGLE_", "az": "AZURE_"}.get(_family(scheme))
    for name, value in os.environ.items():
        if prefix and name.startswith(prefix) and _SETTING.search(name):
            _check_text(f"the environment variable {name}", value, named)


def _family(scheme: str) -> str:
    return "az" if scheme in CONTAINERS else "s3" if scheme == "s3a" else scheme


def _settings(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Iterate over the descriptions of all options, and their values."""
    for name, value in arguments.items():
        if name in ("config", "client_options"):
            for key, one in value.items():
                if key == "default_headers" and isinstance(one, Mapping):
                    yield from ((f"the header {header}", text) for header, text in one.items())
                else:
                    yield f"the option {key}", one
        elif name not in ("retry_config", "credential_provider", "headers"):
            yield f"the option {name}", value


def _check_text(name: str, value: Any, named: str) -> None:
    if not isinstance(value, str) or _DOCUMENT.search(name):
        return
    if found := _CONTROL.search(value):
        what = "a line end" if found[0] in "\r\n" else "a control character"
        raise StoreError(f"{name} contains {what}, which cannot be sent; remove it", named)
    if value and ENDPOINT.fullmatch(name.rpartition(" ")[2]):
        try:
            parts = urlsplit(value)
            valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            valid = False
        if not valid:
            raise StoreError(
                f"{name} must be a URL with http:// or https:// and a host, such as "
                "https://storage.example.org:9000",
                named,
            )
