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

from zarr_stores.object.services import BY_SCHEME
from zarr_stores.secrets import AZURE

if TYPE_CHECKING:
    from collections.abc import Iterator

_S3_MAPPINGS: Final = ("client_kwargs", "config_kwargs", "s3_additional_kwargs")
# These set buffers, caches and loops of fsspec, which obstore does not have; ``max_concurrency``
# limits connections, and the scheme of an endpoint says whether TLS is used.
_IGNORED: Final = frozenset({
    "asynchronous", "batch_size", "cache_regions", "config_kwargs max_pool_connections",
    "default_block_size", "default_cache_type", "default_fill_cache", "fixed_upload_size",
    "listings_expiry_time", "local_expiry_check", "loop", "max_paths", "skip_instance_cache",
    "use_listings_cache", "use_ssl",
})  # fmt: skip
_UNSUPPORTED: Final = ("session", "version_aware")
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
# Limits, with those of the other stores on servers: docs/decisions/0042.
_TIMEOUT: Final = timedelta(seconds=60)  # without progress
# A microsecond distinguishes them from options.
_CONNECT_TIMEOUT: Final = timedelta(seconds=10, microseconds=1)
RETRY_TIMEOUT: Final = timedelta(seconds=60, microseconds=1)
MAX_RETRIES: Final = 10_000  # the time is the limit
BACKOFF: Final = {
    "init_backoff": timedelta(seconds=0.1), "max_backoff": timedelta(seconds=5), "base": 2
}  # fmt: skip

_ENDPOINT: Final = re.compile(
    r"(?:aws_|azure_|azure_storage_)?endpoint(?:_url)?(?:_s3)?|(?:google_)?base_url", re.I
)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_DOCUMENT: Final = re.compile(r"service_account|application_credentials", re.I)  # can be JSON
_SETTING: Final = re.compile(r"key|secret|token|region|endpoint|account", re.I)


# --- the terms of fsspec ---


def translate_options(scheme: str, options: Mapping[str, Any], named: str) -> dict[str, Any]:
    """Return options in the terms of obstore; contradictions raise an error."""
    service = BY_SCHEME[scheme]
    names = service.names
    translated: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for old, value in _flattened(options, scheme, named):
        name = names.get(old, old)
        if old in _IGNORED or (value is None and name != old):
            continue
        if service.kind == "GCSStore" and old == "token" and value in ("anon", None):
            name, value = "skip_signature", value == "anon"
        elif name == "skip_signature" and name != old and not value:
            continue  # ``anon=False`` is the default
        if name in translated and translated[name] != value:
            raise StoreError(f"the options {sources[name]} and {old} contradict each other", named)
        translated[name], sources[name] = value, old
    return translated


def _flattened(options: Mapping[str, Any], scheme: str, named: str) -> Iterator[tuple[str, Any]]:
    """Iterate over options; those in mappings of s3fs have the names of both."""
    known = {*BY_SCHEME[scheme].names, *_IGNORED}
    for name, value in options.items():
        if name in _S3_MAPPINGS:
            if not isinstance(value or {}, Mapping):
                raise StoreError(f"the option {name} must be a mapping", named)
            for inner, one in (value or {}).items():
                if (both := f"{name} {inner}") in known:
                    yield both, one
                elif one is not None:
                    raise _unsupported(f"{name} with {inner}", scheme, named)
        elif name not in _UNSUPPORTED:
            yield name, value
        elif value:
            raise _unsupported(f"the option {name}", scheme, named)


def _unsupported(what: str, scheme: str, named: str) -> StoreError:
    return StoreError(f"{what} is not supported; use fsspec+{scheme}://", named)


# --- connections ---


def client_options(scheme: str, arguments: dict[str, Any], named: str) -> dict[str, Any]:
    """Return the connection settings, which are removed from the arguments.

    An http:// URL implies ``allow_http``.
    """
    options_ = dict(arguments.get("client_options", {}))
    if "timeout" in arguments:  # without progress, as for the other stores
        options_.setdefault("read_timeout", _duration("timeout", arguments.pop("timeout"), named))
    variables = BY_SCHEME[scheme].variables
    for name in _CLIENT:
        if name in arguments:  # obstore panics if it is not in client_options
            options_.setdefault(name, arguments.pop(name))
        if value := os.environ.get(f"{variables}{name}".upper()):
            options_.setdefault(name, value)
    for name in _DURATIONS:
        if name in options_:
            options_[name] = _duration(name, options_[name], named)
    settings_and_environment = {**os.environ, **arguments.get("config", {}), **arguments}
    if scheme == "http" or any(
        str(value).startswith("http://")
        for name, value in settings_and_environment.items()
        if _ENDPOINT.fullmatch(str(name))
    ):
        options_.setdefault("allow_http", True)
    # ``timeout`` of obstore limits a whole response, however large, by default to 30 s.
    options_.setdefault("timeout", "1day")
    options_.setdefault("read_timeout", _TIMEOUT)
    options_.setdefault("connect_timeout", _CONNECT_TIMEOUT)
    return options_


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
    if at and not (scheme in AZURE and user and host and ":" not in user):
        names = BY_SCHEME[scheme].credentials
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
    for name, value in _settings(scheme, arguments):
        if isinstance(value, bytes | bytearray | list | tuple | set | dict):
            decode = "; decode it" if isinstance(value, bytes | bytearray) else ""
            reason = f"must be a string, a number or a bool, not {type(value).__name__}{decode}"
        elif not isinstance(value, str) or _DOCUMENT.search(name):
            continue
        elif match := _CONTROL.search(value):
            what = "a line end" if match[0] in "\r\n" else "a control character"
            reason = f"contains {what}, which cannot be sent; remove it"
        elif value and _ENDPOINT.fullmatch(name.rpartition(" ")[2]) and not _is_address(value):
            reason = (
                "must be a URL with http:// or https:// and a host, such as "
                "https://storage.example.org:9000"
            )
        else:
            continue
        raise StoreError(f"{name} {reason}", named)


def _settings(scheme: str, arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Iterate over descriptions and values of options and of variables of the environment."""
    for name, value in arguments.items():
        if name in ("config", "client_options"):
            for key, one in value.items():
                if key == "default_headers" and isinstance(one, Mapping):
                    yield from ((f"the header {header}", text) for header, text in one.items())
                elif not key.endswith("timeout"):  # timeouts have their own check
                    yield f"the option {key}", one
        elif not name.endswith(("_config", "_provider", "timeout")) and name != "headers":
            yield f"the option {name}", value
    variables = BY_SCHEME[scheme].variables
    for name, value in os.environ.items():
        if name.startswith(variables) and _SETTING.search(name):
            yield f"the environment variable {name}", value


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def option_hint(options: Mapping[str, Any], message: str) -> str:
    """Return what to use instead of an option that obstore rejects with a message."""
    merged = {**options.get("config", {}), **options}
    hints = [f"use {_INSTEAD[name]} instead of {name}" for name in merged if name in _INSTEAD]
    if "Account must be specified" in message:
        hints.append("give the option account_name, or set AZURE_STORAGE_ACCOUNT_NAME")
    return f"; {', '.join(hints)}" if hints else ""
