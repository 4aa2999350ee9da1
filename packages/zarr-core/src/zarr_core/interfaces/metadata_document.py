"""Read metadata documents from stores, up to a limit of their size."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from zarr_core.config import config
from zarr_core.errors import MetadataDecodeError, ValidationProblem
from zarr_core.location import Location

if TYPE_CHECKING:
    from zarr_core.interfaces.byte_reader import Buffer, ByteReader
    from zarr_core.interfaces.store import Store


def read_metadata(store: Store, key: str) -> bytes | None:
    """Read a metadata document, or another JSON document of a store; None for a missing key.

    Raises a MetadataDecodeError if it is larger than the setting ``max_metadata_nbytes``.
    """
    value = store.get_limited(key, _limit())
    return None if value is None else _checked(value, Location(store, key=key))


def read_metadata_from(reader: ByteReader, location: Location | str) -> bytes:
    """Read an open metadata document; ``location`` is the store and key, for errors."""
    return _checked(reader.read_limited(_limit()), location)


def _limit() -> int:
    limit = config.settings.max_metadata_nbytes
    return sys.maxsize if limit is None else limit


def _checked(value: Buffer | int, location: Location | str) -> bytes:
    if not isinstance(value, int):
        return bytes(value)
    message = (
        f"the document has {value:,} bytes, more than the limit of {_limit():,}; to read it, "
        "increase the limit: zarr_core.config.set(max_metadata_nbytes=...)"
    )
    raise MetadataDecodeError(location, [ValidationProblem("", message)])
