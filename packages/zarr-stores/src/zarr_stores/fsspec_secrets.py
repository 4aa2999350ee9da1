"""Which arguments of file systems are credentials, so that no text shows them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# Names of arguments of the file systems that are known to fsspec, and of headers.
_SECRET = re.compile(
    r"secret|token|passw|passphrase|^pw$|\bsas|_sas|credential|connection_string|authorization"
    r"|cookie|^auth$|signature|private|pkey|(?:^|[_-])key$|api_?key",
    re.IGNORECASE,
)
# What says where credentials are, or that there are none.
_PUBLIC = frozenset({"", "anon", "browser", "cache", "cloud", "google_default"})
_USER = re.compile(r"(?<=://)[^/@\s'\"]+@")
_QUERY = re.compile(r"(?<=://)([^\s'\"?]+)\?[^\s'\")>]+")
_MASK = "***"


def names_of_secrets(options: Mapping[str, Any], url: str = "") -> list[str]:
    """Names of the arguments that are credentials, sorted.

    Parameters
    ----------
    options : mapping
        Arguments of a file system, within which there may be those of others.
    url : str
        A URL that may have a password.
    """
    found = {name for name, _ in _secrets(options)}
    if any(":" in match.group() for match in _USER.finditer(url)) or _QUERY.search(url):
        found.add("the URL")
    return sorted(found)


def without_secrets(text: str, options: Mapping[str, Any] | None = None) -> str:
    """A text in which passwords, queries of URLs, values of secret arguments are masked.

    Parameters
    ----------
    text : str
        The text.
    options : mapping, optional
        Arguments of a file system.
    """
    for _, value in _secrets(options or {}):
        for word in _words(value):
            text = text.replace(word, _MASK)
    text = _USER.sub(lambda match: _user(match.group()), text)
    return _QUERY.sub(rf"\1?{_MASK}", text)


def _user(text: str) -> str:
    name, colon, _ = text.partition(":")
    return f"{name}:{_MASK}@" if colon else text


def _secrets(options: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in options.items():
        if _SECRET.search(str(name)):
            if not _is_public(value):
                yield str(name), value
        elif isinstance(value, Mapping):
            yield from _secrets(value)


def _is_public(value: Any) -> bool:
    if value is None or isinstance(value, bool):
        return True
    # Paths of files that have credentials are none.
    return isinstance(value, str) and (
        value in _PUBLIC or value.startswith(("/", "~/")) or value.endswith(".json")
    )


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, str) and len(value) >= 4:
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _words(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _words(inner)
