"""Conversion of codecs, which the drafts name by URIs.

Specification: draft of December 2022, "Specifying codecs", and the documents of the
codecs; zarr-python 2.12 to 2.18 writes "codec" instead of "codecs".  Both are read,
also without a version as in an example of the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from zarr_core.errors import ExtensionError
from zarr_core.extension import (
    ArrayToArrayCodec,
    ArrayToBytesCodec,
    ExtensionDefinition,
    MetadataValidationError,
    ValidationProblem,
    create_extension,
)

from zarr_formats import codec_ids
from zarr_formats.draft.extensions import is_uri
from zarr_formats.metadata_error import metadata_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zarr_core.extension import JSON

IN_TEXT = frozenset({"blosc", "endian", "gzip"})
"""Codecs that the text of December 2022 defines."""

IN_DIALECT = frozenset({"blosc", "bz2", "gzip", "lz4", "lzma", "zlib", "zstd"})
"""Ids in numcodecs of the codecs for which zarr-python 2 has URIs."""

_URI = re.compile(r"https?://purl\.org/zarr/spec/codecs?/([a-z0-9]+)(?:/1\.[0-9]+)?").fullmatch
_BYTES = "bytes"


def known(uri: str, names: frozenset[str]) -> str | None:
    """Return the name of the codec with a URI, if it is one of some names."""
    match = _URI(uri)
    return match[1] if match and match[1] in names else None


def uri_2022(name: str) -> str:
    """Return the URI of a codec in the text."""
    return f"https://purl.org/zarr/spec/codecs/{name}/1.0"


def uri_2021(name: str) -> str:
    """Return the URI of a codec in zarr-python 2."""
    return f"https://purl.org/zarr/spec/codec/{name}/1.0"


def read_codecs(
    codecs: Sequence[Any], byte_order: str | None, typesize: int, *, serialised: bool = False
) -> list[ExtensionDefinition]:
    """Convert the ``codecs`` of the text to those of version 3.

    In the text, a codec for bytes can follow a codec for arrays: elements become bytes in C order.
    Version 3 requires the codec ``bytes``, which is inserted there.  The reverse is permitted, too; an
    ``endian`` codec that cannot change the bytes is omitted there.  ``serialised`` tells whether a
    previous codec has encoded the elements as bytes.
    """
    definitions: list[ExtensionDefinition] = []
    for number, item in enumerate(codecs):
        configuration = item.get("configuration", {})
        name = known(item["type"], IN_TEXT)
        definition = ExtensionDefinition(
            _BYTES if name == "endian" else name or item["type"], configuration
        )
        if name == "blosc":
            definition = ExtensionDefinition(
                name, _read_blosc(configuration, typesize, f"/codecs/{number}/configuration")
            )
        kind = ArrayToBytesCodec if name == "endian" else None if name else _kind(definition)
        if serialised and kind is not None:
            if name == "endian" and (typesize == 1 or configuration.get("endian") != "big"):
                continue
            message = (
                "encodes arrays, but the codec before it gives bytes; the draft has no rule for it"
            )
            raise metadata_error(f"/codecs/{number}", message)
        if kind is None and not serialised:
            definitions.append(_bytes(byte_order))
        serialised = serialised or kind in (None, ArrayToBytesCodec)
        definitions.append(definition)
    return definitions if serialised else [*definitions, _bytes(byte_order)]


def write_codecs(codecs: Iterable[tuple[int, ExtensionDefinition]], *, endian: bool) -> list[JSON]:
    """Convert the codecs of version 3, with their indices in the metadata, to those of the text.

    ``endian`` is whether the codecs define the byte order, and not the data type.
    """
    written: list[JSON] = []
    problems = []
    for number, codec in codecs:
        configuration = dict(codec.configuration)
        uri = codec.name
        if codec.name == _BYTES:
            # Omitting the codec is the same as "little".
            if not endian or configuration.get("endian") != "big":
                continue
            uri = uri_2022("endian")
        elif codec.name in IN_TEXT:
            uri = uri_2022(codec.name)
            if codec.name == "blosc":
                configuration = {k: v for k, v in codec_ids.config(codec).items() if k != "id"}
        elif not is_uri(codec.name):
            message = (
                f"the draft of December 2022 has no URI for {codec.name!r}; it supports gzip, "
                "blosc, and codecs whose names are URIs"
            )
            problems.append(ValidationProblem(f"/codecs/{number}", message))
            continue
        item: dict[str, JSON] = {"type": uri}
        if configuration:
            item["configuration"] = configuration
        written.append(item)
    if problems:
        raise MetadataValidationError("", problems)
    return written


def _bytes(byte_order: str | None) -> ExtensionDefinition:
    return ExtensionDefinition(_BYTES, {} if byte_order is None else {"endian": byte_order})


def _kind(definition: ExtensionDefinition) -> type[Any] | None:
    """Return the kind of a codec for arrays; None if it is for bytes, or unknown."""
    try:
        codec = create_extension("codec", definition)
    except ExtensionError:
        return None  # an error is raised when the codecs are used
    kinds = (ArrayToArrayCodec, ArrayToBytesCodec)
    return next((kind for kind in kinds if isinstance(codec, kind)), None)


def _read_blosc(configuration: dict[str, JSON], typesize: int, pointer: str) -> dict[str, JSON]:
    """Convert the shuffle mode; the schema of the codec validates other members."""
    if not configuration.keys() >= {"cname", "clevel", "shuffle", "blocksize"}:
        return configuration
    shuffle = configuration["shuffle"]
    if type(shuffle) is not int or shuffle not in (0, 1, 2, -1):
        raise metadata_error(f"{pointer}/shuffle", f"must be one of 0, 1, 2, -1, not {shuffle!r}")
    converted = codec_ids.definition({"id": "blosc", **configuration}, typesize)
    return configuration | dict(converted.configuration)
