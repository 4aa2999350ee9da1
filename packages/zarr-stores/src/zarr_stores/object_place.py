"""Which place an object store is, found by a URL, told without secrets."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from zarr_core.extension import StoreError

from zarr_stores.object_failures import without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator

# Kinds of obstore's stores, with the scheme of their URLs and the settings that are the place.
_BUCKETS: Final = {
    "S3Store": ("s3", "bucket", "aws", ("endpoint", "endpoint_url", "endpoint_url_s3")),
    "GCSStore": ("gs", "bucket", "google", ("base_url",)),
    "AzureStore": ("az", "container_name", "azure_storage", ("account_name", "endpoint")),
}
_SCHEMES: Final = {"gcs": "gs", "azure": "az", "adl": "az"}
_SECRET: Final = re.compile(
    r"secret|token|password|\bsas|_sas|authorization|cookie|(?:^|[_-])key(?:_base64)?$", re.I
)
_MAPPINGS: Final = ("config", "client_options", "retry_config")
_RETRY: Final = {"max_retries", "retry_timeout", "backoff"}
_BACKOFF: Final = {"init_backoff", "max_backoff", "base"}
# Of zarr-python's and fsspec's users.
_INSTEAD: Final = {
    "key": "access_key_id",
    "secret": "secret_access_key",
    "token": "session_token (S3), bearer_token (Google), sas_token (Azure)",
    "anon": "skip_signature",
    "endpoint_url": "endpoint",
    "client_kwargs": "endpoint, region",
    "connection_string": "account_name, account_key",
}

# Settings of connections, which obstore takes from the environment unless some are given.
_CLIENT: Final = (
    "allow_http", "allow_invalid_certificates", "connect_timeout", "http1_only", "http2_only",
    "pool_idle_timeout", "pool_max_idle_per_host", "proxy_url", "proxy_ca_certificate",
    "proxy_excludes", "randomize_addresses", "read_timeout", "timeout", "user_agent",
)  # fmt: skip
_FAMILIES: Final = {"s3": "AWS", "gs": "GOOGLE", "az": "AZURE", "ab": "AZURE"}
_ENDPOINT: Final = re.compile(
    r"(?:aws_|azure_|azure_storage_)?endpoint(?:_url)?(?:_s3)?|(?:google_)?base_url", re.I
)

_used = _forked = False


@dataclass(frozen=True, slots=True)
class Place:
    """What makes two stores the same.

    Parameters
    ----------
    kind : str
        The class of obstore's store.
    url : str
        Without user, password or query.
    further : tuple
        What else tells places apart: endpoints, the account.
    """

    kind: str
    url: str
    further: tuple[Any, ...] = field(default=(), repr=False)  # a query may be a signature

    def __str__(self) -> str:
        """The URL, with the server or the account where that does not say it."""
        known = self.further if self.kind in _BUCKETS else ()
        server = next((one for one in reversed(known) if one), "")
        return f"{self.url} at {_plain(server)}" if server else self.url

    def check_to_pickle(self, store: Any) -> None:
        """Refuse to write credentials where they can be read.

        Raises
        ------
        StoreError
            If some were given, or the store is not one that pickles.
        """
        if found := sorted(set(_secrets(store))):
            raise StoreError(
                f"is not pickled, as anyone could read the credentials in it ({', '.join(found)}); "
                "give them by environment variables, or by a credential_provider",
                self.url,
            )
        if self.kind not in _BUCKETS and self.kind != "HTTPStore":
            raise StoreError(f"a {self.kind} of obstore cannot be pickled", self.url)


def place_of(store: Any, root: str = "") -> Place:
    """The place that a store of obstore leads to, and what stands before every key there."""
    kind = type(store).__name__
    root = root.rstrip("/")
    if kind == "HTTPStore":
        base = _plain(store.url)
        return Place(kind, f"{base}/{quote(root)}" if root else base, (urlsplit(store.url).query,))
    if kind not in _BUCKETS:
        return Place(kind, f"object://{kind}/{id(store):#x}/{quote(root)}", (id(store),))
    scheme, bucket, family, settings = _BUCKETS[kind]
    config = {str(name).lower(): value for name, value in (store.config or {}).items()}
    prefix = "/".join(part for part in ((store.prefix or "").strip("/"), root) if part)
    known = (
        config.get(name)
        or config.get(f"{family}_{name}")
        or os.environ.get(f"{family}_{name}".upper())
        for name in settings
    )
    name = config.get(bucket) or config.get("bucket_name") or config.get("container") or ""
    url = f"{scheme}://{name}" + (f"/{quote(prefix)}" if prefix else "")
    return Place(kind, url, tuple(str(value or "").rstrip("/") for value in known))


def store_from_url(url: str, options: dict[str, Any]) -> tuple[Any, str, bool]:
    """Make a store of obstore.

    Parameters
    ----------
    url : str
        With its scheme.
    options : dict
        What :meth:`ObjectStore.from_url` does not take itself.

    Returns
    -------
    store, root, plain
        The store; what stands before every key; whether it is a server of HTTP that can neither
        list nor be changed.

    Raises
    ------
    StoreError
        If obstore is not installed, or refuses the URL or an option.
    """
    named = _plain(url)
    scheme, _, rest = url.partition("://")
    scheme = _SCHEMES.get(scheme, scheme)
    web = scheme in ("http", "https")
    plain = web and not options.pop("webdav", False)
    arguments = dict(options)
    for name in _MAPPINGS:
        if not isinstance(arguments.get(name, {}), Mapping):
            raise StoreError(f"the option {name} is a mapping of settings to values", named)
    arguments["client_options"] = _client_options(scheme, arguments)
    if "retry_config" in arguments:
        arguments["retry_config"] = _retry_config(arguments["retry_config"], named)
    try:
        from obstore import store as stores  # noqa: PLC0415 - heavy, and an extra
    except ImportError as error:
        raise StoreError(
            "object stores need the package obstore: pip install 'zarr-stores[object]'", named
        ) from error
    try:
        if plain:
            return stores.HTTPStore.from_url(url, **arguments), "", True
        if web:  # below a path obstore would not list
            parts = urlsplit(url)
            top = urlunsplit(parts._replace(path="/"))
            return stores.HTTPStore.from_url(top, **arguments), unquote(parts.path), False
        return stores.from_url(f"{scheme}://{rest}", **arguments), "", False
    except Exception as error:
        said = without_secrets(str(error).partition("Debug source")[0].strip().splitlines()[0])
        raise StoreError(
            f"not possible with these options: {said}{_hint(options)}", named
        ) from None


def _client_options(scheme: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Settings of connections; who writes http:// has said that encryption is not needed."""
    given = dict(arguments.get("client_options", {}))
    family = _FAMILIES.get(scheme[:2], "-")
    for name in _CLIENT:
        if name in arguments:  # where most look for it; obstore would panic
            given.setdefault(name, arguments.pop(name))
        if value := os.environ.get(f"{family}_{name}".upper()):
            given.setdefault(name, value)
    places = {**os.environ, **arguments.get("config", {}), **arguments}
    if scheme == "http" or any(
        str(value).startswith("http://")
        for name, value in places.items()
        if _ENDPOINT.fullmatch(str(name))
    ):
        given.setdefault("allow_http", True)
    # As long as data come; obstore's limit of half a minute is for the whole answer.
    if "timeout" not in given:
        given["timeout"] = "10min"
        given.setdefault("read_timeout", "30s")
    return given


