"""Adapters of extensions of zarr-core to the interfaces of zarr-python."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from zarr.core.chunk_key_encodings import ChunkKeyEncoding as TheirEncoding
from zarr_core.extension import (
    ArrayToArrayCodec,
    ArrayToBytesCodec,
    BytesToBytesCodec,
    ChunkKeyEncoding,
    DataType,
    ExtensionDefinition,
    create_extension,
)

from zarr_bridge import calls
from zarr_bridge.data_types import zdtype_of
from zarr_bridge.specs import representation_of, spec_of_elements
from zarr_bridge.zarr_python_data_types import adapt_data_type

if TYPE_CHECKING:
    from typing import Self

    from zarr.core.array_spec import ArraySpec
    from zarr_core.extension import Codec


class VariableSizeError(NotImplementedError):
    """The encoded size depends on the content; zarr-python expects NotImplementedError."""


@cache
def adapt_to_zarr_python(
    name: str, ours: type[Codec] | type[ChunkKeyEncoding] | type[DataType]
) -> type[Any]:
    """Return a class for zarr-python, for an entry point in ``zarr.codecs`` or another group.

    Parameters
    ----------
    name : str
        Name of the extension in metadata.
    ours : type
        Codec class, data type class or chunk key encoding class of zarr-core.  Its own entry
        point, such as one in ``zarr_core.codec``, is required too.

    Raises
    ------
    ValueError
        If the class is none of these.
    """
    if issubclass(ours, DataType):
        return adapt_data_type(name, ours)
    if issubclass(ours, ChunkKeyEncoding):
        return type(name, (ChunkKeyEncodingAdapter,), {"name": name, "__module__": __name__})
    for kind, theirs in _KINDS.items():
        if issubclass(ours, kind):
            return type(name, (theirs,), {"codec_name": name, "__module__": __name__})
    raise ValueError(
        f"{ours!r} is not an array -> array, array -> bytes or bytes -> bytes codec, a data type, "
        "or a chunk key encoding"
    )


def _unpickle(data: dict[str, Any]) -> Any:
    """Create a codec from its definition, for unpickling."""
    codec = create_extension("codec", ExtensionDefinition.from_json(data))
    ours: Any = type(codec)
    return adapt_to_zarr_python(data["name"], ours).from_dict(data)


@dataclass(frozen=True)
class _CodecAdapter:
    """Base class of the three kinds of codecs; ``codec`` is the codec of zarr-core."""

    codec_name: ClassVar[str]
    _encode_sync: ClassVar[Any]
    _decode_sync: ClassVar[Any]

    codec: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_fixed_size", self._has_fixed_size())

    def _has_fixed_size(self) -> bool:
        """Return whether the encoded size depends only on the shape of the chunk."""
        return True

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Create the codec; its configuration is validated by its schema."""
        data = {**data, "name": cls.codec_name}
        return cls(create_extension("codec", ExtensionDefinition.from_json(data)))

    def to_dict(self) -> dict[str, Any]:
        """Return the definition in the form of metadata."""
        return {"name": self.codec_name, "configuration": self.codec.to_configuration()}

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self.to_dict(),)

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Fill in the parameters that depend on the array."""
        return replace(self, codec=self.codec.complete(representation_of(array_spec)))

    async def _encode_single(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        return await _in_a_thread(self._encode_sync, chunk_data, chunk_spec)

    async def _decode_single(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        return await _in_a_thread(self._decode_sync, chunk_data, chunk_spec)


async def _in_a_thread(function: Any, *arguments: Any) -> Any:
    import asyncio  # zarr-python has imported it

    return await asyncio.to_thread(function, *arguments)


def _size(size: int | None, name: str) -> int:
    if size is None:
        raise VariableSizeError(f"the encoded size of {name} depends on the content")
    return size


@dataclass(frozen=True)
class BytesBytesAdapter(_CodecAdapter, BytesBytesCodec):
    """A bytes -> bytes codec."""

    def _has_fixed_size(self) -> bool:
        return self.codec.encoded_size(1) is not None

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Return the encoded size in bytes."""
        return _size(self.codec.encoded_size(input_byte_length), self.codec_name)

    def _encode_sync(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        data = calls.bytes_of(chunk_data).toreadonly()
        encoded = self.codec.encode(data, len(data))
        return chunk_spec.prototype.buffer.from_bytes(encoded)

    def _decode_sync(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        # zarr-python passes the decoded size only after codecs of fixed size.
        decoded = self.codec.decode(calls.bytes_of(chunk_data), None)
        return chunk_spec.prototype.buffer.from_bytes(decoded)


@dataclass(frozen=True)
class ArrayBytesAdapter(_CodecAdapter, ArrayBytesCodec):
    """An array -> bytes codec."""

    def _has_fixed_size(self) -> bool:
        """Return whether the encoded size of numbers depends only on the shape."""
        numbers = representation_of(spec_of_elements((1,), np.dtype(np.uint64)))
        try:
            self.codec.check(numbers)
            return self.codec.encoded_size(numbers) is not None
        except ValueError:  # numbers are not supported
            return False

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Return the encoded size of a chunk in bytes."""
        return _size(self.codec.encoded_size(representation_of(chunk_spec)), self.codec_name)

    def validate(self, *, shape: tuple[int, ...], dtype: Any, chunk_grid: Any) -> None:
        """Do nothing; the first chunk is validated, because its shape is unknown here."""

    def _encode_sync(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        decoded = representation_of(chunk_spec)
        array = calls.elements_of(chunk_data, decoded.data_type.numpy_dtype)
        encoded = self.codec.encode(np.ascontiguousarray(array), decoded)
        if encoded is None:
            return None
        if isinstance(encoded, list | tuple):
            encoded = b"".join(encoded)
        return chunk_spec.prototype.buffer.from_bytes(encoded)

    def _decode_sync(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        decoded = representation_of(chunk_spec)
        array = self.codec.decode(calls.bytes_of(chunk_data), decoded)
        return chunk_spec.prototype.nd_buffer.from_numpy_array(_to_zarr_python(array, chunk_spec))


@dataclass(frozen=True)
class ArrayArrayAdapter(_CodecAdapter, ArrayArrayCodec):
    """An array -> array codec."""

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Return the size of the encoded elements in bytes."""
        encoded = self.codec.encoded_representation(representation_of(chunk_spec))
        return _size(encoded.nbytes, self.codec_name)

    def resolve_metadata(self, chunk_spec: ArraySpec) -> ArraySpec:
        """Return the array specification of the encoded chunk."""
        encoded = self.codec.encoded_representation(representation_of(chunk_spec))
        zdtype = zdtype_of(encoded.data_type)
        fill_value = zdtype.cast_scalar(encoded.fill_value[()])
        return replace(chunk_spec, shape=encoded.shape, dtype=zdtype, fill_value=fill_value)

    def _encode_sync(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        decoded = representation_of(chunk_spec)
        self.codec.encoded_representation(decoded)
        array = calls.elements_of(chunk_data, decoded.data_type.numpy_dtype)
        encoded = self.codec.encode(np.ascontiguousarray(array), decoded)
        return chunk_spec.prototype.nd_buffer.from_numpy_array(np.ascontiguousarray(encoded))

    def _decode_sync(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        decoded = representation_of(chunk_spec)
        array = self.codec.decode(chunk_data.as_numpy_array(), decoded)
        return chunk_spec.prototype.nd_buffer.from_numpy_array(_to_zarr_python(array, chunk_spec))


@dataclass(frozen=True)
class ChunkKeyEncodingAdapter(TheirEncoding):
    """A chunk key encoding of zarr-core."""

    encoding: Any

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Create the encoding; its configuration is validated by its schema."""
        definition = ExtensionDefinition.from_json({**data, "name": cls.name})
        return cls(create_extension("chunk_key_encoding", definition))

    def to_dict(self) -> dict[str, Any]:
        """Return the definition in the form of metadata."""
        document: Any = self.encoding.to_definition().to_json()
        return document if isinstance(document, dict) else {"name": document}

    def encode_chunk_key(self, chunk_coords: tuple[int, ...]) -> str:
        """Return the key of a chunk."""
        return cast("str", self.encoding.encode(chunk_coords))


def _to_zarr_python(array: np.ndarray[Any, Any], spec: ArraySpec) -> np.ndarray[Any, Any]:
    """Return elements with the dtype of zarr-python, in writable memory."""
    dtype = cast("np.dtype[Any]", spec.dtype.to_native_dtype())
    return np.require(array.astype(dtype, copy=False), requirements=["C", "W"])


_KINDS: dict[type[Codec], type[_CodecAdapter]] = {
    ArrayToArrayCodec: ArrayArrayAdapter,
    ArrayToBytesCodec: ArrayBytesAdapter,
    BytesToBytesCodec: BytesBytesAdapter,
}
