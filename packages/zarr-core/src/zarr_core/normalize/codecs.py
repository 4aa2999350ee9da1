"""Normalization of codecs."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from zarr_core.definition import ExtensionDefinition
from zarr_core.engine.chain import CODEC_KINDS, codec_definition
from zarr_core.errors import (
    CodecChainError,
    ExtensionConfigurationError,
    ExtensionError,
    MetadataValidationError,
    UnknownExtensionError,
)
from zarr_core.interfaces.codec import BytesToBytesCodec, Codec
from zarr_core.known_extensions import ARGUMENTS
from zarr_core.messages import warn_once
from zarr_core.normalize.definitions import parse_definition
from zarr_core.optional import optional_function
from zarr_core.registry.discovery import is_provided
from zarr_core.registry.hints import install_hint
from zarr_core.registry.resolve import create_extension, find_provider
from zarr_core.strictjson import MAX_DEPTH, plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_core.definition import JSON
    from zarr_core.interfaces.data_type import DataType

DEFAULT_COMPRESSOR = ExtensionDefinition(**ARGUMENTS["compressors"])
SHARDING = ExtensionDefinition(**ARGUMENTS["shards"])
TRANSPOSE = ExtensionDefinition(**ARGUMENTS["order"])
VARIABLE_GRID = ExtensionDefinition(**ARGUMENTS["chunks"])


def codec(name: str, /, **configuration: Any) -> ExtensionDefinition:
    """Create the definition of a codec from its name and its configuration.

    Parameters
    ----------
    name : str
        Name of the codec, such as ``"gzip"``.
    **configuration
        Members of its configuration.  Missing members have the defaults of the codec.
        Codecs within the configuration have any form that ``compressors`` accepts.

    Returns
    -------
    ExtensionDefinition
        Accepted wherever codecs are: ``filters``, ``serializer``, ``compressors``, and
        within the configuration of another codec.

    Raises
    ------
    UnknownExtensionError
        If no such codec is installed.
    ExtensionConfigurationError
        If the codec does not accept the configuration.

    Examples
    --------
    >>> codec("bytes", endian="little").configuration
    {'endian': 'little'}
    """
    members = {member: configuration_to_json(value) for member, value in configuration.items()}
    try:
        document = plain(members, f"codec {name!r}", "/configuration")
    except MetadataValidationError as error:
        raise ExtensionConfigurationError("codec", name, "", error.problems) from error
    assert isinstance(document, dict)
    definition = ExtensionDefinition(name, document)
    create_extension("codec", definition, complete=False)
    return definition


def configuration_to_json(value: Any, depth: int = 0) -> Any:
    """Convert a member of a configuration; extensions in it become their definitions."""
    if depth > MAX_DEPTH:
        return value  # rejected with the document
    if isinstance(value, Codec | ExtensionDefinition) or hasattr(value, "get_config"):
        return parse_codec(value).to_json()
    if hasattr(value, "to_definition"):
        return value.to_definition().to_json()
    if isinstance(value, dict):
        return {key: configuration_to_json(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [configuration_to_json(item, depth + 1) for item in value]
    return value


def parse_codec_chain(
    filters: Any, serializer: Any, compressors: Any, byte_order: str | None, data_type: DataType
) -> list[ExtensionDefinition]:
    """Return the ``codecs`` of an array; ``byte_order`` is that of the default serializer."""
    # As in version 2, filters can contain an array -> bytes codec, for objects, and compressors can
    # begin with codecs of arrays, for images; an array -> bytes codec replaces "bytes".
    codecs = [] if is_auto(filters) else parse_codecs(filters)
    last = [] if is_auto(compressors) else parse_codecs(compressors)
    while last and codec_kind(last[0]) == 0:
        codecs.append(last.pop(0))
    replaces_bytes = bool(last) and codec_kind(last[0]) == 1
    array_to_bytes = None if serializer is None or is_auto(serializer) else parse_codec(serializer)
    if array_to_bytes and not (replaces_bytes and array_to_bytes.name == "bytes"):
        codecs.append(array_to_bytes)
    elif not replaces_bytes and not any(codec_kind(codec) == 1 for codec in codecs):
        default = data_type.default_serializer()
        if default.name == "bytes" and byte_order is not None:
            default = ExtensionDefinition("bytes", {"endian": byte_order})
        bytes_to_bytes = (index for index, codec in enumerate(codecs) if codec_kind(codec) == 2)
        codecs.insert(next(bytes_to_bytes, len(codecs)), default)
    if not is_auto(compressors):
        codecs += last
    elif is_provided("codec", DEFAULT_COMPRESSOR.name):
        codecs.append(DEFAULT_COMPRESSOR)
    else:
        warn_once(
            f"new arrays are not compressed, as the default compressor {DEFAULT_COMPRESSOR.name!r} "
            "is not installed; compressors=None is without this warning. In a frozen program, include "
            "the metadata of the distributions, as with PyInstaller's --copy-metadata zarr-codecs. "
            f"{install_hint('codec', DEFAULT_COMPRESSOR.name)}"
        )
    return codecs


def codec_kind(definition: ExtensionDefinition) -> int | None:
    """The position of a codec's interface in ``CODEC_KINDS``; None for an unknown codec."""
    # By the class: members that the codec requires can be missing.
    try:
        provider = find_provider("codec", definition)
    except UnknownExtensionError:
        return None
    cls = object if provider is None else provider.load()
    kinds = [i for i, kind in enumerate(CODEC_KINDS) if issubclass(cls, kind)]
    if len(kinds) != 1:  # one class can be of several kinds, by its configuration
        codec = _created(definition)
        kinds = [i for i, kind in enumerate(CODEC_KINDS) if isinstance(codec, kind)]
    return kinds[0] if kinds else None


