"""Options of object stores: those of s3fs, gcsfs and adlfs in the terms of obstore, and checks.

obstore ignores some wrong values, and does not survive others.  No message contains a value,
because it may be secret.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from zarr_core.extension import StoreError

from zarr_stores.unknown_options import similar_names

if TYPE_CHECKING:
    from collections.abc import Iterator

CONTAINERS: Final = ("abfs", "abfss", "adl", "az", "azure")
"""Schemes of Azure, whose URLs can have a container: ``abfs://container@account.host/path``."""

_FAMILIES: Final = {"s3a": "s3", "gcs": "gs", **dict.fromkeys(CONTAINERS, "az")}
# Options of s3fs, gcsfs and adlfs; those in a mapping have two names.
_NAMES: Final[Mapping[str, Mapping[str, str]]] = {
    "s3": {
        "key": "access_key_id",
        "username": "access_key_id",
        "secret": "secret_access_key",
        "password": "secret_access_key",
        "token": "session_token",
        "anon": "skip_signature",
        "endpoint_url": "endpoint",
        "requester_pays": "request_payer",
        "client_kwargs aws_access_key_id": "access_key_id",
        "client_kwargs aws_secret_access_key": "secret_access_key",
        "client_kwargs aws_session_token": "session_token",
        "client_kwargs endpoint_url": "endpoint",
        "client_kwargs region_name": "region",
        "config_kwargs connect_timeout": "connect_timeout",
        "config_kwargs read_timeout": "timeout",
        "config_kwargs region_name": "region",
        "s3_additional_kwargs ServerSideEncryption": "server_side_encryption",
        "s3_additional_kwargs SSEKMSKeyId": "sse_kms_key_id",
        "s3_additional_kwargs RequestPayer": "request_payer",
    },
    "gs": {"anon": "skip_signature", "endpoint_url": "base_url"},
    "az": {"anon": "skip_signature"},
}
_S3_MAPPINGS: Final = ("client_kwargs", "config_kwargs", "s3_additional_kwargs")
# They set buffers, caches and loops of fsspec, which obstore does not have.
_IGNORED: Final = frozenset({
    "asynchronous", "batch_size", "cache_regions", "default_block_size", "default_cache_type",
    "default_fill_cache", "fixed_upload_size", "listings_expiry_time", "local_expiry_check", "loop",
    "max_paths", "skip_instance_cache", "use_listings_cache",
})  # fmt: skip
# Options of fsspec without an equivalent in obstore.
_INSTEAD: Final = {
    "token": "bearer_token (Google), sas_token (Azure)",
    "connection_string": "account_name, account_key",
    "headers": "default_headers in client_options",
}
_MAPPINGS: Final = ("config", "client_options", "retry_config")

# Connection settings; obstore ignores the environment if any of them is passed.
_CLIENT: Final = (
    "allow_http", "allow_invalid_certificates", "connect_timeout", "http1_only", "http2_only",
    "pool_idle_timeout", "pool_max_idle_per_host", "proxy_url", "proxy_ca_certificate",
    "proxy_excludes", "randomize_addresses", "read_timeout", "timeout", "user_agent",
)  # fmt: skip
_DURATIONS: Final = ("connect_timeout", "pool_idle_timeout", "read_timeout", "timeout")
_VARIABLES: Final = {"s3": "AWS", "gs": "GOOGLE", "az": "AZURE"}
# Limits, with those of the other stores on servers: docs/decisions/0042.
_TIMEOUT: Final = timedelta(seconds=60)  # without progress
# A microsecond distinguishes them from options.
_CONNECT_TIMEOUT: Final = timedelta(seconds=10, microseconds=1)
RETRY_TIMEOUT: Final = timedelta(seconds=60, microseconds=1)
MAX_RETRIES: Final = 10_000  # the time is the limit
BACKOFF: Final = {
    "init_backoff": timedelta(seconds=0.1), "max_backoff": timedelta(seconds=5), "base": 2
}  # fmt: skip
# Names for suggestions: obstore does not provide a list.
_KNOWN: Final = frozenset({
    *_CLIENT, *_MAPPINGS, "access_key_id", "account_key", "account_name", "bearer_token", "bucket",
    "client_id", "client_secret", "conditional", "container_name", "credential_provider",
    "endpoint", "gap_nbytes", "prefix", "profile", "region", "request_payer", "max_concurrency",
    "retry_timeout", "sas_token", "secret_access_key", "service_account", "service_account_key",
    "session_token", "skip_signature", "tenant_id", "virtual_hosted_style_request", "webdav",
})  # fmt: skip

