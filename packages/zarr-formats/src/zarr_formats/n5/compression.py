"""The member ``compression`` of an array: a type with its parameters, as a codec.

Specification: N5 file-system specification, item 4; the packages n5-blosc for ``blosc``,
n5-zstandard for ``zstd``.  What is optional there is optional here.  zarr-python 2 writes
any codec of numcodecs, with its ``id``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import ExtensionDefinition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON

OLD_TYPES = ("raw", "gzip", "bzip2", "lz4", "xz")
"""What ``compressionType`` may be, which took the place of ``compression`` in version 0."""

_ZLIB_LEVEL = 6  # what zlib takes for the level -1
_XZ = 1  # lzma.FORMAT_XZ
_SHUFFLES = ("noshuffle", "shuffle", "bitshuffle")
_LARGEST_TYPESIZE = 255  # of Blosc
_LARGEST_CHECK = 4  # lzma.CHECK_CRC64, the default of .xz files


def codec_of(compression: Mapping[str, Any], item_size: int) -> ExtensionDefinition | None:
    """Return the codec that a compression names; None for ``raw``.

    Unknown types become names that begin with ``n5.``, under which plugins may provide them.
    """
    members = dict(compression)
    match members.pop("type"):
        case "raw":
            return None
        case "gzip":
            level = members.get("level", -1)
            name = "numcodecs.zlib" if members.get("useZlib") else "gzip"
            return ExtensionDefinition(name, {"level": _ZLIB_LEVEL if level == -1 else level})
        case "bzip2":
            return ExtensionDefinition("numcodecs.bz2", {"level": members.get("blockSize", 9)})
        case "xz":
            return _lzma({"format": _XZ, "preset": members.get("preset", 6)})
        case "lzma":
            return _lzma(members)
        case "lz4" if "acceleration" in members:
            return ExtensionDefinition("n5.lz4", {"acceleration": members["acceleration"]})
        case "lz4":
            return ExtensionDefinition("n5.lz4", {"blockSize": members.get("blockSize", 1 << 16)})
        case "zstd":
            checksum = members.get("checksum", False)
            return ExtensionDefinition(
                "zstd", {"level": members.get("level", 3), "checksum": checksum}
            )
        case "blosc":
            return _blosc(members, item_size)
        case other if "id" in members:  # zarr-python wrote it
            del members["id"]
            return ExtensionDefinition(f"numcodecs.{other}", members)
        case other:
            return ExtensionDefinition(f"n5.{other}", members)


def _lzma(members: Mapping[str, Any]) -> ExtensionDefinition:
    defaults = {"format": _XZ, "check": -1, "preset": None, "filters": None}
    return ExtensionDefinition(
        "numcodecs.lzma", {name: members.get(name, value) for name, value in defaults.items()}
    )


def _blosc(members: Mapping[str, Any], item_size: int) -> ExtensionDefinition:
    typesize = item_size if 0 < item_size <= _LARGEST_TYPESIZE else 1
    shuffle = members["shuffle"]
    if shuffle == -1:  # chosen by the size of an element
        shuffle = 2 if typesize == 1 else 1
    configuration: dict[str, JSON] = {
        "cname": members["cname"],
        "clevel": members["clevel"],
        "shuffle": _SHUFFLES[shuffle],
        "typesize": typesize,
        "blocksize": members.get("blocksize", 0),
    }
    return ExtensionDefinition("blosc", configuration)


def compression_of(definition: ExtensionDefinition | None) -> dict[str, JSON]:
    """Return the compression of a codec; ValueError, which says which there are, if N5 has none.

    Levels and the like, which only writers need, are given up where N5 has no word for them.
    """
    if definition is None:
        return {"type": "raw"}
    members: Mapping[str, Any] = definition.configuration
    match definition.name:
        case "gzip" | "numcodecs.gzip":
            return {"type": "gzip", "level": members.get("level", -1), "useZlib": False}
        case "numcodecs.zlib":
            return {"type": "gzip", "level": members.get("level", -1), "useZlib": True}
        case "numcodecs.bz2":
            return {"type": "bzip2", "blockSize": members.get("level", 1)}
        case "numcodecs.lzma" if _is_xz(members):
            preset = members.get("preset")
            return {"type": "xz", "preset": 6 if preset is None else preset}
        case "numcodecs.lz4":
            return {"type": "lz4", "blockSize": 1 << 16}
        case "n5.lz4" if members.get("acceleration") is not None:
            return {"type": "lz4", "id": "lz4", "acceleration": members["acceleration"]}
        case "n5.lz4":
            return {"type": "lz4", "blockSize": members.get("blockSize", 1 << 16)}
        case "zstd" | "numcodecs.zstd":
            return {"type": "zstd", "level": members.get("level", 0)}
        case "blosc" | "numcodecs.blosc":
            return _from_blosc(members)
        case name if name.startswith("n5.") and name != "n5.block":
            return {"type": name.removeprefix("n5."), **members}
        case name:
            raise ValueError(
                f"N5 does not support the compressor {name!r}; choose none, gzip, numcodecs.zlib, "
                "numcodecs.bz2, numcodecs.lzma (as .xz), numcodecs.lz4, zstd or blosc"
            )


def _is_xz(members: Mapping[str, Any]) -> bool:
    """Whether the Java library reads what is written so."""
    return (
        members.get("format", _XZ) == _XZ
        and members.get("check", -1) in (-1, _LARGEST_CHECK)
        and not members.get("filters")
    )


def _from_blosc(members: Mapping[str, Any]) -> dict[str, JSON]:
    shuffle = members.get("shuffle", 1)
    return {
        "type": "blosc",
        "cname": members.get("cname", "lz4"),
        "clevel": members.get("clevel", 5),
        "shuffle": _SHUFFLES.index(shuffle) if isinstance(shuffle, str) else shuffle,
        "blocksize": members.get("blocksize", 0),
    }