def _retry_config(given: Mapping[str, Any], named: str) -> dict[str, Any]:
    """Settings of repetitions, durations also in seconds."""
    retry = dict(given)
    backoff = dict(retry.get("backoff", {}))
    if unknown := sorted((retry.keys() - _RETRY) | (backoff.keys() - _BACKOFF)):
        raise StoreError(f"retry_config has no {', '.join(unknown)}", named)
    for settings, names in (
        (retry, ("retry_timeout",)),
        (backoff, ("init_backoff", "max_backoff")),
    ):
        for name in names:
            if isinstance(settings.get(name), int | float):
                settings[name] = timedelta(seconds=settings[name])
    if backoff:
        # obstore wants all of them.
        defaults = {"init_backoff": timedelta(seconds=0.1), "max_backoff": timedelta(seconds=15)}
        retry["backoff"] = {**defaults, "base": 2, **backoff}
    retry.setdefault("max_retries", 10)
    retry.setdefault("retry_timeout", timedelta(minutes=3))
    return retry


def _hint(options: Mapping[str, Any]) -> str:
    given = {**options.get("config", {}), **options}
    found = [f"{name} is {_INSTEAD[name]}" for name in given if name in _INSTEAD]
    return f"; here, {', '.join(found)}" if found else ""


def _plain(url: str) -> str:
    """A URL without user, password, query and the slash at its end."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2] if parts.scheme in ("http", "https") else parts.netloc
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))


def _secrets(store: Any) -> Iterator[str]:
    """Names of settings that are credentials."""
    client = getattr(store, "client_options", None) or {}
    for settings in (getattr(store, "config", None) or {}, client):
        for name in map(str, settings):
            if _SECRET.search(name) and not name.lower().endswith("_file"):
                yield name
    for name in client.get("default_headers") or ():
        if _SECRET.search(str(name)):
            yield f"the header {name}"
    for address in (getattr(store, "url", ""), client.get("proxy_url")):
        if address and str(address).rstrip("/") != _plain(str(address)):
            yield "the address"


def refuse_fork(store: object) -> None:
    """Note that the library is used; refuse if that was in the process that this one is a copy of.

    Raises
    ------
    StoreError
        If the process was forked afterwards: its threads are not here, and it would hang.
    """
    global _used
    if _forked:
        raise StoreError(
            "obstore was used before this process was forked, and does not work here; start "
            'processes in another way: multiprocessing.get_context("spawn") or "forkserver"',
            store,
        )
    _used = True


def _after_fork() -> None:
    global _forked
    _forked = _used


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
