"""v2.filters codec (array -> bytes): a list of numcodecs codecs, as in version 2.

Represents lists of filters that version 3 cannot express: codecs without a name in
version 3, filters after a compressor, and filters that reinterpret elements.  It never
occurs in metadata documents of version 3.

Name:           v2.filters
Specification:  version 2, "Filters"; numcodecs
Configuration:  {"dtype": "<i4", "codecs": [{"id": "delta", "dtype": "<i4"}, {"id": "zlib"}]}
Schema:         schemas/codec/v2.filters.json
Partial decode: no
Compatible:     zarr-python (version 2)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.errors import UnknownExtensionError
from zarr_core.extension import (
    ArrayToBytesCodec,
    BytesToBytesCodec,
    ChunkDecodeError,
    Codec,
    CodecError,
    ExtensionDefinition,
    Location,
    create_extension,
)

from zarr_codecs import _numcodecs
from zarr_codecs.foreign import Foreign, decode_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zarr_core.extension import JSON, ArrayRepresentation, Buffer

_NAME = "v2.filters"
# Codecs without the prefix "numcodecs." in version 3.
_UNPREFIXED = ("vlen-utf8", "vlen-bytes")


@dataclass(frozen=True, slots=True)
class V2FiltersCodec(ArrayToBytesCodec):
    """Run a list of numcodecs codecs.

    Parameters
    ----------
    dtype : str or list
        Data type of the chunk in the form of version 2, with its byte order.
    codecs : sequence of mapping
        Configurations of numcodecs codecs in the order of encoding, each with an ``id``.
    """

    dtype: JSON
    codecs: Sequence[Mapping[str, JSON]]
    _steps: tuple[tuple[str, Any, Codec | None], ...] = field(init=False, repr=False, compare=False)
    _dtype: np.dtype[Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        try:
            dtype = np.dtype(_to_descr(self.dtype))
        except (TypeError, ValueError, SyntaxError) as error:
            raise ValueError(f"dtype {self.dtype!r} is not a data type of version 2") from error
        if dtype.hasobject and dtype.kind != "O":
            raise ValueError("structured data types with object fields are not supported")
        object.__setattr__(self, "_dtype", dtype)
        steps = tuple(_step(dict(config), index) for index, config in enumerate(self.codecs))
        object.__setattr__(self, "_steps", steps)

    def __hash__(self) -> int:
        return hash((repr(self.dtype), repr(self.codecs)))

    def to_configuration(self) -> dict[str, JSON]:
        """Return the configuration."""
        return {"dtype": self.dtype, "codecs": [dict(config) for config in self.codecs]}

    def check(self, decoded: ArrayRepresentation) -> None:
        """Raise an error if the elements do not match ``dtype``, or objects have no codec."""
        actual = decoded.data_type.numpy_dtype
        if self._dtype.kind == "O":
            if actual.kind not in "OT":
                raise ValueError(f"dtype '|O' does not match the elements, which are {actual}")
            if not self.codecs:
                raise ValueError("the dtype '|O' requires an object codec, such as vlen-utf8")
        elif actual.hasobject or actual.kind == "T" or actual.itemsize != self._dtype.itemsize:
            raise ValueError(f"dtype {self.dtype!r} does not match the elements: they are {actual}")

    def encode(self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation) -> Buffer:
        """Encode with all codecs."""
        # A copy, because some codecs require writable memory.
        chunk: Any = _with_buffer(np.array(array, self._dtype, order="C"))
        for name, codec, own in self._steps:
            if name == "pickle" and isinstance(own, ArrayToBytesCodec):
                chunk = own.encode(chunk, decoded)
                continue
            try:
                chunk = codec.encode(chunk)
            except Exception as error:  # third-party code may raise anything
                raise CodecError(
                    f"the codec {name!r} cannot encode a chunk: {type(error).__name__}: {error}"
                ) from error
        return _bytes_of(chunk, self._steps[-1][0] if self._steps else _NAME)

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        """Decode with all codecs, the last one first, and validate the chunk."""
        chunk: Any = data
        for index in range(len(self._steps) - 1, -1, -1):
            name, codec, own = self._steps[index]
            try:
                if isinstance(own, BytesToBytesCodec):
                    chunk = own.decode(_bytes_of(chunk, name), None)
                elif isinstance(own, ArrayToBytesCodec):
                    # In the byte order of version 2, where elements have one.
                    chunk = own.decode(_bytes_of(chunk, name), decoded)
                    chunk = chunk.astype(self._dtype, copy=False)
                elif isinstance(chunk, np.ndarray):
                    chunk = codec.decode(chunk)
                else:
                    chunk = decode_bytes(codec, chunk)
            except CodecError:
                raise
            except Exception as error:  # third-party code may raise anything
                raise ChunkDecodeError(f"{type(error).__name__}: {error}", name) from error
        return self._chunk(chunk, decoded)

    def _chunk(self, chunk: Any, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        """Return the decoded data as elements in the order and shape of the chunk."""
        array: np.ndarray[Any, Any]
        if self._dtype.kind == "O":
            if not isinstance(chunk, np.ndarray) or chunk.dtype.kind not in "OT":
                raise ChunkDecodeError("does not decode to objects", _NAME)
            array = chunk
        else:
            octets = np.frombuffer(_bytes_of(chunk, _NAME), np.uint8)
            expected = decoded.size * self._dtype.itemsize
            if len(octets) != expected:
                raise ChunkDecodeError(
                    f"decodes to {len(octets)} bytes instead of {expected}", _NAME
                )
            array = octets.view(self._dtype) if expected else np.empty(0, self._dtype)
        if array.size != decoded.size:
            raise ChunkDecodeError(
                f"decodes to {array.size} elements instead of {decoded.size}", _NAME
            )
        array = array.reshape(-1, order="A").reshape(decoded.shape)
        return array.astype(decoded.data_type.numpy_dtype, copy=False)


def _to_descr(dtype: Any) -> Any:
    """Convert a structured data type to a list of tuples, as NumPy requires."""
    if isinstance(dtype, str):
        return dtype
    if not isinstance(dtype, list):
        raise TypeError(f"{dtype!r} is neither a type string nor a list of fields")
    return [
        (name, _to_descr(inner), *(tuple(part) for part in shape)) for name, inner, *shape in dtype
    ]


def _step(config: dict[str, JSON], index: int) -> tuple[str, Any, Codec | None]:
    """Return the id of a codec, the numcodecs codec, and the codec of this library.

    Raises
    ------
    UnknownExtensionError
        If numcodecs does not have the codec, or it is pickle and not enabled.
    """
    name = str(config["id"])
    rest = {key: value for key, value in config.items() if key != "id"}
    definition = ExtensionDefinition(name if name in _UNPREFIXED else f"numcodecs.{name}", rest)
    own: Codec | None = None
    location = ""  # that of this extension, which create_extension adds
    try:
        own = create_extension(
            "codec", definition, Location(pointer=f"/configuration/codecs/{index}")
        )
    except UnknownExtensionError as error:
        if name == "pickle":  # numcodecs must not decode it
            raise
        location = error.location
    if isinstance(own, Foreign):
        return name, own.codec, None
    # A later codec does not receive a chunk, but the output of the previous codec.
    if index and isinstance(own, ArrayToBytesCodec) and name != "pickle":
        own = None
    if name == "pickle":
        return name, None, own
    if not _numcodecs.has_codec(name):
        hint = (
            "Install the package that provides this codec to numcodecs "
            "(entry-point group numcodecs.codecs)."
        )
        if isinstance(own, Codec):
            hint = f"Install its dependencies with pip install 'zarr-codecs[{name.rstrip('2')}]'"
        raise UnknownExtensionError("codec", name, location, hint=hint)
    return name, _numcodecs.get_codec(config), own


def _with_buffer(chunk: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the chunk; as void elements if NumPy cannot export its buffer (fields with dates)."""
    if chunk.dtype.names is None:
        return chunk
    try:
        _ = chunk.data
    except ValueError:
        return chunk.view(f"V{chunk.itemsize}")
    return chunk


def _bytes_of(data: Any, name: str) -> Buffer:
    """Return the result of a numcodecs codec as bytes."""
    if isinstance(data, bytes | bytearray):
        return data
    try:
        array = np.asarray(data if isinstance(data, np.ndarray) else memoryview(data))
    except (TypeError, ValueError) as error:
        raise CodecError(
            f"the codec {name!r} returned {type(data).__name__} instead of bytes"
        ) from error
    if array.dtype.hasobject or array.dtype.kind == "T":
        raise CodecError(f"the codec {name!r} returned objects instead of bytes")
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        array = array.T
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
