"""Conversion of codecs named by the ids of numcodecs, in older documents.

Blosc, gzip and zstd are codecs of version 3 with different configurations; the others have
the name ``numcodecs.<id>`` there.  Two object codecs are registered without prefix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import ExtensionDefinition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON

ARRAY_TO_ARRAY, ARRAY_TO_BYTES, BYTES_TO_BYTES = range(3)

KINDS: dict[str, int] = {
    **dict.fromkeys(
        ("delta", "fixedscaleoffset", "quantize", "bitround", "astype", "packbits", "categorize"),
        ARRAY_TO_ARRAY,
    ),
    **dict.fromkeys(
        ("vlen-utf8", "vlen-bytes", "vlen-array", "json2", "msgpack2", "pickle", "zfpy", "pcodec"),
        ARRAY_TO_BYTES,
    ),
    **dict.fromkeys(
        (
            "blosc", "zstd", "lz4", "zlib", "gzip", "bz2", "lzma", "shuffle",
            "crc32", "crc32c", "adler32", "fletcher32", "jenkins_lookup3",
        ),
        BYTES_TO_BYTES,
    ),
}  # fmt: skip
"""What kind of codec each id is, in the words of version 3."""

CHECKSUMS_AND_SHUFFLES = frozenset(
    {"shuffle", "crc32", "crc32c", "adler32", "fletcher32", "jenkins_lookup3", "base64"}
)
"""Codecs from bytes to bytes that are filters in version 2, never the compressor."""

COMPRESSORS = frozenset({"zfpy", "pcodec"})
"""Codecs from arrays to bytes that take the place of the compressor."""

_UNPREFIXED = ("vlen-utf8", "vlen-bytes")
_SHUFFLES = {0: "noshuffle", 1: "shuffle", 2: "bitshuffle"}
_SHUFFLE_NUMBERS: dict[Any, int] = {word: number for number, word in _SHUFFLES.items()}
_LARGEST_TYPESIZE = 255  # the largest type size of a Blosc frame; larger ones are written as 1


def definition(config: Mapping[str, JSON], typesize: int = 1) -> ExtensionDefinition:
    """Convert a configuration of numcodecs, whose missing members have its defaults, to a codec.

    ``typesize``, of the input elements, is for the shuffle of Blosc.  Frames of Blosc, gzip and
    zstd contain everything that decoding requires, so further members of their configurations are
    ignored.
    """
    name = str(config["id"])
    match name:
        case "blosc":
            return ExtensionDefinition("blosc", _blosc(config, typesize))
        case "gzip" if config.get("level", 1) in range(10):
            return ExtensionDefinition("gzip", {"level": config.get("level", 1)})
        case "zstd":
            level, checksum = config.get("level", 1), config.get("checksum", False)
            return ExtensionDefinition("zstd", {"level": level, "checksum": checksum})
    rest = {key: value for key, value in config.items() if key != "id"}
    if name == "shuffle" and rest.get("elementsize") == 0:
        rest["elementsize"] = typesize  # the meaning in netCDF-C; numcodecs would not shuffle
    return ExtensionDefinition(name if name in _UNPREFIXED else f"numcodecs.{name}", rest)


def config(codec: ExtensionDefinition) -> dict[str, JSON]:
    """Convert a codec to a configuration of numcodecs; ValueError if it has no equivalent codec."""
    configuration = codec.configuration
    match codec.name:
        case "blosc":
            return {
                "id": "blosc",
                "cname": configuration.get("cname"),
                "clevel": configuration.get("clevel"),
                "shuffle": _SHUFFLE_NUMBERS.get(configuration.get("shuffle"), -1),
                "blocksize": configuration.get("blocksize", 0),
            }
        case "gzip":
            return {"id": "gzip", "level": configuration.get("level", 1)}
        case "zstd":
            checksum = {"checksum": True} if configuration.get("checksum") else {}
            return {"id": "zstd", "level": configuration.get("level", 1), **checksum}
        case "crc32c":
            return {"id": "crc32c", "location": "end"}
    name = codec.name.removeprefix("numcodecs.")
    if codec.name != name or name in _UNPREFIXED:
        return {"id": name, **configuration}
    raise ValueError(f"version 2 has no codec for {codec.name!r}")


def _blosc(config: Mapping[str, JSON], typesize: int) -> dict[str, JSON]:
    shuffle: Any = config.get("shuffle", 1)
    if shuffle == -1:
        shuffle = 2 if typesize == 1 else 1
    known = type(shuffle) is int and shuffle in _SHUFFLES
    size = config.get("typesize")
    return {
        "cname": config.get("cname", "lz4"),
        "clevel": config.get("clevel", 5),
        "shuffle": _SHUFFLES[shuffle] if known else shuffle,
        "typesize": size or (typesize if typesize <= _LARGEST_TYPESIZE else 1),
        "blocksize": config.get("blocksize", 0),
    }
