"""Codecs by the names of their classes in zarr-python, as definitions of what they are."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import CodecChain, ExtensionDefinition

if TYPE_CHECKING:
    from collections.abc import Mapping

    import zarr_core

__all__ = [
    "BloscCodec",
    "BytesCodec",
    "Codec",
    "Crc32cCodec",
    "GzipCodec",
    "ShardingCodec",
    "TransposeCodec",
    "VLenBytesCodec",
    "VLenUTF8Codec",
    "ZstdCodec",
    "codec_of",
    "definitions_of",
    "numcodecs_of",
]


class Codec:
    """The name and the configuration of a codec; the core finds the code for it.

    Parameters
    ----------
    name : str
        Its name in metadata.
    **configuration
        Its configuration.  What is None is left to the codec.
    """

    def __init__(self, name: str, /, **configuration: Any) -> None:
        given = {key: _plain(value) for key, value in configuration.items() if value is not None}
        self._definition = ExtensionDefinition(name, given)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Codec:
        """The codec of a definition."""
        return Codec(document["name"], **document.get("configuration", {}))

    def to_dict(self) -> dict[str, Any]:
        """The definition, as in metadata."""
        document: Any = self._definition.to_json()
        return {"name": document} if isinstance(document, str) else document

    def to_definition(self) -> ExtensionDefinition:
        """The definition, for the core."""
        return self._definition

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self._definition.configuration:
            return self._definition.configuration[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Codec) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self._definition.name)

    def __repr__(self) -> str:
        configuration = self._definition.configuration
        arguments = ", ".join(f"{key}={value!r}" for key, value in configuration.items())
        return f"{type(self).__name__}({arguments or repr(self._definition.name)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return codec_of, (self._definition,)


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Codec):
        return value.to_dict()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


class BytesCodec(Codec):
    """``bytes``."""

    def __init__(self, *, endian: Any = "little") -> None:
        super().__init__("bytes", endian=endian)


class BloscCodec(Codec):
    """``blosc``."""

    def __init__(
        self,
        *,
        typesize: int | None = None,
        cname: Any = "zstd",
        clevel: int = 5,
        shuffle: Any = None,
        blocksize: int = 0,
    ) -> None:
        super().__init__(
            "blosc", typesize=typesize, cname=cname, clevel=clevel, shuffle=shuffle,
            blocksize=blocksize,
        )  # fmt: skip


class GzipCodec(Codec):
    """``gzip``."""

    def __init__(self, *, level: int = 5) -> None:
        super().__init__("gzip", level=level)


class ZstdCodec(Codec):
    """``zstd``."""

    def __init__(self, *, level: int = 0, checksum: bool = False) -> None:
        super().__init__("zstd", level=level, checksum=checksum)


class Crc32cCodec(Codec):
    """``crc32c``."""

    def __init__(self) -> None:
        super().__init__("crc32c")


class TransposeCodec(Codec):
    """``transpose``."""

    def __init__(self, *, order: Any) -> None:
        super().__init__("transpose", order=list(order))


class VLenUTF8Codec(Codec):
    """``vlen-utf8``."""

    def __init__(self) -> None:
        super().__init__("vlen-utf8")


class VLenBytesCodec(Codec):
    """``vlen-bytes``."""

    def __init__(self) -> None:
        super().__init__("vlen-bytes")


class ShardingCodec(Codec):
    """``sharding_indexed``."""

    def __init__(
        self,
        *,
        chunk_shape: Any,
        codecs: Any = None,
        index_codecs: Any = None,
        index_location: Any = "end",
    ) -> None:
        super().__init__(
            "sharding_indexed", chunk_shape=list(chunk_shape), codecs=list(codecs or [BytesCodec()]),
            index_codecs=list(index_codecs or [BytesCodec(), Crc32cCodec()]),
            index_location=index_location,
        )  # fmt: skip


_CLASSES: dict[str, type[Codec]] = {
    "blosc": BloscCodec,
    "bytes": BytesCodec,
    "crc32c": Crc32cCodec,
    "gzip": GzipCodec,
    "sharding_indexed": ShardingCodec,
    "transpose": TransposeCodec,
    "vlen-bytes": VLenBytesCodec,
    "vlen-utf8": VLenUTF8Codec,
    "zstd": ZstdCodec,
}


def codec_of(definition: ExtensionDefinition) -> Codec:
    """The codec that a definition of the core is of, by its class here."""
    made = object.__new__(_CLASSES.get(definition.name, Codec))
    made.__dict__["_definition"] = definition
    return made


def definitions_of(array: zarr_core.Array) -> list[ExtensionDefinition]:
    """The definitions of the codecs of a chunk, in the order of encoding."""
    return [*CodecChain.of(*array.filters, array.serializer, *array.compressors).definitions]


def numcodecs_of(definition: ExtensionDefinition) -> Any:
    """The object of numcodecs that version 2 had for a codec; of what it did not have, as here."""
    from numcodecs import registry  # noqa: PLC0415 - lazy: slow, and for version 2 only

    configuration: dict[str, Any] = dict(definition.configuration)
    name = definition.name.removeprefix("numcodecs.")
    if definition.name == "blosc":
        configuration.pop("typesize", None)
        configuration["shuffle"] = _SHUFFLES.get(configuration.get("shuffle", ""), -1)
    try:
        return registry.get_codec({"id": name, **configuration})  # type: ignore[no-untyped-call]  # untyped
    except (TypeError, ValueError, KeyError):
        return codec_of(definition)


_SHUFFLES = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}
