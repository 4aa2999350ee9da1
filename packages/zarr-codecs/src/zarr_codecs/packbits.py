"""packbits codec (array -> bytes): some bits of each element, without gaps.

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
from zarr_core.extension import BasicIndexer, ChunkDecodeError, PartialDecodeCodec
from zarr_core.selection.projection import take

from zarr_codecs import _bits

if TYPE_CHECKING:
    from typing import Self

    from zarr_core.extension import (
        ArrayRepresentation,
        Buffer,
        ByteReader,
        ExtensionDefinition,
        Selection,
    )

    Array = np.ndarray[Any, Any]

_NAME = "packbits"
# The schema in the registry uses other names than the text of the specification.
_SYNONYMS = {"start_bit": "first_bit", "end_bit": "last_bit"}
_PADDINGS = {"start_byte": "first_byte", "end_byte": "last_byte"}


@dataclass(frozen=True, slots=True)
class PackbitsCodec(PartialDecodeCodec):
    """Store some bits of each element, starting with the lowest bit of the first byte.

    Parameters
    ----------
    padding_encoding : {"none", "first_byte", "last_byte"}
        Position of a byte with the number of padding bits at the end.
    first_bit, last_bit : int, optional
        First and last stored bit of an element, or of each component of a complex
        element, counted from the lowest; all bits if not given.  Other bits are read
        as 0.  For signed integers, bits above ``last_bit`` are copies of it.
    """

    padding_encoding: Literal["none", "first_byte", "last_byte"] = "none"
    first_bit: int | None = None
    last_bit: int | None = None

    def __post_init__(self) -> None:
        if self.padding_encoding not in ("none", "first_byte", "last_byte"):
            raise ValueError(
                'padding_encoding must be "none", "first_byte" or "last_byte", '
                f"not {self.padding_encoding!r}"
            )
        for bit in (self.first_bit, self.last_bit):
            if bit is not None and (type(bit) is not int or bit < 0):
                raise ValueError(
                    f"first_bit and last_bit must be integers of at least 0, not {bit!r}"
                )
        if self.last_bit is not None and self.last_bit < (self.first_bit or 0):
            raise ValueError(f"last_bit {self.last_bit} is less than first_bit {self.first_bit}")

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        """Create the codec; names from the schema in the registry are accepted too."""
        members: dict[str, Any] = {}
        for name, value in definition.configuration.items():
            meant = _SYNONYMS.get(name, name)
            if meant in members:
                raise ValueError(f"{meant} is given twice, as {name} and by another name")
            members[meant] = value
        padding = members.get("padding_encoding", "none")
        return cls(**members | {"padding_encoding": _PADDINGS.get(padding, padding)})

    def check(self, decoded: ArrayRepresentation) -> None:
        """Raise an error if the elements do not have the bits."""
        self._layout(decoded)

    def encoded_size(self, decoded: ArrayRepresentation) -> int:
        """Return the size of the packed bits, with the byte for the padding."""
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
                f"has {len(data)} bytes instead of {self.encoded_size(decoded)}", _NAME
            )
        layout = self._layout(decoded)
        octets = np.frombuffer(data, np.uint8)
        padding = layout.padding(decoded.size)
        if self.padding_encoding != "none":
            first = self.padding_encoding == "first_byte"
            count, octets = (octets[0], octets[1:]) if first else (octets[-1], octets[:-1])
            if count != padding:
                raise ChunkDecodeError(
                    f"the padding byte declares {count} bits instead of {padding}", _NAME
                )
        if padding and octets[-1] >> (8 - padding):
            raise ChunkDecodeError("the bits after the last element are not 0", _NAME)
        dtype = decoded.data_type.numpy_dtype
        return layout.unpack(octets, decoded.size, dtype).reshape(decoded.shape)

    def partial_decode(
        self, reader: ByteReader, decoded: ArrayRepresentation, selection: Selection, out: Array
    ) -> None:
        """Read the bytes from the first to the last selected element, or the whole chunk."""
        if not isinstance(selection, BasicIndexer):
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
        first = start // 8 * 8  # an element that begins at a byte
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
