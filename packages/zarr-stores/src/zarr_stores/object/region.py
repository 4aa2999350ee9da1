"""The region of a bucket of S3, which the service states in a response."""

from __future__ import annotations

import re
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from zarr_core.messages import log

from zarr_stores._attempts import CONNECT_SECONDS

_DEFAULT: Final = "us-east-1"
_NAME: Final = re.compile(r"[a-z0-9-]{1,40}")
_HEADER: Final = "x-amz-bucket-region"
_GLOBAL: Final = "https://s3.amazonaws.com"


def store_in_region(store: Any, endpoint: str, named: object) -> Any:
    """Return a store of obstore for the region in which its bucket is."""
    config = dict(store.config)
    region = _requested_region(store, endpoint)
    if region is None or region == config.get("region", _DEFAULT):
        return None
    log("retries", "%s: the bucket is in the region %s; the option region saves a request",
        named, region,
    )  # fmt: skip
    config["region"] = region
    return type(store)(
        config=config,
        prefix=store.prefix,
        client_options=store.client_options,
        retry_config=store.retry_config,
        credential_provider=store.credential_provider,
    )


class _Unredirected(HTTPRedirectHandler):
    """Raises :class:`HTTPError` for a redirect: its header has the region."""

    def redirect_request(self, *arguments: Any) -> None:
        return None


def _requested_region(store: Any, endpoint: str) -> str | None:
    """Return the region that the service states for the bucket, also without permission."""
    url = endpoint or _GLOBAL
    if store.config.get("virtual_hosted_style_request") != "true" or not endpoint:
        url = f"{url}/{quote(store.config['bucket'])}"
    proxy = (store.client_options or {}).get("proxy_url")
    further = [ProxyHandler({"http": proxy, "https": proxy})] if proxy else []
    try:
        opener = build_opener(_Unredirected, *further)
        with opener.open(Request(url, method="HEAD"), timeout=CONNECT_SECONDS) as response:
            region = response.headers.get(_HEADER)
    except HTTPError as error:
        region = error.headers.get(_HEADER)
        error.close()
    except (OSError, HTTPException, ValueError):  # the error of the request is reported
        return None
    return region if region and _NAME.fullmatch(region) else None
