"""Options of s3fs, gcsfs and adlfs in the terms of obstore."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from zarr_core.extension import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

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
_CONFIG_NAMES: Final[Mapping[str, str]] = {
    "connect_timeout": "connect_timeout",
    "read_timeout": "timeout",
    "region_name": "region",
}
_REQUEST_NAMES: Final[Mapping[str, str]] = {
    "ServerSideEncryption": "server_side_encryption",
    "SSEKMSKeyId": "sse_kms_key_id",
    "RequestPayer": "request_payer",
}
# They set buffers, caches and loops of fsspec, which obstore does not have.
_IGNORED: Final = frozenset({
    "asynchronous", "batch_size", "cache_regions", "default_block_size", "default_cache_type",
    "default_fill_cache", "fixed_upload_size", "listings_expiry_time", "local_expiry_check", "loop",
    "max_paths", "skip_instance_cache", "use_listings_cache",
})  # fmt: skip
_BUCKETS: Final = ("s3", "gs", "az")
_OTHER_SPELLINGS: Final[Mapping[str, str]] = {
    "s3a": "s3", "gcs": "gs", "abfs": "az", "abfss": "az", "adl": "az", "azure": "az"
}  # fmt: skip


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
    found: dict[str, Any] = {}
    given: dict[str, str] = {}
    for old, name, value in _renamed(scheme, options, store):
        if name in found and found[name] != value:
            raise StoreError(f"the options {given[name]} and {old} contradict each other", store)
        found[name], given[name] = value, old
    return found


def _renamed(scheme: str, options: Mapping[str, Any], store: str) -> Iterator[tuple[str, str, Any]]:
    """Iterate over the options: the given name, the name in obstore, and the value."""
    names = _NAMES.get(scheme, {})
    for name, value in options.items():
        if scheme in _BUCKETS and name in _IGNORED:
            continue
        if scheme == "gs" and name == "token" and value in ("anon", None):
            yield name, "skip_signature", value == "anon"
        elif scheme == "s3" and name in _S3_OPTIONS:
            if value is not None:
                yield from _S3_OPTIONS[name](name, value, options, store)
        elif name in names:
            if value is not None and not (names[name] == "skip_signature" and not value):
                yield name, names[name], value
        else:
            yield name, name, value


Renamed: TypeAlias = "Iterator[tuple[str, str, Any]]"


def _members(name: str, value: Any, names: Mapping[str, str], store: str) -> Renamed:
    """Iterate over the options in a mapping."""
    if not isinstance(value, Mapping):
        raise StoreError(f"the option {name} must be a mapping", store)
    if unknown := sorted(map(str, value.keys() - names.keys())):
        raise _unsupported(f"{name} with {', '.join(unknown)}", store)
    for one, its_value in value.items():
        if its_value is not None:
            yield f"{name} {one}", names[one], its_value


def _client(name: str, value: Any, options: Mapping[str, Any], store: str) -> Renamed:
    return _members(name, value, _CLIENT_NAMES, store)


def _requests(name: str, value: Any, options: Mapping[str, Any], store: str) -> Renamed:
    return _members(name, value, _REQUEST_NAMES, store)


def _config(name: str, value: Any, options: Mapping[str, Any], store: str) -> Renamed:
    """Iterate over the options of a configuration of botocore."""
    if not isinstance(value, Mapping):
        raise StoreError(f"the option {name} must be a mapping", store)
    further = dict(value)
    further.pop("max_pool_connections", None)  # max_concurrency limits the connections
    signature = further.pop("signature_version", None)
    if type(signature).__name__ == "_UnsignedType" or signature == "unsigned":  # botocore.UNSIGNED
        yield f"{name} signature_version", "skip_signature", True
    elif signature not in (None, "s3v4", "v4"):
        raise _unsupported(f"{name} with signature_version={signature!r}", store)
    s3 = further.get("s3")
    if isinstance(s3, Mapping) and not s3.keys() - {"addressing_style"}:
        del further["s3"]
        style = s3.get("addressing_style", "auto")
        if style in ("path", "virtual"):
            yield f"{name} s3", "virtual_hosted_style_request", style == "virtual"
    yield from _members(name, further, _CONFIG_NAMES, store)


def _tls(name: str, value: Any, options: Mapping[str, Any], store: str) -> Renamed:
    """Check ``use_ssl``: the scheme of an endpoint takes precedence, as in botocore."""
    endpoint = options.get("endpoint_url") or options.get("endpoint")
    client = options.get("client_kwargs")
    if not (value or endpoint or (isinstance(client, Mapping) and client.get("endpoint_url"))):
        reason = "use_ssl=False requires endpoint_url with an http:// address"
        raise StoreError(reason, store)
    yield from ()


def _refused(name: str, value: Any, options: Mapping[str, Any], store: str) -> Renamed:
    if value:
        raise _unsupported(f"the option {name}", store)
    yield from ()


_S3_OPTIONS: Final[Mapping[str, Callable[[str, Any, Mapping[str, Any], str], Renamed]]] = {
    "client_kwargs": _client,
    "config_kwargs": _config,
    "s3_additional_kwargs": _requests,
    "session": _refused,
    "use_ssl": _tls,
    "version_aware": _refused,
}


def _unsupported(what: str, store: str) -> StoreError:
    return StoreError(f"{what} is not supported; use fsspec+s3://", store)