_ENDPOINT: Final = re.compile(
    r"(?:aws_|azure_|azure_storage_)?endpoint(?:_url)?(?:_s3)?|(?:google_)?base_url", re.I
)
_CREDENTIALS: Final = {
    "s3": "access_key_id and secret_access_key",
    "gs": "service_account_key or bearer_token",
    "az": "account_key or sas_token",
}
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_DOCUMENT: Final = re.compile(r"service_account|application_credentials", re.I)  # can be JSON
_SETTING: Final = re.compile(r"key|secret|token|region|endpoint|account", re.I)


# --- the terms of fsspec ---


def translate_options(scheme: str, options: Mapping[str, Any], named: str) -> dict[str, Any]:
    """Return options in the terms of obstore; contradictions raise an error."""
    family = _FAMILIES.get(scheme, scheme)
    names = _NAMES.get(family)
    if names is None:
        return dict(options)
    found: dict[str, Any] = {}
    given: dict[str, str] = {}
    for old, value in _s3_options(options, named) if family == "s3" else options.items():
        name = names.get(old, old)
        if old in _IGNORED or (value is None and name != old):
            continue
        if family == "gs" and old == "token" and value in ("anon", None):
            name, value = "skip_signature", value == "anon"
        elif name == "skip_signature" and name != old and not value:
            continue  # ``anon=False`` is the default
        if name in found and found[name] != value:
            raise StoreError(f"the options {given[name]} and {old} contradict each other", named)
        found[name], given[name] = value, old
    return found


def _s3_options(options: Mapping[str, Any], named: str) -> Iterator[tuple[str, Any]]:
    """Iterate over the options of s3fs; those in mappings have the names of both."""
    for name, value in options.items():
        if name in _S3_MAPPINGS:
            if value is not None and not isinstance(value, Mapping):
                raise StoreError(f"the option {name} must be a mapping", named)
            for inner, one in (value or {}).items():
                yield from _s3_member(name, inner, one, named)
        elif name in ("session", "version_aware"):
            if value:
                raise _unsupported(f"the option {name}", named)
        elif name == "use_ssl":
            # The scheme of an endpoint takes precedence, as in botocore.
            endpoint = options.get("endpoint_url") or options.get("endpoint")
            client = options.get("client_kwargs")
            inner = isinstance(client, Mapping) and client.get("endpoint_url")
            if not (value or value is None or endpoint or inner):
                reason = "use_ssl=False requires endpoint_url with an http:// address"
                raise StoreError(reason, named)
        else:
            yield name, value


def _s3_member(name: str, inner: str, value: Any, named: str) -> Iterator[tuple[str, Any]]:
    both = f"{name} {inner}"
    if value is None or both == "config_kwargs max_pool_connections":
        return  # max_concurrency limits the connections
    if both == "config_kwargs signature_version":
        if type(value).__name__ == "_UnsignedType" or value == "unsigned":  # botocore.UNSIGNED
            yield "anon", True
        elif value not in ("s3v4", "v4"):
            raise _unsupported(f"{name} with signature_version={value!r}", named)
    elif both == "config_kwargs s3" and isinstance(value, Mapping) and {*value} <= {_STYLE}:
        if value.get(_STYLE) in ("path", "virtual"):
            yield "virtual_hosted_style_request", value[_STYLE] == "virtual"
    elif both not in _NAMES["s3"]:
        raise _unsupported(f"{name} with {inner}", named)
    else:
        yield both, value


_STYLE: Final = "addressing_style"


def _unsupported(what: str, named: str) -> StoreError:
    return StoreError(f"{what} is not supported; use fsspec+s3://", named)


# --- connections ---


