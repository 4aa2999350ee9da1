"""v2.filters codec (array -> bytes): numcodecs one after the other, as version 2 ran them.

For what version 3 has no order or no name for: codecs that nobody here knows, such
as those of other distributions; filters after a compressor; filters that take
elements for others.  Documents of version 3 never have it.

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
from zarr_core.extension import (
    ArrayToBytesCodec,
    BytesToBytesCodec,
    ChunkDecodeError,
    Codec,
    CodecError,
    ExtensionDefinition,
    UnknownExtensionError,
    make_extension,
)

from zarr_codecs import _numcodecs
from zarr_codecs.foreign import Foreign

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zarr_core.extension import JSON, ArrayRepresentation, Buffer

_NAME = "v2.filters"
# Those that are here and have a safe decoder of their own.
_UNPREFIXED = ("vlen-utf8", "vlen-bytes")


@dataclass(frozen=True, slots=True)
class V2FiltersCodec(ArrayToBytesCodec):
    """Run codecs of numcodecs.

    Parameters
    ----------
    dtype : str or list
        Data type of the chunk in the words of version 2, with its byte order.
    codecs : sequence of mapping
        Configurations of numcodecs in the order of encoding, each with its ``id``.
    """

    dtype: JSON
    codecs: Sequence[Mapping[str, JSON]]
    _steps: tuple[tuple[str, Any, Codec | None], ...] = field(init=False, repr=False, compare=False)
    _dtype: np.dtype[Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        try:
            dtype = np.dtype(_description(self.dtype))
        except (TypeError, ValueError, SyntaxError) as error:
            raise ValueError(f"dtype {self.dtype!r} is no data type of version 2") from error
        if dtype.hasobject and dtype.kind != "O":
            raise ValueError("objects within structures cannot be stored")
        object.__setattr__(self, "_dtype", dtype)
        steps = tuple(_step(dict(config), place) for place, config in enumerate(self.codecs))
        object.__setattr__(self, "_steps", steps)

    def __hash__(self) -> int:
        return hash((repr(self.dtype), repr(self.codecs)))

    def to_configuration(self) -> dict[str, JSON]:
        """Give the configuration."""
        return {"dtype": self.dtype, "codecs": [dict(config) for config in self.codecs]}

    def check(self, decoded: ArrayRepresentation) -> None:
        """Refuse elements of another size than those of ``dtype``, and objects as they are."""
        found = decoded.data_type.numpy_dtype
        if self._dtype.kind == "O":
            if found.kind not in "OT":
                raise ValueError(f"dtype '|O', but elements are {found}")
            if not self.codecs:
                raise ValueError("objects need a codec that makes bytes of them")
        elif found.hasobject or found.kind == "T" or found.itemsize != self._dtype.itemsize:
            raise ValueError(f"dtype {self.dtype!r}, but elements are {found}")

    def encode(self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation) -> Buffer:
        """Run the codecs."""
        # A copy, since some codecs want memory that may be written to.
        chunk: Any = _lendable(np.array(array, self._dtype, order="C"))
        for name, codec, own in self._steps:
            if name == "pickle" and isinstance(own, ArrayToBytesCodec):
                chunk = own.encode(chunk, decoded)
                continue
            try:
                chunk = codec.encode(chunk)
            except Exception as error:  # anybody's code
                raise CodecError(
                    f"the codec {name!r} cannot encode a chunk: {type(error).__name__}: {error}"
                ) from error
        return _bytes_of(chunk, self._steps[-1][0] if self._steps else _NAME)

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        """Undo the codecs, the last one first; what comes out must be a chunk."""
        chunk: Any = data
        for place in range(len(self._steps) - 1, -1, -1):
            name, codec, own = self._steps[place]
            try:
                if isinstance(own, BytesToBytesCodec):
                    chunk = own.decode(_bytes_of(chunk, name), None)
                elif isinstance(own, ArrayToBytesCodec):
                    # In the byte order of version 2, where elements have one.
                    chunk = own.decode(_bytes_of(chunk, name), decoded)
                    chunk = chunk.astype(self._dtype, copy=False)
                else:
                    chunk = codec.decode(chunk)
            except CodecError:
                raise
            except Exception as error:  # anybody's code
                raise ChunkDecodeError(f"{type(error).__name__}: {error}", name) from error
        return self._chunk(chunk, decoded)

    def _chunk(self, chunk: Any, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        """What the codecs gave as elements, in the order and of the shape of the chunk."""
        array: np.ndarray[Any, Any]
        if self._dtype.kind == "O":
            if not isinstance(chunk, np.ndarray) or chunk.dtype.kind not in "OT":
                raise ChunkDecodeError("decodes to something else than objects", _NAME)
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


def _description(dtype: Any) -> Any:
    """A structure as NumPy wants it: tuples in a list."""
    if isinstance(dtype, str):
        return dtype
    if not isinstance(dtype, list):
        raise TypeError(f"{dtype!r} is neither a type string nor a list of fields")
    return [
        (name, _description(inner), *(tuple(part) for part in shape))
        for name, inner, *shape in dtype
    ]


def _step(config: dict[str, JSON], place: int) -> tuple[str, Any, Codec | None]:
    """The id, what numcodecs has for it, and what is here for it.

    Raises
    ------
    UnknownExtensionError
        If numcodecs knows no such codec, or it is pickle and not allowed.
    """
    name = str(config["id"])
    rest = {key: value for key, value in config.items() if key != "id"}
    definition = ExtensionDefinition(name if name in _UNPREFIXED else f"numcodecs.{name}", rest)
    pointer = f"/configuration/codecs/{place}"
    own: Codec | None = None
    try:
        own = make_extension("codec", definition, pointer=pointer)
    except UnknownExtensionError:
        if name == "pickle":  # which nothing else may decode
            raise
    if isinstance(own, Foreign):
        return name, own.codec, None
    # In the middle of a list there is no chunk, but whatever the codec before it made.
    if place and isinstance(own, ArrayToBytesCodec) and name != "pickle":
        own = None
    if name == "pickle":
        return name, None, own
    if not _numcodecs.knows(name):
        hint = (
            "Install the package that provides it to numcodecs "
            "(entry-point group numcodecs.codecs)."
        )
        if isinstance(own, Codec):
            hint = f"Install what it needs: pip install 'zarr-codecs[{name.rstrip('2')}]'"
        raise UnknownExtensionError("codec", name, pointer, hint=hint)
    return name, _numcodecs.any_codec(config), own


def _lendable(chunk: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The chunk, as octets of an element each where NumPy would not lend its memory: with dates."""
    if chunk.dtype.names is None:
        return chunk
    try:
        _ = chunk.data
    except ValueError:
        return chunk.view(f"V{chunk.itemsize}")
    return chunk


def _bytes_of(data: Any, name: str) -> Buffer:
    """Anything that a codec of numcodecs may give, as bytes."""
    if isinstance(data, bytes | bytearray):
        return data
    try:
        array = np.asarray(data if isinstance(data, np.ndarray) else memoryview(data))
    except (TypeError, ValueError) as error:
        raise CodecError(f"the codec {name!r} gave no bytes: {type(data).__name__}") from error
    if array.dtype.hasobject or array.dtype.kind == "T":
        raise CodecError(f"the codec {name!r} gave objects instead of bytes")
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        array = array.T
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
