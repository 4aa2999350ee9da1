"""What a client knows of a value already, so that it need not be sent again.

Specification: RFC 9110, sections 8.8.3 and 13.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING

from zarr_core.extension import Store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import ValueReader

# Up to here a value is read for its digest, where the store knows no version of it.
_DIGESTED = 1 << 24

_TAGS = re.compile(r'(W/)?"([\x21\x23-\x7e\x80-\xff]*)"')
_PLAIN = re.compile(r"[\x21\x23-\x7e]+\Z").match


def entity_tag(store: Store, key: str, reader: ValueReader, before: str | None) -> str | None:
    """The entity tag of an open value, or None if no version of it is known for certain.

    Parameters
    ----------
    store, key
        Where the value is from.
    reader : ValueReader
        The value.
    before : str or None
        What the store said before the value was opened, if it tells.
    """
    version = reader.version
    if version is None and before is not None and store.version(key) == before:
        version = before  # of what was opened in between, too
    if version is None and store.requests is None and reader.size <= _DIGESTED:
        version = blake2b(reader.read(0, reader.size), digest_size=16).hexdigest()
    if version is None:
        return None
    if not _PLAIN(version):
        version = blake2b(version.encode(), digest_size=16).hexdigest()
    return f'"{version}"'


def tells_version(store: Store) -> bool:
    """Whether the store says what version a value has at next to no cost."""
    return store.requests is None and type(store).version is not Store.version


def is_known(headers: Mapping[str, str], tag: str | None) -> bool:
    """Whether the client has this version already: ``If-None-Match``."""
    field = headers.get("If-None-Match")
    if field is None or tag is None:
        return False
    return field.strip() == "*" or any(f'"{opaque}"' == tag for _, opaque in _TAGS.findall(field))


def is_another(headers: Mapping[str, str], tag: str | None) -> bool:
    """Whether the client asks for another version than this one: ``If-Match``."""
    field = headers.get("If-Match")
    if field is None or field.strip() == "*":
        return False
    return not any(not weak and f'"{opaque}"' == tag for weak, opaque in _TAGS.findall(field))


def range_applies(headers: Mapping[str, str], tag: str | None) -> bool:
    """Whether a range is still one of the value that the client means: ``If-Range``."""
    field = headers.get("If-Range")
    return field is None or (tag is not None and field.strip() == tag)
