"""Conversion of the compression of version 1 from and to a configuration of numcodecs.

Specification: version 1, "Metadata", which only names libraries.  Their options are those of
zarr 1.0 and 1.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON

_LZMA = ("format", "check", "preset", "filters")
_ZLIB_LEVEL = 6  # the level that zlib uses for -1


def config_of(compression: str | None, options: Any) -> dict[str, JSON] | None:
    """Return the configuration of numcodecs; None for chunks that are not compressed."""
    match compression:
        case "blosc":
            members: Mapping[str, JSON] = {name: options[name] for name in ("cname", "clevel")}
            return {"id": "blosc", **members, "shuffle": options["shuffle"], "blocksize": 0}
        case "zlib" | "gzip":  # "gzip" is an alias of zlib
            return {"id": "zlib", "level": options}
        case "bz2":
            return {"id": "bz2", "level": options}
        case "lzma":
            return {"id": "lzma", **{name: options[name] for name in _LZMA}}
    return None


def options_of(config: Mapping[str, Any] | None) -> tuple[str, JSON]:
    """Return ``compression`` and ``compression_opts``; ValueError if version 1 lacks it."""
    if config is None:
        return "none", None
    match config["id"]:
        case "blosc" if config.get("cname") == "zstd":
            raise ValueError(
                "zarr 1.1 contains zstd from before its format was final, and reads no newer frames; "
                "choose lz4 or zlib"
            )
        case "blosc":
            return "blosc", {
                "cname": config.get("cname", "lz4"),
                "clevel": config.get("clevel", 5),
                "shuffle": config.get("shuffle", 1),
            }
        case "zlib":
            level = config.get("level", 1)
            return "zlib", _ZLIB_LEVEL if level == -1 else level
        case "bz2":
            return "bz2", config.get("level", 1)
        case "lzma":
            defaults = {"format": 1, "check": -1, "preset": None, "filters": None}
            return "lzma", {name: config.get(name, value) for name, value in defaults.items()}
        case other:
            raise ValueError(
                f"version 1 does not support the compressor {other!r}; choose none, blosc, "
                "numcodecs.zlib, numcodecs.bz2 or numcodecs.lzma"
            )
