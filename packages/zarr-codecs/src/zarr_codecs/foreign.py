"""numcodecs.<id> codecs that other distributions register with numcodecs.

Every codec in the entry-point group ``numcodecs.codecs``, and every codec registered with
``numcodecs.register_codec``, is available as ``numcodecs.<id>``.  The codecs of this
distribution are not replaced.

Name:           numcodecs.<id>
Specification:  that of the distribution
Configuration:  result of ``get_config`` of the numcodecs codec, without ``id``
Schema:         none; the code checks it
Partial decode: no
Compatible:     zarr-python, if it has a class with that name

Version 3 distinguishes three kinds of codecs, numcodecs does not.  The kind is therefore
determined by a probe: a codec that encodes plain bytes to elements is a filter
(array -> array); one that restores the bytes is a compressor (bytes -> bytes); any other
requires elements, or can only decode, and is a serializer (array -> bytes).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from zarr_core.errors import MetadataError
from zarr_core.extension import (
    ArrayToArrayCodec,
    ArrayToBytesCodec,
    BytesToBytesCodec,
    ChunkDecodeError,
    Codec,
    Provider,
    hookimpl,
    installed_entry_points,
    strictjson,
)

from zarr_codecs import _elements

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from zarr_core.extension import JSON, ArrayRepresentation, Buffer, ExtensionDefinition

    Array = np.ndarray[Any, Any]

_GROUP = "numcodecs.codecs"
_ADAPTER = "zarr_codecs.foreign:adapt"
# It runs code from stored data; a user enables it by name, see zarr_codecs.pickle.
_EXCLUDED = frozenset({"pickle"})
_PROBE = bytes(range(64))


@hookimpl
def zarr_list_extensions() -> Iterable[Provider]:
    """Yield providers for the codecs that numcodecs would find, without importing them."""
    yield Provider(
        "codec", "numcodecs.base64", "numcodecs.base64:Base64", "numcodecs", "", _ADAPTER
    )
    for group, name, target, distribution, version in installed_entry_points(_GROUP):
        if group == _GROUP and name not in _EXCLUDED:
            yield Provider("codec", f"numcodecs.{name}", target, distribution, version, _ADAPTER)


def registered() -> Iterable[Provider]:
    """Yield providers for codec classes registered with ``numcodecs.register_codec``."""
    registry = sys.modules.get("numcodecs.registry")
    classes = (
        {} if registry is None else dict(registry.codec_registry)
    )  # not imported, nothing registered
    for name, library in classes.items():
        if name not in _EXCLUDED:
            distribution = library.__module__.partition(".")[0]
            target = f"{library.__module__}:{library.__qualname__}"
            yield Provider(
                "codec", f"numcodecs.{name}", target, distribution, "", _ADAPTER, extension=library
            )


@hookimpl
def zarr_supply_extension(
    extension_point: str, definition: ExtensionDefinition
) -> tuple[Provider, ...]:
    """Return the providers of a name, or else the codec that programs registered for it."""
    name = definition.name
    for providers in (zarr_list_extensions, registered):
        matching = tuple(provider for provider in providers() if provider.name == name)
        if extension_point == "codec" and matching:
            return matching
    return ()


def adapt(provider: Provider, code: Any) -> type[Codec]:
    """Return a codec class that wraps a codec class for numcodecs."""
    return _adapt_class(provider.name, code)


@cache
def _adapt_class(name: str, library: Any) -> type[Codec]:
    if not callable(getattr(library, "from_config", None)):
        raise TypeError(f"{library!r} is not a codec class of numcodecs: it has no from_config")
    title = f"Numcodecs_{name.removeprefix('numcodecs.')}"
    return type(title, (ForeignCodec,), {"__slots__": (), "library": library})


class ForeignCodec(Codec):
    """Factory of the codecs of one numcodecs class; not a codec itself.

    Attributes
    ----------
    library : type
        The numcodecs codec class.
    """

    __slots__ = ()

    library: ClassVar[Any] = None

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        """Return a codec of the kind that the probe determines."""
        configuration = dict(definition.configuration)
        kind = _kind(cls.library, strictjson.encode(configuration))
        codec = cls.library.from_config(configuration)
        name = definition.name.removeprefix("numcodecs.")
        return cast("Self", kind(codec, name))


@lru_cache(maxsize=256)
def _kind(library: Any, configuration: bytes) -> type[Foreign]:
    """Return the kind of a codec, determined by encoding and decoding plain bytes."""
    codec = library.from_config(strictjson.loads(configuration))
    try:
        with np.errstate(all="ignore"):
            encoded = codec.encode(_PROBE)
            if _are_elements(encoded):
                return ForeignFilter
            decoded = decode_bytes(codec, _bytes_of(encoded))
            return ForeignCompressor if _bytes_of(decoded) == _PROBE else ForeignSerializer
    except Exception:  # third-party code may raise anything
        return ForeignSerializer


def decode_bytes(codec: Any, data: Buffer) -> Any:
    """Decode an array of uint8, as numcodecs passes it, or bytes if the codec requires them."""
    octets = bytes(data)  # not every codec accepts other memory
    try:
        return codec.decode(np.frombuffer(octets, np.uint8))
    except Exception as error:  # third-party code may raise anything
        try:
            return codec.decode(octets)
        except Exception:
            raise error from None


def _are_elements(encoded: Any) -> bool:
    """Return whether the result is more than bytes in an array, which checksums return."""
    return isinstance(encoded, np.ndarray) and (
        encoded.dtype != np.uint8 or encoded.size == len(_PROBE)
    )


def _bytes_of(data: Any) -> bytes:
    if isinstance(data, np.ndarray):
        if data.dtype.hasobject:
            raise TypeError("the codec returned objects instead of bytes")
        return data.tobytes()  # in C order
    return bytes(data)


class _Wrapper(Codec):
    """The name and the configuration of a wrapped codec; for parameters see its subclasses."""

    __slots__ = ()

    codec: Any
    identifier: str

    @property
    def registered_name(self) -> str:
        """The name in metadata."""
        return f"numcodecs.{self.identifier}"

    def to_configuration(self) -> dict[str, JSON]:
        options = {key: value for key, value in self.codec.get_config().items() if key != "id"}
        try:
            plain = strictjson.plain(options, "codec")
        except MetadataError as error:
            message = f"the configuration of the codec is not valid JSON: {error}"
            raise ValueError(message) from error
        return cast("dict[str, JSON]", plain)


@dataclass(frozen=True, slots=True)
class ForeignCompressor(_Wrapper, BytesToBytesCodec):
    """A codec of numcodecs from bytes to bytes.

    Parameters
    ----------
    codec : numcodecs.abc.Codec
        The wrapped codec.
    identifier : str
        The ``id`` of the codec.
    """

    codec: Any
    identifier: str

    def encode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        # Not every codec accepts buffers other than bytes.
        return _bytes_of(self.codec.encode(bytes(data)))

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        return _bytes_of(decode_bytes(self.codec, data))


@dataclass(frozen=True, slots=True)
class ForeignFilter(_Wrapper, ArrayToArrayCodec):
    """A codec of numcodecs from elements to elements.

    Parameters
    ----------
    codec, identifier
        As for :class:`ForeignCompressor`.
    """

    codec: Any
    identifier: str

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """Determine the representation by encoding a chunk of fill values.

        Raises
        ------
        ValueError
            If the codec cannot encode the chunk.
        """
        try:
            encoded = self.encode(np.full(decoded.shape, decoded.fill_value), decoded)
        except Exception as error:  # third-party code may raise anything
            raise ValueError(f"cannot encode a chunk: {type(error).__name__}: {error}") from error
        return _elements.encoded_representation(decoded, encoded.dtype, encoded.shape)

    def encode(self, array: Array, decoded: ArrayRepresentation) -> Array:
        encoded = self.codec.encode(np.array(array, order="C"))
        if not isinstance(encoded, np.ndarray):
            raise TypeError(f"the codec returned {type(encoded).__name__} instead of an array")
        return encoded.reshape(array.shape) if encoded.size == array.size else encoded

    def decode(self, array: Array, decoded: ArrayRepresentation) -> Array:
        return _as_chunk(self.codec.decode(np.array(array, order="C")), decoded, self.identifier)


@dataclass(frozen=True, slots=True)
class ForeignSerializer(_Wrapper, ArrayToBytesCodec):
    """A codec of numcodecs from elements to bytes.

    Parameters
    ----------
    codec, identifier
        As for :class:`ForeignCompressor`.

    Notes
    -----
    The codec receives the chunk in its shape and in native byte order.  The decoded data
    must have the same number of elements, in any shape, or the same number of bytes.
    """

    codec: Any
    identifier: str

    def encode(self, array: Array, decoded: ArrayRepresentation) -> Buffer:
        return _bytes_of(self.codec.encode(np.array(array, order="C")))

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> Array:
        return _as_chunk(decode_bytes(self.codec, data), decoded, self.identifier)


Foreign = ForeignCompressor | ForeignFilter | ForeignSerializer


def _as_chunk(decoded_data: Any, decoded: ArrayRepresentation, identifier: str) -> Array:
    """Return decoded data as a chunk.

    ChunkDecodeError if the number or the type of the elements differs.
    """
    dtype = decoded.data_type.numpy_dtype
    if isinstance(decoded_data, np.ndarray) and (decoded_data.dtype.hasobject or dtype.hasobject):
        if decoded_data.size != decoded.size:
            reason = f"decodes to {decoded_data.size} elements instead of {decoded.size}"
            raise ChunkDecodeError(reason, f"numcodecs.{identifier}")
        return decoded_data.reshape(decoded.shape).astype(dtype, copy=False)
    if (
        isinstance(decoded_data, np.ndarray)
        and decoded_data.size == decoded.size
        and decoded_data.dtype != dtype
    ):
        same = (
            decoded_data.dtype.kind == dtype.kind and decoded_data.dtype.itemsize == dtype.itemsize
        )
        if same:  # only the byte order differs
            return decoded_data.reshape(decoded.shape).astype(dtype)
    octets = _bytes_of(decoded_data)
    if len(octets) != decoded.nbytes:
        reason = f"decodes to {len(octets)} bytes instead of {decoded.nbytes}"
        raise ChunkDecodeError(reason, f"numcodecs.{identifier}")
    return np.frombuffer(octets, dtype).reshape(decoded.shape)
