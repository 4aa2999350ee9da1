"""Metadata encoding: how the documents of arrays and groups become bytes.

Specification: draft of December 2022, "Entry point metadata", ``metadata_encoding``, an extension
point.  The entry point itself is JSON.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from zarr_core.extension import (
    ExtensionDefinition,
    MetadataExtension,
    MetadataValidationError,
    ValidationProblem,
    create_extension,
    strictjson,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON, Location


class MetadataEncoding(MetadataExtension):
    """An encoding of the metadata documents of a hierarchy, other than JSON.

    Subclasses are found like extensions of the extension point ``extension``, by the URI that the
    entry point of the hierarchy has as ``extension``: an entry point of the group
    ``zarr_core.extension``, or ``extensions={"extension": {URI: Class}}``.  Their configuration has
    the other members, at least ``type`` and ``metadata_key_suffix``.
    """

    @abstractmethod
    def encode(self, document: JSON) -> bytes:
        """Encode the document of an array or a group, an object with JSON values."""

    @abstractmethod
    def decode(self, data: bytes) -> JSON:
        """Decode a document.

        Raises
        ------
        ValueError
            If the bytes are invalid.
        """

    def check(self, document: Mapping[str, JSON]) -> list[ValidationProblem]:
        """Return the problems of the entry point; by default none."""
        return []


def find_encoding(
    uri: str, configuration: dict[str, Any], document: dict[str, JSON], location: Location
) -> MetadataEncoding:
    """Return the metadata encoding of a hierarchy, which checks its entry point."""
    encoding = create_extension("extension", ExtensionDefinition(uri, configuration), location)
    if not isinstance(encoding, MetadataEncoding):
        message = f"the extension {uri} is not a metadata encoding"
        raise MetadataValidationError(location, [ValidationProblem("", message)])
    if problems := encoding.check(document):
        raise MetadataValidationError(location, problems)
    return encoding


def decode(encoding: MetadataEncoding, data: bytes, location: Location) -> JSON:
    """Decode a document; every value must have a JSON form.

    Raises a MetadataValidationError for invalid bytes and values.
    """
    try:
        document = encoding.decode(bytes(data))
    except ValueError as error:
        message = f"cannot be decoded by {type(encoding).__name__}: {error}"
        raise MetadataValidationError(location, [ValidationProblem("", message)]) from error
    return strictjson.plain(document, location)
