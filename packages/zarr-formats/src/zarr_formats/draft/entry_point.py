"""The entry point of a hierarchy: ``zarr.json`` at the root of a store.

Specification: draft of December 2022, "Entry point metadata".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.errors import MetadataError
from zarr_core.extension import (
    ExtensionDefinition,
    Location,
    MetadataValidationError,
    ValidationProblem,
    create_extension,
    read_metadata,
    strictjson,
)
from zarr_core.messages import quoted

from zarr_formats.draft.extensions import read_extensions
from zarr_formats.draft.metadata_encoding import find_encoding
from zarr_formats.draft.validate import validate_document
from zarr_formats.metadata_error import metadata_error

if TYPE_CHECKING:
    from zarr_core.extension import JSON, Store

    from zarr_formats.draft.metadata_encoding import MetadataEncoding

KEY = "zarr.json"

Revision = Literal["draft", "draft-2021"]

URIS: dict[Revision, str] = {
    "draft": "https://purl.org/zarr/spec/core/3.0",
    "draft-2021": "https://purl.org/zarr/spec/protocol/core/3.0",
}
_URI = re.compile(r"https?://purl\.org/zarr/spec/(protocol/)?core/([0-9]+)\.([0-9]+)").fullmatch


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """A parsed entry point, whose extensions are additional fields.

    ``minor`` is 0 in version 3.0; ``suffix`` is that of the keys of metadata documents, such as
    ``".json"``; ``encoding`` is None for JSON.
    """

    revision: Revision
    minor: int
    suffix: str
    extensions: dict[str, JSON]
    document: dict[str, JSON]
    encoding: MetadataEncoding | None = None


def new_entry_point(
    revision: Revision = "draft",
    *,
    metadata_key_suffix: str = ".json",
    metadata_encoding: dict[str, JSON] | None = None,
) -> bytes:
    """Return ``zarr.json`` of a new hierarchy, to be stored before its nodes are created.

    ``metadata_encoding`` is for other encodings than JSON: it has the URI of a
    :class:`MetadataEncoding` as ``extension``, and its ``type``.  Raises a MetadataError if an
    argument is invalid.
    """
    document: dict[str, JSON] = {"zarr_format": URIS[revision], "extensions": []}
    suffix: dict[str, JSON] = {"metadata_key_suffix": metadata_key_suffix}
    if revision == "draft":
        document["metadata_encoding"] = {**(metadata_encoding or {"type": "json"}), **suffix}
    else:
        uri = metadata_encoding["extension"] if metadata_encoding else URIS[revision]
        document |= {"metadata_encoding": uri, **suffix}
    data = strictjson.encode(document)
    _parse(data)
    return data


def read_entry_point(store: Store) -> EntryPoint | None:
    """Read the entry point of a store; None if there is none of these drafts."""
    data = read_metadata(store, KEY)
    if data is None:
        return None
    location = Location(store, key=KEY)
    try:
        entry = _parse(data)
    except MetadataError as error:
        raise type(error)(location, error.problems) from None
    if entry is not None:
        entry = _with_encoding(entry, location)
        if entry.extensions:
            _understand(entry, location)
    return entry


def _understand(entry: EntryPoint, location: Location) -> None:
    """Check the extensions of the hierarchy; unknown ones that must be understood raise an error."""
    problems: list[ValidationProblem] = []
    for number, (uri, member) in enumerate(entry.extensions.items()):
        assert isinstance(member, dict), "read_extensions returns objects"
        configuration = {name: item for name, item in member.items() if name != "must_understand"}
        definition = ExtensionDefinition(uri, configuration, member["must_understand"] is True)
        extension = create_extension("extension", definition, location.at(f"/extensions/{number}"))
        if extension is not None:
            problems += extension.check(entry.document)
    if problems:
        raise MetadataValidationError(location, problems)


@lru_cache(64)
def _parse(data: bytes) -> EntryPoint | None:
    document = strictjson.loads(data, "", constants=True)  # it may be a document of version 3
    uri = document.get("zarr_format") if isinstance(document, dict) else None
    # "A string containing the URI"; version 3 has a number.
    if not isinstance(document, dict) or not isinstance(uri, str) or "://" not in uri:
        return None
    # "the final path segment of this URI represents the core specification version number"
    match = _URI(uri)
    revision: Revision = "draft-2021" if "/protocol/" in uri else "draft"
    if match is None:
        message = (
            f"must be the URI of a Zarr core specification, {URIS[revision]}, not {quoted(uri)}"
        )
        raise metadata_error("/zarr_format", message)
    if match[2] != "3":
        message = f"is version {match[2]}.{match[3]}, which is not supported; must be version 3"
        raise metadata_error("/zarr_format", message)
    minor = int(match[3])
    # "new features added to the specification can be safely ignored": not in 3.0.
    schema = f"{revision}.entry_point"
    checked = validate_document(document, schema, Location(), ignore_unknown=minor > 0)
    members = checked if revision == "draft-2021" else checked["metadata_encoding"]
    extensions = read_extensions(checked["extensions"])
    return EntryPoint(revision, minor, members["metadata_key_suffix"], extensions, document)


def _with_encoding(entry: EntryPoint, location: Location) -> EntryPoint:
    """The entry point with its metadata encoding, unless that is JSON."""
    encoding: Any = entry.document["metadata_encoding"]
    if not isinstance(encoding, dict):
        if _URI(encoding):
            return entry
        encoding = {"extension": encoding, "metadata_key_suffix": entry.suffix}
    if "extension" not in encoding:
        return entry
    uri = encoding["extension"]
    configuration = {name: item for name, item in encoding.items() if name != "extension"}
    where = location.at("/metadata_encoding")
    return replace(entry, encoding=find_encoding(uri, configuration, entry.document, where))
