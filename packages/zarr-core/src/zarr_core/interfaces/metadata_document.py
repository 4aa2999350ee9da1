"""Read metadata documents from stores, up to a limit of their size."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from zarr_core.config import config
from zarr_core.errors import MetadataDecodeError, ValidationProblem
from zarr_core.location import Location

if TYPE_CHECKING:
    from zarr_core.interfaces.byte_reader import ByteReader
    from zarr_core.interfaces.store import Store


def read_metadata(store: Store, key: str) -> bytes | None:
    """Read a metadata document, or another JSON document of a store; None for a missing key.

    Raises a MetadataDecodeError if it is larger than the setting ``max_metadata_nbytes``.
    """
    value = store.get_limited(key, _limit())
    if isinstance(value, int):
        raise _too_large(value, Location(store, key=key))
    return None if value is None else bytes(value)


def read_metadata_from(reader: ByteReader, location: Location | str) -> bytes:
    """Read an open metadata document; ``location`` is the store and key, for errors."""
    value = reader.read_limited(_limit())
    if isinstance(value, int):
        raise _too_large(value, location)
    return bytes(value)


def _limit() -> int:
    limit = config.settings.max_metadata_nbytes
    return sys.maxsize if limit is None else limit


def _too_large(size: int, location: Location | str) -> MetadataDecodeError:
    message = (
        f"the document has {size:,} bytes, more than the limit of {_limit():,}; to read it, "
        "increase the limit: zarr_core.config.set(max_metadata_nbytes=...)"
    )
    return MetadataDecodeError(location, [ValidationProblem("", message)])
