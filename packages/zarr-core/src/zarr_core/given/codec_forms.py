"""Codec definitions from whatever a user gave for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.definition import ExtensionDefinition
from zarr_core.engine.chain import codec_definition
from zarr_core.errors import CodecChainError, ExtensionError
from zarr_core.given.definitions import definition_of
from zarr_core.interfaces.codec import ArrayToBytesCodec, BytesToBytesCodec, Codec
from zarr_core.registry.listing import names
from zarr_core.registry.resolve import resolve
from zarr_core.strictjson import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_core.definition import JSON
    from zarr_core.interfaces.data_type import DataType

DEFAULT_COMPRESSOR = ExtensionDefinition("zstd", {"level": 0, "checksum": True})
"""What compresses a new array whose creator said nothing: fast, and it notices damage."""

INDEX_CODECS = (
    ExtensionDefinition("bytes", {"endian": "little"}),
    ExtensionDefinition("crc32c"),
)
"""What the specification of ``sharding_indexed`` recommends for the index."""


def chain_of(
    filters: Any, serializer: Any, compressors: Any, byte_order: str | None, data_type: DataType
) -> list[ExtensionDefinition]:
    """The ``codecs`` list for what a user gave.

    Parameters
    ----------
    filters, compressors
        ``"auto"``, None, one codec or a sequence of codecs.
    serializer
        ``"auto"`` or one codec.
    byte_order : {"little", "big"}, optional
        For ``serializer="auto"``.
    data_type : DataType
        Of the array; knows the serializer that ``"auto"`` means.

    Notes
    -----
    ``"auto"`` means no filters, the serializer that the data type names, and zstd with
    checksums if its codec is installed, else no compression.  A filter that is an
    array -> bytes codec, as those of version 2 for objects are, takes the place of the
    serializer, and whatever follows it precedes the compressors; the serializer comes
    before a bytes -> bytes codec among them.
    """
    before = [] if is_auto(filters) else several(filters)
    if serializer is not None and not is_auto(serializer):
        before.append(one(serializer))
    elif not any(_is(codec, ArrayToBytesCodec) for codec in before):
        middle = data_type.default_serializer()
        if middle.name == "bytes" and byte_order is not None:
            middle = ExtensionDefinition("bytes", {"endian": byte_order})
        at = next((n for n, codec in enumerate(before) if _is(codec, BytesToBytesCodec)), None)
        before.insert(len(before) if at is None else at, middle)
    if not is_auto(compressors):
        after = several(compressors)
    else:
        after = [DEFAULT_COMPRESSOR] if "zstd" in names("codec") else []
    return [*before, *after]


def _is(definition: ExtensionDefinition, kind: type[Codec]) -> bool:
    """Whether a codec is of one of the three kinds; one that nobody knows is reported elsewhere."""
    try:
        codec = resolve("codec", definition)
    except ExtensionError:
        return False
    return codec is not None and issubclass(codec, kind)


def sharded(
    chunk_shape: tuple[int, ...], codecs: list[ExtensionDefinition], index_location: str
) -> list[ExtensionDefinition]:
    """The ``codecs`` list of an array whose chunks are kept in shards."""
    configuration: dict[str, JSON] = {
        "chunk_shape": list(chunk_shape),
        "codecs": [definition.to_json() for definition in codecs],
        "index_codecs": [definition.to_json() for definition in INDEX_CODECS],
        "index_location": index_location,
    }
    return [ExtensionDefinition("sharding_indexed", configuration)]


def one(given: Any) -> ExtensionDefinition:
    """The definition of one codec.

    Parameters
    ----------
    given : str, dict, ExtensionDefinition, Codec or object with ``get_config``
        A name, a definition, a codec, or a codec of numcodecs.

    Raises
    ------
    CodecChainError
        If it is none of these.
    """
    if isinstance(given, str | Codec | ExtensionDefinition):
        return codec_definition(given)
    if isinstance(given, dict) and "id" in given:
        return _from_numcodecs(given)
    # Codecs of zarr-python's that wrap numcodecs have both.
    if hasattr(given, "get_config") and not hasattr(given, "to_dict"):
        return _from_numcodecs(given.get_config())
    try:
        return definition_of(given, "codec")
    except (TypeError, ValueError) as error:
        raise CodecChainError(str(error)) from error


def several(given: Any) -> list[ExtensionDefinition]:
    """The definitions of one codec, of several, or of none."""
    if given is None or given is False:
        return []
    if isinstance(given, str | dict | ExtensionDefinition | Codec) or not hasattr(
        given, "__iter__"
    ):
        return [one(given)]
    items: Iterable[Any] = given
    return [one(item) for item in items]


def is_auto(given: Any) -> bool:
    """Whether the choice is left to this library."""
    return isinstance(given, str) and given == "auto"


def _from_numcodecs(config: dict[str, Any]) -> ExtensionDefinition:
    """A numcodecs configuration under the name and with the words of version 3."""
    configuration: dict[str, Any] = plain(config, "codec")  # type: ignore[assignment]  # of a dict
    name = str(configuration.pop("id"))
    if name == "blosc":
        shuffle = configuration.pop("shuffle", -1)
        if shuffle in _BLOSC_SHUFFLES:
            configuration["shuffle"] = _BLOSC_SHUFFLES[shuffle]
    # Others of one name have other configurations, such as "bitround".
    known = names("codec")
    prefixed = f"numcodecs.{name}"
    if name in known and (name in _SAME_IN_BOTH or prefixed not in known):
        return ExtensionDefinition(name, configuration)
    return ExtensionDefinition(prefixed, configuration)


_SAME_IN_BOTH = ("blosc", "gzip", "zstd")
_BLOSC_SHUFFLES = {0: "noshuffle", 1: "shuffle", 2: "bitshuffle"}
