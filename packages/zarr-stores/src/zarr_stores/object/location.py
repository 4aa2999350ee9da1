"""Locations of object stores, from URLs and stores of obstore."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from zarr_core.extension import StoreError
from zarr_core.threads import call_after_fork

from zarr_stores._attempts import CONNECT_SECONDS, RETRY_SECONDS
from zarr_stores.object.aws import with_aws_settings
from zarr_stores.object.errors import without_secrets
from zarr_stores.object.options import (
    BACKOFF,
    MAX_RETRIES,
    RETRY_TIMEOUT,
    check_bucket_url,
    check_mappings,
    check_values,
    client_options,
    option_hint,
    retry_config,
    translate_options,
)
from zarr_stores.object.services import BY_KIND, BY_SCHEME, OTHER
from zarr_stores.remedies import required
from zarr_stores.secrets import check_pickle, names_of_secrets, plain_url

if TYPE_CHECKING:
    from collections.abc import Iterator

_SCHEMES: Final = {"gcs": "gs", "azure": "az", "adl": "az"}
_used = _forked = False


@dataclass(frozen=True, slots=True)
class Location:
    """Location of an object store, without credentials; ``kind`` is the class of obstore.

    ``further`` are other settings that distinguish locations: endpoints, the account.
    """

    kind: str
    url: str
    further: tuple[Any, ...] = field(default=(), repr=False)  # a query may contain a signature

    @property
    def server(self) -> str:
        """The endpoint or account of a bucket; empty if the URL is sufficient."""
        known = self.further if BY_KIND.get(self.kind, OTHER).bucket else ()
        return next((one for one in reversed(known) if one), "")

    def __str__(self) -> str:
        """Return the URL, with the server or account if the URL does not contain it."""
        return f"{self.url} at {plain_url(self.server)}" if self.server else self.url

    def check_to_pickle(self, store: Any) -> None:
        """Raise an error if the store cannot be pickled without credentials."""
        instead = "pass them in environment variables, or use a credential_provider"
        check_pickle(self.url, _secrets(store), instead)
        if self.kind not in BY_KIND:
            raise StoreError(
                f"cannot be pickled: {self.kind} of obstore does not support it", self.url
            )


def location_of(store: Any, root: str = "") -> Location:
    """Return the location of a store of obstore below the prefix ``root``."""
    kind = type(store).__name__
    root = root.rstrip("/")
    if kind == "HTTPStore":
        base = plain_url(store.url)
        return Location(
            kind, f"{base}/{quote(root)}" if root else base, (urlsplit(store.url).query,)
        )
    if kind not in BY_KIND:
        return Location(kind, f"object://{kind}/{id(store):#x}/{quote(root)}", (id(store),))
    service = BY_KIND[kind]
    config = {str(name).lower(): value for name, value in (store.config or {}).items()}
    prefix = "/".join(part for part in ((store.prefix or "").strip("/"), root) if part)
    known = (
        config.get(name)
        or config.get(f"{service.prefix}_{name}")
        or os.environ.get(f"{service.prefix}_{name}".upper())
        for name in service.servers
    )
    name = config.get(service.bucket) or config.get("bucket_name") or config.get("container") or ""
    url = f"{service.schemes[0]}://{name}" + (f"/{quote(prefix)}" if prefix else "")
    return Location(kind, url, tuple(str(value or "").rstrip("/") for value in known))


def store_from_url(url: str, options: dict[str, Any]) -> tuple[Any, str, bool]:
    """Create a store of obstore.

    Returns the store, the prefix of every key, and whether it is a plain HTTP server, which does
    not support listing and writing.
    """
    named = plain_url(url)
    try:
        urlsplit(url)
    except ValueError as error:  # its text may contain a part of the URL
        message = "" if "'" in str(error) else f" ({error})"
        raise StoreError(f"the URL is not valid{message}", named) from None
    scheme, _, rest = url.partition("://")
    scheme = _SCHEMES.get(scheme, scheme)
    if scheme not in BY_SCHEME:
        raise StoreError(f"the scheme is not one of {', '.join(BY_SCHEME)}", named)
    web = scheme in ("http", "https")
    plain = web and not options.pop("webdav", False)
    if not web:
        check_bucket_url(scheme, url, named)
    arguments = translate_options(scheme, options, named)
    check_mappings(arguments, web, named)
    if web and "headers" in arguments:
        client = dict(arguments.get("client_options", {}))
        headers = {**client.get("default_headers", {}), **arguments.pop("headers")}
        arguments["client_options"] = {**client, "default_headers": headers}
    if scheme in ("s3", "s3a"):
        arguments = with_aws_settings(arguments, named)
    check_values(scheme, arguments, named)
    arguments["client_options"] = client_options(scheme, arguments, named)
    arguments["retry_config"] = retry_config(arguments, named)
    with required("obstore", "object", named):
        from obstore import store as stores  # slow to import
    try:
        parts = urlsplit(url)
        if plain:  # obstore adds a slash before a key if there is a query
            address = urlunsplit(parts._replace(path=parts.path.rstrip("/")))
            return stores.HTTPStore.from_url(address, **arguments), "", True
        if web:  # obstore cannot list below the path of an HTTPStore
            top = urlunsplit(parts._replace(path="/"))
            return stores.HTTPStore.from_url(top, **arguments), unquote(parts.path), False
        return stores.from_url(f"{scheme}://{rest}", **arguments), "", False
    except Exception as error:
        message = without_secrets(str(error).partition("Debug source")[0].strip().splitlines()[0])
        raise StoreError(
            f"obstore rejects the URL or an option: {message}{option_hint(options, message)}", named
        ) from None


def first_store(store: Any) -> tuple[Any, float, float]:
    """Return a store that sends each request once, with a short limit for the connection.

    Also returns for how many seconds a request is repeated, to a server that has never answered,
    and to others.  Options replace these limits.
    """
    kind = type(store)
    if kind.__name__ not in BY_KIND:
        return store, 0.0, 0.0
    options = dict(store.client_options or {})
    if options.get("connect_timeout") in (None, "10s 1us"):  # as obstore returns the default
        # Without credentials, two addresses of Google are asked for them.
        count = 2 if kind.__name__ == "GCSStore" else 1
        options["connect_timeout"] = timedelta(seconds=CONNECT_SECONDS / count)
    retries = store.retry_config or {}
    limit = retries.get("retry_timeout", RETRY_TIMEOUT)
    seconds = limit.total_seconds() if retries.get("max_retries", MAX_RETRIES) else 0.0
    settings: dict[str, Any] = {
        "client_options": options,
        "retry_config": {"max_retries": 0, "retry_timeout": limit, "backoff": BACKOFF},
    }
    if kind.__name__ == "HTTPStore":
        brief = kind.from_url(store.url, **settings)
    else:
        further = {
            name: getattr(store, name) for name in ("config", "prefix", "credential_provider")
        }
        brief = kind(**further, **settings)
    return brief, min(seconds, RETRY_SECONDS) if limit == RETRY_TIMEOUT else seconds, seconds


def _secrets(store: Any) -> Iterator[str]:
    """Iterate over the names of settings that contain credentials."""
    client = getattr(store, "client_options", None) or {}
    yield from names_of_secrets({**(getattr(store, "config", None) or {}), **client})
    for address in (getattr(store, "url", ""), client.get("proxy_url")):
        if address and str(address).rstrip("/") != plain_url(str(address)):
            yield "the address"


def check_not_forked(store: object) -> None:
    """Record that obstore is used; raise an error if it was used before a fork."""
    global _used
    if _forked:
        raise StoreError(
            "obstore cannot be used in a forked process if the parent has used it; start processes "
            'with multiprocessing.get_context("spawn") or "forkserver"',
            store,
        )
    _used = True


def _after_fork() -> None:
    global _forked
    _forked = _used


call_after_fork(_after_fork)
