"""Detection and masking of credentials in URLs, options and messages."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote

from zarr_core.extension import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

AZURE = ("abfs", "abfss", "adl", "az", "azure")
"""Schemes of Azure, whose URLs can have a container: ``abfs://container@account.host/path``."""
# Names of options of fsspec file systems, and of HTTP headers.
_SECRET = re.compile(
    r"secret|token|pas+w|pwd|^ps*w|passphrase|\bsas|_sas|credential|connection_string|authorization"
    r"|cookie|^auth$|signature|private|pkey|(?:^|[_-])key(?:_base64)?$|api_?key",
    re.IGNORECASE,
)
# Values that refer to credentials, or mean that there are none.
_PUBLIC = frozenset({"", "anon", "browser", "cache", "cloud", "false", "google_default", "true"})
_USER = re.compile(r"(?<=://)[^/@\s'\"]+@")
# A user and a password, which may contain "/", "?" and "#" without encoding.  A port is not a password.
_PASSWORD = re.compile(r"(?<=://)[^/?#@:]*:(?!\d+(?:[/?#]|$))[^@]*@")
_QUERY = re.compile(r"(?<=://)([^\s'\"?]+)\?[^\s'\")>]+")
_MASK = "***"


def names_of_secrets(options: Mapping[str, Any], url: str = "") -> list[str]:
    """Return the sorted names of the options that contain credentials."""
    secret_names = {name for name, _ in _secrets(options)}
    if any(":" in match.group() for match in _USER.finditer(url)) or _QUERY.search(url):
        secret_names.add("the URL")
    return sorted(secret_names)


def check_pickle(store: object, names: Iterable[str], instead: str = "") -> None:
    """Raise an error if a store has options with credentials, which a pickle would contain."""
    if secrets := sorted({*names}):
        instead = instead or (
            "pass them in the environment variables or files that the library for the service reads"
        )
        raise StoreError(
            "cannot be pickled, because the pickle would contain credentials "
            f"({', '.join(secrets)}); {instead}",
            store,
        )


def plain_url(url: str) -> str:
    """Return a URL without user, password, query, fragment and trailing slash.

    Does not use ``urlsplit``, which raises an error for invalid URLs.
    """
    url = _PASSWORD.sub("", url)  # first, because it can contain the other separators
    scheme, separator, rest = re.split(r"[?#]", url, maxsplit=1)[0].partition("://")
    host, slash, path = rest.partition("/")
    user, _, behind = host.rpartition("@")
    # Azure URLs have the container before the account: abfs://container@account.host/path.
    if not (scheme.lower() in AZURE and user and behind and ":" not in user):
        host = behind
    return f"{scheme.lower()}{separator}{host}{slash}{path}".rstrip("/")


def without_secrets(text: str, options: Mapping[str, Any] | None = None, url: str = "") -> str:
    """Return a text with passwords, queries of URLs and secret options masked."""
    words = [word for _, value in _secrets(options or {}) for word in _words(value)]
    words += _words([*_in_url(url)])
    for word in sorted(words, key=len, reverse=True):
        text = text.replace(word, _MASK)
    text = _USER.sub(lambda match: _user(match.group()), text)
    return _QUERY.sub(rf"\1?{_MASK}", text)


def _in_url(url: str) -> Iterator[str]:
    """Iterate over passwords and query values, in encoded and decoded form."""
    for match in _USER.finditer(url):
        password = match.group()[:-1].partition(":")[2]
        yield from (password, unquote(password))
    if query := _QUERY.search(url):
        for _, value in parse_qsl(query.group().partition("?")[2]):
            yield from (value, quote(value, ""))


def _user(text: str) -> str:
    name, colon, _ = text.partition(":")
    return f"{name}:{_MASK}@" if colon else text


def _secrets(options: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in options.items():
        if _SECRET.search(str(name)):
            if not (_is_public(value) or str(name).lower().endswith("_file")):
                yield str(name), value
        elif isinstance(value, Mapping):
            yield from _secrets(value)


def _is_public(value: Any) -> bool:
    if value is None or isinstance(value, bool):
        return True
    if not isinstance(value, str):
        return False
    # Paths of credential files are not secret.  A key can begin with a slash as well.
    is_path = value.startswith(("/", "~/")) and os.path.exists(os.path.expanduser(value))
    return value in _PUBLIC or value.endswith(".json") or is_path


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, str) and len(value) >= 4:
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _words(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _words(inner)
