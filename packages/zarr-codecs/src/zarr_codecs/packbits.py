"""packbits codec (array -> bytes): elements of a few bits one after the other.

Name:           packbits
Specification:  zarr-extensions, codecs/packbits
Configuration:  {"padding_encoding": "none", "first_bit": 0, "last_bit": 11}
Schema:         schemas/codec/packbits.json
Partial decode: yes
Compatible:     zarrs
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from zarr_core.extension import ArrayToBytesCodec, Box, ChunkDecodeError, take

from zarr_codecs import _bits

if TYPE_CHECKING:
    from typing import Self

    from zarr_core.extension import (
        ArrayRepresentation,
        Buffer,
        ExtensionDefinition,
        Selection,
        ValueReader,
    )

    Array = np.ndarray[Any, Any]

_NAME = "packbits"
# The schema of the registry has other words than its text.
_SYNONYMS = {"start_bit": "first_bit", "end_bit": "last_bit"}
_PADDINGS = {"start_byte": "first_byte", "end_byte": "last_byte"}


@dataclass(frozen=True, slots=True)
class PackbitsCodec(ArrayToBytesCodec):
    """Store so many bits of each element, from the lowest bit of the first byte on.

    Parameters
    ----------
    padding_encoding : {"none", "first_byte", "last_byte"}
        Where a byte says how many bits at the end have no meaning.
    first_bit, last_bit : int, optional
        The bits of an element, or of each component of a complex one, that are
        stored: from 0, the lowest, to the highest if not given.  The others are
        read as 0; those above, of an integer with a sign, as the last one.
    """

    padding_encoding: Literal["none", "first_byte", "last_byte"] = "none"
    first_bit: int | None = None
    last_bit: int | None = None

    decodes_parts = True

    def __post_init__(self) -> None:
        if self.padding_encoding not in ("none", "first_byte", "last_byte"):
            raise ValueError(
                'padding_encoding must be "none", "first_byte" or "last_byte", '
                f"not {self.padding_encoding!r}"
            )
        for bit in (self.first_bit, self.last_bit):
            if bit is not None and (type(bit) is not int or bit < 0):
                raise ValueError(f"bits must be integers of at least 0, not {bit!r}")
        if self.last_bit is not None and self.last_bit < (self.first_bit or 0):
            raise ValueError(f"last_bit {self.last_bit} is less than first_bit {self.first_bit}")

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        """Make the codec; the words of the registry's schema are understood too."""
        members: dict[str, Any] = {}
        for name, value in definition.configuration.items():
            meant = _SYNONYMS.get(name, name)
            if meant in members:
                raise ValueError(f"{meant} is given twice, by two names")
            members[meant] = value
        padding = members.get("padding_encoding", "none")
        return cls(**members | {"padding_encoding": _PADDINGS.get(padding, padding)})

    def check(self, decoded: ArrayRepresentation) -> None:
        """Refuse elements that have no such bits."""
        self._layout(decoded)

    def encoded_size(self, decoded: ArrayRepresentation) -> int:
        """The bits of all elements in whole bytes, with the byte that counts the others."""
        return self._layout(decoded).nbytes(decoded.size) + (self.padding_encoding != "none")

    def encode(self, array: Array, decoded: ArrayRepresentation) -> Buffer:
        """Pack the bits in C order."""
        layout = self._layout(decoded)
        packed = layout.pack(np.ascontiguousarray(array).reshape(-1)).tobytes()
        if self.padding_encoding == "none":
            return packed
        count = bytes([layout.padding(decoded.size)])
        return count + packed if self.padding_encoding == "first_byte" else packed + count

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> Array:
        """Unpack the bits."""
        if len(data) != self.encoded_size(decoded):
            raise ChunkDecodeError(
                f"{len(data)} bytes instead of {self.encoded_size(decoded)}", _NAME
            )
        layout = self._layout(decoded)
        octets = np.frombuffer(data, np.uint8)
        padding = layout.padding(decoded.size)
        if self.padding_encoding != "none":
            first = self.padding_encoding == "first_byte"
            count, octets = (octets[0], octets[1:]) if first else (octets[-1], octets[:-1])
            if count != padding:
                raise ChunkDecodeError(
                    f"a byte says that {count} bits have no meaning, it should be {padding}", _NAME
                )
        if padding and octets[-1] >> (8 - padding):
            raise ChunkDecodeError("the bits after the last element are not 0", _NAME)
        dtype = decoded.data_type.numpy_dtype
        return layout.unpack(octets, decoded.size, dtype).reshape(decoded.shape)

    def decode_part(
        self, reader: ValueReader, decoded: ArrayRepresentation, selection: Selection, out: Array
    ) -> None:
        """Read the bytes from the first to the last element of a box; otherwise all."""
        if not isinstance(selection, Box):
            out[...] = take(self.decode(reader.read(0, reader.size), decoded), selection)
            return
        if not out.size:
            return
        layout = self._layout(decoded)
        strides = [prod(decoded.shape[axis + 1 :]) for axis in range(len(decoded.shape))]
        start = sum(
            part.start * stride for part, stride in zip(selection.index, strides, strict=True)
        )
        steps = [part.step * stride for part, stride in zip(selection.index, strides, strict=True)]
        last = start + sum((n - 1) * step for n, step in zip(out.shape, steps, strict=True))
        first = start // 8 * 8  # elements that begin a byte
        count = last + 1 - first
        offset = layout.nbytes(first) + (self.padding_encoding == "first_byte")
        octets = np.frombuffer(reader.read(offset, layout.nbytes(count)), np.uint8)
        flat = layout.unpack(octets, count, out.dtype)
        size = flat.itemsize
        out[...] = np.ndarray(
            out.shape, flat.dtype, flat, (start - first) * size, [step * size for step in steps]
        )

    def _layout(self, decoded: ArrayRepresentation) -> _bits.Layout:
        return _bits.layout(decoded.data_type, self.first_bit, self.last_bit)
