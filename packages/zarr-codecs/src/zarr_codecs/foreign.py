"""numcodecs.<id> for codecs that other distributions give to numcodecs.

Whatever stands in the entry-point group ``numcodecs.codecs`` works under its id, as
version 3 names those of numcodecs; those that are here by name are not replaced.

Name:           numcodecs.<id>
Specification:  none; that of the distribution
Configuration:  what numcodecs' ``get_config`` gives, without ``id``
Schema:         none; the code checks it
Partial decode: no
Compatible:     zarr-python, if it has a class of that name

A codec of numcodecs does not say which of the three kinds it is, version 3 has to
know.  It is found by trying: a codec that encodes plain bytes to elements is a filter
(array -> array); one that gets the same bytes back is a compressor (bytes -> bytes);
any other needs to see elements, or can only decode, and is array -> bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from zarr_core.extension import (
    ArrayToArrayCodec,
    ArrayToBytesCodec,
    BytesToBytesCodec,
    ChunkDecodeError,
    Codec,
    MetadataError,
    Provider,
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
# It would run code from stored data; a user allows it by name, see zarr_codecs.pickle.
_REFUSED = frozenset({"pickle"})
_TRIED = bytes(range(64))


def providers() -> Iterable[Provider]:
    """What numcodecs would find, as codecs of version 3; nothing of it is imported."""
    yield Provider(
        "codec", "numcodecs.base64", "numcodecs.base64:Base64", "numcodecs", "", _ADAPTER
    )
    for group, name, target, distribution, version in installed_entry_points(_GROUP):
        if group == _GROUP and name not in _REFUSED:
            yield Provider("codec", f"numcodecs.{name}", target, distribution, version, _ADAPTER)


def adapt(provider: Provider, found: Any) -> type[Codec]:
    """Make a codec here of a codec class for numcodecs."""
    return _adapted(provider.name, found)


@cache
def _adapted(name: str, library: Any) -> type[Codec]:
    if not callable(getattr(library, "from_config", None)):
        raise TypeError(f"{library!r} is no codec class of numcodecs: it has no from_config")
    title = f"Numcodecs_{name.removeprefix('numcodecs.')}"
    return type(title, (ForeignCodec,), {"__slots__": (), "library": library})


class ForeignCodec(Codec):
    """What makes the codecs of one class; not a codec itself.

    Attributes
    ----------
    library : type
        The class, as numcodecs would find it.
    """

    __slots__ = ()

    library: ClassVar[Any] = None

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        """Make the codec of the kind that it turns out to be."""
        configuration = dict(definition.configuration)
        kind = _kind(cls.library, strictjson.encode(configuration))
        codec = cls.library.from_config(configuration)
        name = definition.name.removeprefix("numcodecs.")
        return cast("Self", kind(codec, name))  # a codec, as whoever asks expects


@lru_cache(maxsize=256)
def _kind(library: Any, configuration: bytes) -> type[Foreign]:
    """The kind of a codec, by what it makes of plain bytes."""
    codec = library.from_config(strictjson.loads(configuration))
    try:
        with np.errstate(all="ignore"):
            encoded = codec.encode(_TRIED)
            if _are_elements(encoded):
                return ForeignFilter
            decoded = codec.decode(_bytes_of(encoded))
            return ForeignCompressor if _bytes_of(decoded) == _TRIED else ForeignSerializer
    except Exception:  # in whatever way anybody's code refuses
        return ForeignSerializer


def _are_elements(encoded: Any) -> bool:
    """Whether it is more than bytes in an array, as checksums give."""
    return isinstance(encoded, np.ndarray) and (
        encoded.dtype != np.uint8 or encoded.size == len(_TRIED)
    )


def _bytes_of(data: Any) -> bytes:
    if isinstance(data, np.ndarray):
        if data.dtype.hasobject:
            raise TypeError("objects instead of bytes")
        return data.tobytes()  # in C order
    return bytes(data)


def _configuration(codec: Any) -> dict[str, JSON]:
    given = {key: value for key, value in codec.get_config().items() if key != "id"}
    try:
        plain = strictjson.plain(given, "codec")
    except MetadataError as error:
        raise ValueError(f"the codec has a configuration that is no JSON: {error}") from error
    return cast("dict[str, JSON]", plain)


@dataclass(frozen=True, slots=True)
class ForeignCompressor(BytesToBytesCodec):
    """A codec of numcodecs that takes bytes for bytes.

    Parameters
    ----------
    codec : numcodecs.abc.Codec
        The codec.
    identifier : str
        Its id.
    """

    codec: Any
    identifier: str

    def to_configuration(self) -> dict[str, JSON]:
        return _configuration(self.codec)

    def encode(self, data: Buffer) -> Buffer:
        # A copy where need be, since some codecs want memory that may be written to.
        return _bytes_of(self.codec.encode(bytes(data)))

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        return _bytes_of(self.codec.decode(bytes(data)))


@dataclass(frozen=True, slots=True)
class ForeignFilter(ArrayToArrayCodec):
    """A codec of numcodecs that makes other elements of elements.

    Parameters
    ----------
    codec, identifier
        As for :class:`ForeignCompressor`.
    """

    codec: Any
    identifier: str

    def to_configuration(self) -> dict[str, JSON]:
        return _configuration(self.codec)

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """Try it with the fill value.

        Raises
        ------
        ValueError
            If it cannot encode such a chunk.
        """
        try:
            encoded = self.encode(np.full(decoded.shape, decoded.fill_value))
        except Exception as error:  # anybody's code
            raise ValueError(f"it cannot encode them: {type(error).__name__}: {error}") from error
        return _elements.encoded(decoded, encoded.dtype, encoded.shape)

    def encode(self, array: Array) -> Array:
        encoded = self.codec.encode(np.array(array, order="C"))
        if not isinstance(encoded, np.ndarray):
            raise TypeError(f"gives {type(encoded).__name__} instead of an array")
        return encoded.reshape(array.shape) if encoded.size == array.size else encoded

    def decode(self, array: Array, decoded: ArrayRepresentation) -> Array:
        return _as_chunk(self.codec.decode(np.array(array, order="C")), decoded, self.identifier)


@dataclass(frozen=True, slots=True)
class ForeignSerializer(ArrayToBytesCodec):
    """A codec of numcodecs that makes bytes of elements.

    Parameters
    ----------
    codec, identifier
        As for :class:`ForeignCompressor`.

    Notes
    -----
    It sees the chunk in its shape, in native byte order; what it decodes to must have as
    many elements, in any shape, or as many bytes.
    """

    codec: Any
    identifier: str

    def to_configuration(self) -> dict[str, JSON]:
        return _configuration(self.codec)

    def encode(self, array: Array, decoded: ArrayRepresentation) -> Buffer:
        return _bytes_of(self.codec.encode(np.array(array, order="C")))

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> Array:
        return _as_chunk(self.codec.decode(bytes(data)), decoded, self.identifier)


Foreign = ForeignCompressor | ForeignFilter | ForeignSerializer


def _as_chunk(given: Any, decoded: ArrayRepresentation, identifier: str) -> Array:
    """What a codec decoded to, as elements of a chunk.

    Raises
    ------
    ChunkDecodeError
        If there are more or fewer, or they are something else.
    """
    dtype = decoded.data_type.numpy_dtype
    if isinstance(given, np.ndarray) and (given.dtype.hasobject or dtype.hasobject):
        if given.size != decoded.size:
            reason = f"decodes to {given.size} elements instead of {decoded.size}"
            raise ChunkDecodeError(reason, f"numcodecs.{identifier}")
        return given.reshape(decoded.shape).astype(dtype, copy=False)
    if isinstance(given, np.ndarray) and given.size == decoded.size and given.dtype != dtype:
        same = given.dtype.kind == dtype.kind and given.dtype.itemsize == dtype.itemsize
        if same:  # in the other byte order
            return given.reshape(decoded.shape).astype(dtype)
    octets = _bytes_of(given)
    if len(octets) != decoded.nbytes:
        reason = f"decodes to {len(octets)} bytes instead of {decoded.nbytes}"
        raise ChunkDecodeError(reason, f"numcodecs.{identifier}")
    return np.frombuffer(octets, dtype).reshape(decoded.shape)
