"""A codec of this library in the interface of zarr-python."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from zarr_core.extension import (
    ArrayToArrayCodec,
    ArrayToBytesCodec,
    BytesToBytesCodec,
    ExtensionDefinition,
    make_extension,
)

from zarr_bridge import calls
from zarr_bridge.data_types import zdtype_of
from zarr_bridge.specs import representation_of, spec_of_elements

if TYPE_CHECKING:
    from typing import Self

    from zarr.core.array_spec import ArraySpec
    from zarr_core.extension import Codec


class VariableSizeError(NotImplementedError):
    """The size of what comes out depends on the content; zarr-python asks for this class."""


@cache
def offered(name: str, ours: type[Codec]) -> type[Any]:
    """The class that zarr-python is given for a codec.

    Parameters
    ----------
    name : str
        Its name in metadata.
    ours : type
        Its class here.

    Raises
    ------
    ValueError
        If it is of none of the three kinds.
    """
    for kind, theirs in _KINDS.items():
        if issubclass(ours, kind):
            return type(name, (theirs,), {"codec_name": name, "__module__": __name__})
    raise ValueError(f"{ours!r} is of none of the three kinds of codec")


def _remade(described: dict[str, Any]) -> Any:
    """A codec from what it says of itself; for copies in other processes."""
    codec = make_extension("codec", ExtensionDefinition.from_json(described))
    ours: Any = type(codec)
    return offered(described["name"], ours).from_dict(described)


@dataclass(frozen=True)
class _Offered:
    """What the three kinds share.

    Parameters
    ----------
    codec : Codec
        The codec of this library.
    """

    codec_name: ClassVar[str]

    codec: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_fixed_size", self._knows_sizes())

    def _knows_sizes(self) -> bool:
        """Whether what comes out is always as long for chunks of one shape."""
        return True

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Make the codec; its configuration is checked by its schema."""
        described = {**data, "name": cls.codec_name}
        return cls(make_extension("codec", ExtensionDefinition.from_json(described)))

    def to_dict(self) -> dict[str, Any]:
        """The definition, as it stands in metadata."""
        return {"name": self.codec_name, "configuration": self.codec.to_configuration()}

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (self.to_dict(),)

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Fill in what depends on the elements."""
        return replace(self, codec=self.codec.resolve(representation_of(array_spec)))

    async def _encode_single(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        return await _in_a_thread(self._encode_sync, chunk_data, chunk_spec)

    async def _decode_single(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        return await _in_a_thread(self._decode_sync, chunk_data, chunk_spec)

    def _encode_sync(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        raise TypeError("the three kinds define it")

    def _decode_sync(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        raise TypeError("the three kinds define it")


async def _in_a_thread(function: Any, *arguments: Any) -> Any:
    import asyncio  # noqa: PLC0415 - zarr-python has imported it

    return await asyncio.to_thread(function, *arguments)


def _size(size: int | None, name: str) -> int:
    if size is None:
        raise VariableSizeError(f"what {name} gives depends on the content")
    return size


@dataclass(frozen=True)
class OfferedBytesBytes(_Offered, BytesBytesCodec):
    """A bytes -> bytes codec."""

    def _knows_sizes(self) -> bool:
        return self.codec.encoded_size(1) is not None

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Bytes that come out for so many."""
        return _size(self.codec.encoded_size(input_byte_length), self.codec_name)

    def _encode_sync(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        encoded = self.codec.encode(calls.bytes_of(chunk_data).toreadonly())
        return chunk_spec.prototype.buffer.from_bytes(encoded)

    def _decode_sync(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        # zarr-python says how many bytes only where codecs of fixed size come before.
        decoded = self.codec.decode(calls.bytes_of(chunk_data), None)
        return chunk_spec.prototype.buffer.from_bytes(decoded)


@dataclass(frozen=True)
class OfferedArrayBytes(_Offered, ArrayBytesCodec):
    """An array -> bytes codec."""

    def _knows_sizes(self) -> bool:
        """Whether they are known of numbers at least."""
        numbers = representation_of(spec_of_elements((1,), np.dtype(np.uint64)))
        try:
            self.codec.check(numbers)
            return self.codec.encoded_size(numbers) is not None
        except ValueError:  # it takes other elements
            return False

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Bytes that come out for such a chunk."""
        return _size(self.codec.encoded_size(representation_of(chunk_spec)), self.codec_name)

    def validate(self, *, shape: tuple[int, ...], dtype: Any, chunk_grid: Any) -> None:
        """Left to the first chunk, whose shape is not known here."""

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
        return chunk_spec.prototype.nd_buffer.from_numpy_array(_theirs(array, chunk_spec))


@dataclass(frozen=True)
class OfferedArrayArray(_Offered, ArrayArrayCodec):
    """An array -> array codec."""

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Bytes that the elements take that come out."""
        encoded = self.codec.encoded_representation(representation_of(chunk_spec))
        return _size(encoded.nbytes, self.codec_name)

    def resolve_metadata(self, chunk_spec: ArraySpec) -> ArraySpec:
        """What comes out, in zarr-python's words."""
        encoded = self.codec.encoded_representation(representation_of(chunk_spec))
        zdtype = zdtype_of(encoded.data_type)
        fill_value = zdtype.cast_scalar(encoded.fill_value[()])
        return replace(chunk_spec, shape=encoded.shape, dtype=zdtype, fill_value=fill_value)

    def _encode_sync(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        decoded = representation_of(chunk_spec)
        self.codec.encoded_representation(decoded)
        array = calls.elements_of(chunk_data, decoded.data_type.numpy_dtype)
        encoded = self.codec.encode(np.ascontiguousarray(array))
        return chunk_spec.prototype.nd_buffer.from_numpy_array(np.ascontiguousarray(encoded))

    def _decode_sync(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        decoded = representation_of(chunk_spec)
        array = self.codec.decode(chunk_data.as_numpy_array(), decoded)
        return chunk_spec.prototype.nd_buffer.from_numpy_array(_theirs(array, chunk_spec))


def _theirs(array: np.ndarray[Any, Any], spec: ArraySpec) -> np.ndarray[Any, Any]:
    """Elements with the dtype that zarr-python has for them; memory that may be written to."""
    dtype = cast("np.dtype[Any]", spec.dtype.to_native_dtype())
    return np.require(array.astype(dtype, copy=False), requirements=["C", "W"])


_KINDS: dict[type[Codec], type[_Offered]] = {
    ArrayToArrayCodec: OfferedArrayArray,
    ArrayToBytesCodec: OfferedArrayBytes,
    BytesToBytesCodec: OfferedBytesBytes,
}