def client_options(scheme: str, arguments: dict[str, Any], named: str) -> dict[str, Any]:
    """Return the connection settings, which are removed from the arguments.

    An http:// URL implies ``allow_http``.
    """
    given = dict(arguments.get("client_options", {}))
    if "timeout" in arguments:  # without progress, as for the other stores
        given.setdefault("read_timeout", _duration("timeout", arguments.pop("timeout"), named))
    variables = _VARIABLES.get(_FAMILIES.get(scheme, scheme), "-")
    for name in _CLIENT:
        if name in arguments:  # obstore panics if it is not in client_options
            given.setdefault(name, arguments.pop(name))
        if value := os.environ.get(f"{variables}_{name}".upper()):
            given.setdefault(name, value)
    for name in _DURATIONS:
        if name in given:
            given[name] = _duration(name, given[name], named)
    settings_and_environment = {**os.environ, **arguments.get("config", {}), **arguments}
    if scheme == "http" or any(
        str(value).startswith("http://")
        for name, value in settings_and_environment.items()
        if _ENDPOINT.fullmatch(str(name))
    ):
        given.setdefault("allow_http", True)
    # ``timeout`` of obstore limits a whole response, however large, by default to 30 s.
    given.setdefault("timeout", "1day")
    given.setdefault("read_timeout", _TIMEOUT)
    given.setdefault("connect_timeout", _CONNECT_TIMEOUT)
    return given


def retry_config(arguments: dict[str, Any], named: str) -> dict[str, Any]:
    """Return the retry settings, with durations converted from seconds."""
    retry = dict(arguments.get("retry_config", {}))
    if "retry_timeout" in arguments:
        retry["retry_timeout"] = arguments.pop("retry_timeout")
    backoff = dict(retry.get("backoff", {}))
    known = {"max_retries", "retry_timeout", "backoff"}
    if unknown := sorted((retry.keys() - known) | (backoff.keys() - BACKOFF.keys())):
        raise StoreError(f"unknown settings in retry_config: {', '.join(unknown)}", named)
    for settings, names in (
        (retry, ("retry_timeout",)),
        (backoff, ("init_backoff", "max_backoff")),
    ):
        for name in names:
            if name in settings:
                settings[name] = _duration(name, settings[name], named, text=False)
    retry["backoff"] = {**BACKOFF, **backoff}  # obstore requires all of them
    retry.setdefault("max_retries", MAX_RETRIES)
    retry.setdefault("retry_timeout", RETRY_TIMEOUT)
    return retry


def _duration(name: str, value: Any, named: str, text: bool = True) -> Any:
    """Return a duration for obstore, which accepts ``text`` for some; a number is in seconds."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            if value >= 0:
                return timedelta(seconds=value)
        except (OverflowError, ValueError):  # infinity, NaN
            pass
    elif isinstance(value, timedelta) or (text and isinstance(value, str)):
        return value
    kinds = "a timedelta or a string such as '5s'" if text else "or a timedelta"
    raise StoreError(
        f"the option {name} must be a number of seconds{',' if text else ''} {kinds}, not {value!r}",
        named,
    )


# --- checks ---


def check_bucket_url(scheme: str, url: str, named: str) -> None:
    """Raise an error for parts of the URL of a bucket that would have no effect.

    ``scheme`` is that of the service, and ``named`` the URL without secrets.
    """
    address, query = re.match(r"([^?#]*)([?#].*)?", url.partition("://")[2], re.S).groups()  # type: ignore[union-attr]  # matches every text
    user, at, host = address.partition("/")[0].rpartition("@")
    if at and not (scheme in CONTAINERS and user and host and ":" not in user):
        names = _CREDENTIALS.get(_FAMILIES.get(scheme, scheme), "credentials")
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


def check_mappings(arguments: Mapping[str, Any], web: bool, named: str) -> None:
    """Raise an error for options that must be mappings and are not."""
    for name in (*_MAPPINGS, *(("headers",) if web else ())):
        if not isinstance(arguments.get(name, {}), Mapping):
            raise StoreError(f"the option {name} must be a mapping", named)


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
    prefix = _VARIABLES.get(_FAMILIES.get(scheme, scheme))
    for name, value in os.environ.items():
        if prefix and name.startswith(f"{prefix}_") and _SETTING.search(name):
            _check_text(f"the environment variable {name}", value, named)


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
    if value and _ENDPOINT.fullmatch(name.rpartition(" ")[2]):
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


def option_hint(options: Mapping[str, Any], message: str) -> str:
    """Return what to use instead of an option that obstore rejects with a message."""
    given = {**options.get("config", {}), **options}
    found = [f"use {_INSTEAD[name]} instead of {name}" for name in given if name in _INSTEAD]
    if not found:
        refused = {name for name in given if f"'{name}'" in message}
        found = [name + similar for name in refused if (similar := similar_names(name, _KNOWN))]
    if "Account must be specified" in message:
        found.append("give the option account_name, or set AZURE_STORAGE_ACCOUNT_NAME")
    return f"; {', '.join(found)}" if found else ""
