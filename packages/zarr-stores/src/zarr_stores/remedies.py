"""What to do about the messages of servers and client libraries, and about unknown options."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from zarr_core.extension import StoreError

from zarr_stores.secrets import without_secrets

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_REMEDIES: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), advice)
    for pattern, advice in (
        (
            r"ExpiredToken|token (?:included in the request )?(?:has |is )?expired|TokenRefreshRequired",
            "the credentials have expired: renew them, and open the store again",
        ),
        (r"RequestTimeTooSkewed", "set the clock of this computer"),
        (
            r"AuthorizationHeaderMalformed|IllegalLocationConstraint|region '[^']*' is wrong",
            "pass the region of the bucket as the option region",
        ),
        (
            r"following redirect|redirect without LOCATION|PermanentRedirect|TooManyRedirects",
            "the server redirects requests: open the address to which it redirects; for a bucket, "
            "pass its endpoint and region",
        ),
        (
            r"non-partial response",
            "the service ignores the range of a request: if the data are public, open their "
            "https:// or http:// address",
        ),
        (
            r"request or response body error|IncompleteRead|payload is not completed",
            "the connection was closed before the whole value was received: check the server and "
            "the proxies on the way, and repeat the call",
        ),
        (
            r"Name or service not known|nodename nor servname|name resolution|"
            r"No address associated|getaddrinfo failed",
            "check the name of the host, and the network",
        ),
        (
            r"Permission denied for user|authentication failed|requires authentication|WRONGPASS|"
            r"NOAUTH|authentication required|invalid username-password|no password supplied|"
            r'role "[^"]*" does not exist|no pg_hba.conf entry',
            "check the user name and the password or key",
        ),
        (
            r"PermissionError|\b40[13], message=",  # of fsspec
            "check that the credentials in storage_options permit this and have not expired",
        ),
        (
            r"Connect call failed|ConnectionRefusedError|NoValidConnectionsError|SSH protocol banner",
            "check the host and the port, and that the server is running",
        ),
    )
)


DENIED_IS_MISSING: Final = (
    "if the service denies keys that do not exist, pass storage_options={'denied_is_missing': True}"
)


def remedy(message: str) -> str | None:
    """Return what to do about a message; None if it is not known."""
    return next((advice for pattern, advice in _REMEDIES if pattern.search(message)), None)


def check_options(names: Iterable[str], known: Collection[str], store: object) -> None:
    """Raise an error if an option is unknown; without values, because they may be secret."""
    if unknown := sorted({*names} - {*known}):
        plural = "s" if len(unknown) > 1 else ""
        options = f"the options are {', '.join(sorted(known))}" if known else "there are none"
        reason = f"unknown option{plural}: {', '.join(unknown)}; {options}"
        raise StoreError(reason, without_secrets(str(store)))


@contextmanager
def required(package: str, extra: str, store: object) -> Iterator[None]:
    """Raise an error that says how to install a package if the block cannot import it."""
    try:
        yield
    except ImportError as error:
        reason = f"the package {package} is not installed: pip install 'zarr-stores[{extra}]'"
        raise StoreError(reason, store) from error
