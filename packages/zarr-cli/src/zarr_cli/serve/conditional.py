"""Conditional requests and entity tags.

Specification: RFC 9110, sections 8.8.3 and 13.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING

from zarr_core.extension import Store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import ByteReader

# Values up to this size are hashed if the store has no generation for them.
_DIGESTED = 1 << 24

_TAGS = re.compile(r'(W/)?"([\x21\x23-\x7e\x80-\xff]*)"')
_PLAIN = re.compile(r"[\x21\x23-\x7e]+\Z").match


def entity_tag(store: Store, key: str, reader: ByteReader, before: str | None) -> str | None:
    """Return the entity tag of an open value; None if its generation is not certain.

    ``before`` is the generation before the value was opened, if the store has generations.
    """
    generation = reader.generation
    if generation is None and before is not None and store.generation(key) == before:
        generation = before  # unchanged, so it is also the generation of the open value
    if generation is None and store.max_concurrency is None and reader.size <= _DIGESTED:
        generation = blake2b(reader.read(0, reader.size), digest_size=16).hexdigest()
    if generation is None:
        return None
    if not _PLAIN(generation):
        generation = blake2b(generation.encode(), digest_size=16).hexdigest()
    return f'"{generation}"'


def has_cheap_generation(store: Store) -> bool:
    """Whether the store returns the generation of a value at little cost."""
    return store.max_concurrency is None and type(store).generation is not Store.generation


def is_not_modified(headers: Mapping[str, str], tag: str | None) -> bool:
    """Whether the client already has this generation (``If-None-Match``)."""
    field = headers.get("If-None-Match")
    if field is None or tag is None:
        return False
    return field.strip() == "*" or any(f'"{opaque}"' == tag for _, opaque in _TAGS.findall(field))


def is_precondition_failed(headers: Mapping[str, str], tag: str | None) -> bool:
    """Whether the client requires another generation (``If-Match``)."""
    field = headers.get("If-Match")
    if field is None or field.strip() == "*":
        return False
    return not any(not weak and f'"{opaque}"' == tag for weak, opaque in _TAGS.findall(field))


def range_applies(headers: Mapping[str, str], tag: str | None) -> bool:
    """Whether a range applies to this generation (``If-Range``)."""
    field = headers.get("If-Range")
    return field is None or (tag is not None and field.strip() == tag)