def is_compressor(definition: ExtensionDefinition) -> bool:
    """Whether a codec encodes bytes to fewer bytes, as checksums and base64 do not."""
    codec = _created(definition)
    with suppress(Exception):  # it does not encode these bytes, or its library is missing
        if isinstance(codec, BytesToBytesCodec) and codec.encoded_size(4096) is None:
            return len(codec.encode(bytes(4096), 4096)) < 4096
    return False


def _created(definition: ExtensionDefinition) -> Any:
    try:
        return create_extension("codec", definition, complete=False)
    except ExtensionError:  # raised again for the chain of codecs
        return None


def sharded(
    chunk_shape: tuple[int, ...], codecs: list[ExtensionDefinition], index_location: str
) -> list[ExtensionDefinition]:
    """The ``codecs`` of an array with shards."""
    configuration: dict[str, JSON] = {
        "chunk_shape": list(chunk_shape),
        "codecs": [definition.to_json() for definition in codecs],
        **SHARDING.configuration,
        "index_location": index_location,
    }
    return [ExtensionDefinition(SHARDING.name, configuration)]


def parse_codec(codec: Any) -> ExtensionDefinition:
    """Return the definition of a codec in any form; raises a CodecChainError for anything else."""
    if isinstance(codec, str | Codec | ExtensionDefinition):
        return codec_definition(codec)
    if isinstance(codec, type):
        raise CodecChainError(f"{codec.__name__} is a class; pass an object: {codec.__name__}(...)")
    # Codecs of zarr-python that wrap numcodecs have both methods.
    if hasattr(codec, "get_config") and not hasattr(codec, "to_dict"):
        codec = codec.get_config()
    if isinstance(codec, dict) and "id" in codec:
        definition: ExtensionDefinition = optional_function("a codec of numcodecs")(codec)
        return definition
    try:
        return parse_definition(codec, "codec")
    except (TypeError, ValueError) as error:
        raise CodecChainError(str(error)) from error


def parse_codecs(codecs: Any) -> list[ExtensionDefinition]:
    """Return the definitions of one codec, of a sequence of codecs, or of none (None, False)."""
    if codecs is None or codecs is False:
        return []
    if isinstance(codecs, str | dict | ExtensionDefinition | Codec) or not hasattr(
        codecs, "__iter__"
    ):
        return [parse_codec(codecs)]
    items: Iterable[Any] = codecs
    return [parse_codec(item) for item in items]


def is_auto(value: Any) -> bool:
    """Whether an argument is ``"auto"``; other objects, such as arrays, are not compared."""
    return isinstance(value, str) and value == "auto"
