"""Codecs under the class names of zarr-python."""

from __future__ import annotations

from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from zarr_core.extension import ExtensionDefinition

from zarr_compat.zarr_python import is_zarr_python_used

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    "numcodecs_of",
    "v3_codec_of",
]


class Codec:
    """The name and configuration of a codec, which the core resolves.

    Parameters
    ----------
    name : str
        Its name in metadata documents.
    **configuration
        Its configuration.  None stands for the default of the codec.
    """

    def __init__(self, name: str, /, **configuration: Any) -> None:
        set_values = {
            key: _plain(value) for key, value in configuration.items() if value is not None
        }
        self._definition = ExtensionDefinition(name, set_values)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Codec:
        """Create a codec from a definition."""
        return Codec(document["name"], **document.get("configuration", {}))

    def to_dict(self) -> dict[str, Any]:
        """Return the definition, as in metadata documents."""
        document: Any = self._definition.to_json()
        return {"name": document} if isinstance(document, str) else document

    def to_definition(self) -> ExtensionDefinition:
        """Return the definition for the core."""
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


class _KnownCodec(Codec):
    """A codec with a class of its own.

    Parameters
    ----------
    codec : str
        Keyword of a subclass: its name in metadata documents.
    **defaults
        Keywords of a subclass: the arguments with their defaults.
    """

    _name: ClassVar[str]
    _defaults: ClassVar[Mapping[str, Any]]
    classes: ClassVar[dict[str, type[Codec]]] = {}

    def __init_subclass__(cls, codec: str, **defaults: Any) -> None:
        super().__init_subclass__()
        cls._name, cls._defaults = codec, defaults
        _KnownCodec.classes[codec] = cls

    def __init__(self, **configuration: Any) -> None:
        if unknown := configuration.keys() - self._defaults.keys():
            raise TypeError(f"{type(self).__name__} has no arguments {sorted(unknown)}")
        super().__init__(self._name, **{**self._defaults, **configuration})


class BytesCodec(_KnownCodec, codec="bytes", endian="little"):
    """``bytes``."""


class BloscCodec(
    _KnownCodec, codec="blosc", typesize=None, cname="zstd", clevel=5, shuffle=None, blocksize=0
):
    """``blosc``."""

    @property
    def typesize(self) -> int:
        """Size of an element; 1 if the array determines it."""
        size: Any = self._definition.configuration.get("typesize", 1)
        return int(size)

    @property
    def shuffle(self) -> str:
        """Kind of shuffle; by default that for :attr:`typesize`."""
        default = "bitshuffle" if self.typesize == 1 else "shuffle"
        shuffle: Any = self._definition.configuration.get("shuffle", default)
        return str(shuffle)


class GzipCodec(_KnownCodec, codec="gzip", level=5):
    """``gzip``."""


class ZstdCodec(_KnownCodec, codec="zstd", level=0, checksum=False):
    """``zstd``."""


class Crc32cCodec(_KnownCodec, codec="crc32c"):
    """``crc32c``."""


class TransposeCodec(_KnownCodec, codec="transpose", order=None):
    """``transpose``."""

    def __init__(self, *, order: Any) -> None:
        super().__init__(order=list(order))


class VLenUTF8Codec(_KnownCodec, codec="vlen-utf8"):
    """``vlen-utf8``."""


class VLenBytesCodec(_KnownCodec, codec="vlen-bytes"):
    """``vlen-bytes``."""


class ShardingCodec(
    _KnownCodec, codec="sharding_indexed",
    chunk_shape=None, codecs=(BytesCodec(),), index_codecs=(BytesCodec(), Crc32cCodec()),
    index_location="end",
):  # fmt: skip
    """``sharding_indexed``."""

    def __init__(self, *, chunk_shape: Any, **configuration: Any) -> None:
        members = {name: value for name, value in configuration.items() if value}
        super().__init__(chunk_shape=list(chunk_shape), **members)


def codec_of(definition: ExtensionDefinition) -> Codec:
    """Return the codec of a definition, with its class in this module."""
    codec = object.__new__(_KnownCodec.classes.get(definition.name, Codec))
    codec.__dict__["_definition"] = definition
    return codec


def v3_codec_of(definition: ExtensionDefinition) -> Any:
    """Return the codec of a definition: of zarr-python's class if it has the codec."""
    if not is_zarr_python_used():
        return codec_of(definition)
    import_module("zarr.codecs")  # registers the codecs
    document = codec_of(definition).to_dict()
    try:
        cls = import_module("zarr.registry").get_codec_class(definition.name)
        return cls.from_dict(document)
    except Exception:  # unknown, or third-party code
        return codec_of(definition)


def numcodecs_of(definition: ExtensionDefinition) -> Any:
    """Return the object of numcodecs for a codec of version 2, if numcodecs has it."""
    from numcodecs import registry  # slow to import

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
