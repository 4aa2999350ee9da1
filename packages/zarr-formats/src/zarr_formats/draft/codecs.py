"""The URIs by which the drafts name codecs.

Specification: draft of December 2022, "Specifying codecs" with the codecs' own
documents; zarr-python 2.12 to 2.18 has "codec" in place of "codecs".  Either is read,
and a version left out too, as in an example of the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from zarr_core.extension import (
    ArrayToArrayCodec,
    ArrayToBytesCodec,
    ExtensionDefinition,
    ExtensionError,
    MetadataValidationError,
    Problem,
    make_extension,
)

from zarr_formats import codec_ids
from zarr_formats.draft.extensions import is_uri
from zarr_formats.typestr import refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zarr_core.extension import JSON

IN_TEXT = frozenset({"blosc", "endian", "gzip"})
"""Codecs that the text of December 2022 defines."""

IN_DIALECT = frozenset({"blosc", "bz2", "gzip", "lz4", "lzma", "zlib", "zstd"})
"""Codecs, by their ids in numcodecs, that zarr-python 2 has URIs for."""

_URI = re.compile(r"https?://purl\.org/zarr/spec/codecs?/([a-z0-9]+)(?:/1\.[0-9]+)?").fullmatch
_BYTES = "bytes"


def known(uri: str, names: frozenset[str]) -> str | None:
    """The codec that a URI names, if it is one of these."""
    match = _URI(uri)
    return match[1] if match and match[1] in names else None


def uri_in_text(name: str) -> str:
    """The URI of a codec of the text."""
    return f"https://purl.org/zarr/spec/codecs/{name}/1.0"


def uri_in_dialect(name: str) -> str:
    """The URI of a codec of zarr-python's."""
    return f"https://purl.org/zarr/spec/codec/{name}/1.0"


def read_codecs(
    codecs: Sequence[Any], byte_order: str | None, typesize: int, *, serialised: bool = False
) -> list[ExtensionDefinition]:
    """The codecs of version 3 for the ``codecs`` of the text.

    Parameters
    ----------
    codecs : sequence of dict
        The member; its schema accepted it.
    byte_order : {"little", "big"} or None
        That of the data type, if no ``endian`` codec says another.
    typesize : int
        Bytes of an element, for Blosc.
    serialised : bool
        Whether a codec before these has made bytes of the elements already.

    Raises
    ------
    MetadataValidationError
        If Blosc is told to shuffle in no known way; ``where`` is empty.

    Notes
    -----
    The text lets codecs for arrays and for bytes meet anywhere, elements becoming bytes
    in C order.  In version 3 that is the codec ``bytes``; it is put before the first
    codec for bytes.
    """
    found: list[ExtensionDefinition] = []
    for number, item in enumerate(codecs):
        configuration = item.get("configuration", {})
        name = known(item["type"], IN_TEXT)
        if name == "endian":
            found.append(ExtensionDefinition(_BYTES, configuration))
            serialised = True
            continue
        definition = ExtensionDefinition(name or item["type"], configuration)
        if name == "blosc":
            definition = ExtensionDefinition(
                name, _read_blosc(configuration, typesize, f"/codecs/{number}/configuration")
            )
        kind = None if name else _kind(definition)
        if kind is ArrayToBytesCodec:
            serialised = True
        elif kind is None and not serialised:
            found.append(_bytes(byte_order))
            serialised = True
        found.append(definition)
    return found if serialised else [*found, _bytes(byte_order)]


def write_codecs(codecs: Iterable[tuple[int, ExtensionDefinition]], *, endian: bool) -> list[JSON]:
    """The ``codecs`` of the text for those of version 3.

    Parameters
    ----------
    codecs : iterable of (int, ExtensionDefinition)
        The codecs, each with its place in the metadata.
    endian : bool
        Whether the codecs say the byte order; not if the data type does.

    Raises
    ------
    MetadataValidationError
        If a codec has no URI; ``where`` is empty.
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
            uri = uri_in_text("endian")
        elif codec.name in IN_TEXT:
            uri = uri_in_text(codec.name)
            if codec.name == "blosc":
                configuration = {k: v for k, v in codec_ids.config(codec).items() if k != "id"}
        elif not is_uri(codec.name):
            message = (
                f"the draft of December 2022 has no URI for {codec.name!r}; "
                "it knows gzip and blosc, and others by URIs of their own"
            )
            problems.append(Problem(f"/codecs/{number}", message))
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
    """Whether a codec of a URI of its own takes arrays; None if bytes, or nobody knows."""
    try:
        codec = make_extension("codec", definition)
    except ExtensionError:
        return None  # the array will be refused when its codecs are needed
    kinds = (ArrayToArrayCodec, ArrayToBytesCodec)
    return next((kind for kind in kinds if isinstance(codec, kind)), None)


def _read_blosc(configuration: dict[str, JSON], typesize: int, pointer: str) -> dict[str, JSON]:
    """Members that are missing, or unknown, are left to the codec's own schema."""
    if not configuration.keys() >= {"cname", "clevel", "shuffle", "blocksize"}:
        return configuration
    shuffle = configuration["shuffle"]
    if type(shuffle) is not int or shuffle not in (0, 1, 2, -1):
        raise refusal(f"{pointer}/shuffle", f"must be one of 0, 1, 2, -1, not {shuffle!r}")
    in_words = codec_ids.definition({"id": "blosc", **configuration}, typesize)
    return configuration | dict(in_words.configuration)
