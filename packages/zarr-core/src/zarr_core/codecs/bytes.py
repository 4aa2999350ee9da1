"""bytes codec (array -> bytes): elements one after the other in C order.

Name:           bytes
Specification:  v3.1 core codecs, "Bytes codec"
Configuration:  {"endian": "little"}
Schema:         schemas/codec/bytes.json
Partial decode: yes
Compatible:     zarr-python, TensorStore, zarrs
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zarr_core.codecs.parts import read_part
from zarr_core.errors import ChunkDecodeError
from zarr_core.interfaces.codec import ArrayRepresentation, ArrayToBytesCodec, Buffer
from zarr_core.selection.projection import take

if TYPE_CHECKING:
    from typing import Self

    from zarr_core.interfaces.value import ValueReader
    from zarr_core.selection.normalised import Selection


@dataclass(frozen=True, slots=True)
class BytesCodec(ArrayToBytesCodec):
    """The elements as they are in memory.

    Parameters
    ----------
    endian : {"little", "big"}, optional
        Byte order; required for data types whose elements have one.
    """

    endian: Literal["little", "big"] | None = None

    def __post_init__(self) -> None:
        if self.endian not in (None, "little", "big"):
            raise ValueError(f'endian must be "little" or "big", not {self.endian!r}')

    def resolve(self, decoded: ArrayRepresentation) -> Self:
        """Record this machine's byte order where the data type has one."""
        if self.endian is None and decoded.data_type.has_byte_order:
            return replace(self, endian=sys.byteorder)
        return self

    def check(self, decoded: ArrayRepresentation) -> None:
        """Refuse data types of variable size, and a missing ``endian``."""
        if decoded.nbytes is None:
            raise ValueError(
                "the bytes codec stores elements of fixed size only; "
                "this data type needs another array -> bytes codec"
            )
        data_type = decoded.data_type
        given = self.endian or data_type.implied_byte_order
        if given is None and data_type.has_byte_order:
            raise ValueError('"endian" is missing; this data type has a byte order')

    @property
    def byte_order(self) -> Literal["little", "big"] | None:
        """What ``endian`` says."""
        return self.endian

    def encoded_size(self, decoded: ArrayRepresentation) -> int | None:
        """Size of the elements in memory."""
        return decoded.nbytes

    def memory_dtype(self, decoded: ArrayRepresentation) -> np.dtype[Any] | None:
        """The data type in the configured byte order.

        None if the bytes are not the elements as NumPy has them: it cannot be trusted
        to swap them, or some bits have to be cleared.
        """
        return None if decoded.data_type.unused_bits else self._stored(decoded)

    def _stored(self, decoded: ArrayRepresentation) -> np.dtype[Any] | None:
        """The data type in the configured byte order; None if NumPy cannot be trusted with it."""
        dtype = decoded.data_type.numpy_dtype
        order = self.endian or decoded.data_type.implied_byte_order
        stored = dtype if order is None else dtype.newbyteorder(order)
        return stored if dtype == stored or _swaps(dtype) else None

    decodes_parts = True

    def decode_part(
        self,
        reader: ValueReader,
        decoded: ArrayRepresentation,
        selection: Selection,
        out: np.ndarray[Any, Any],
    ) -> None:
        """Read the runs of elements that the part consists of."""
        dtype = self._stored(decoded)
        if dtype is None:
            out[...] = take(self.decode(reader.read(0, reader.size), decoded), selection)
            return
        read_part(reader, decoded.shape, dtype, selection, out)
        if decoded.data_type.unused_bits:
            out[...] = decoded.data_type.clear_unused_bits(out)

    def encode(self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation) -> Buffer:
        """Lay the elements out in C order."""
        dtype = self._stored(decoded)
        if decoded.data_type.unused_bits:
            array = decoded.data_type.clear_unused_bits(array)
        encoded = np.ascontiguousarray(array, dtype or decoded.data_type.numpy_dtype)
        if dtype is None:
            encoded = encoded.byteswap()
        return encoded.reshape(-1).view(np.uint8).data

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        """View the bytes as elements."""
        if len(data) != decoded.nbytes:
            raise ChunkDecodeError(f"{len(data)} bytes instead of {decoded.nbytes}")
        dtype = self._stored(decoded)
        array = np.frombuffer(data, dtype or decoded.data_type.numpy_dtype)
        array = (array if dtype is not None else array.byteswap()).reshape(decoded.shape)
        data_type = decoded.data_type
        return data_type.clear_unused_bits(array) if data_type.unused_bits else array


def _swaps(dtype: np.dtype[Any]) -> bool:
    """Whether NumPy swaps bytes when it copies elements from one byte order to the other.

    Of times without a unit it does not, though it says that the dtypes differ.
    """
    if dtype.subdtype is not None:
        return _swaps(dtype.base)
    if dtype.names is not None:
        return all(_swaps(dtype[name]) for name in dtype.names)
    return dtype.kind not in "mM" or np.datetime_data(dtype)[0] != "generic"
