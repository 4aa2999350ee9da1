"""Read metadata documents from stores, up to a limit of their size."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from zarr_core.config import config
from zarr_core.errors import MetadataDecodeError
from zarr_core.location import Location
from zarr_core.metadata.validation_problem import ValidationProblem

if TYPE_CHECKING:
    from zarr_core.interfaces.byte_reader import ByteReader
    from zarr_core.interfaces.store import Store


def read_metadata(store: Store, key: str) -> bytes | None:
    """Read a metadata document, or another JSON document of a store; None for a missing key.

    Raises
    ------
    MetadataDecodeError
        If it is larger than the setting ``max_metadata_nbytes``.
    """
    limit = config.settings.max_metadata_nbytes
    if limit is None:
        limit = sys.maxsize
    value = store.get_limited(key, limit)
    if value is None:
        return None
    if isinstance(value, int):
        raise _too_large(Location(store, key=key), value)
    return bytes(value)


def read_metadata_from(reader: ByteReader, location: Location | str) -> bytes:
    """Read an open metadata document; ``location`` is the store and key, for errors.

    Raises
    ------
    MetadataDecodeError
        If it is larger than the setting ``max_metadata_nbytes``.
    """
    limit = config.settings.max_metadata_nbytes
    if limit is not None and reader.size > limit:
        raise _too_large(location, reader.size)
    return bytes(reader.read(0, reader.size))


def _too_large(location: Location | str, size: int) -> MetadataDecodeError:
    limit = config.settings.max_metadata_nbytes
    message = (
        f"the document has {size:,} bytes, more than the limit of {limit:,}; to read it, increase "
        "the limit: zarr_core.config.set(max_metadata_nbytes=...)"
    )
    return MetadataDecodeError(location, [ValidationProblem("", message)])
