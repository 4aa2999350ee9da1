"""Packing of a range of the bits of each element, without gaps."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from zarr_core.extension import DataType

    Array = np.ndarray[Any, Any]

# The first number in the name of the data type is the number of bits.
_NUMBER = re.compile(r"(complex_)?(?:u?int|b?float)(\d+)(?:_e\d+m\d+\w*)?").fullmatch
_OTHERS = {"bool": (1, 1), "complex64": (2, 32), "complex128": (2, 64)}
_BYTE = 8  # bits
_BLOCK = 1 << 14  # elements packed at once; each bit takes a byte in between


@dataclass(frozen=True, slots=True)
class Layout:
    """The bits of an element that are packed, ``first`` to ``last``, counted from the lowest.

    ``components`` is 2 for complex numbers, otherwise 1; ``bits`` is the number of bits of one.
    ``signed``: the bits above ``last`` are copies of it, rather than 0.
    """

    components: int
    bits: int
    first: int
    last: int
    signed: bool

    @property
    def width(self) -> int:
        """Number of packed bits of a component."""
        return self.last - self.first + 1

    def nbytes(self, count: int) -> int:
        """Return the number of bytes of ``count`` packed elements."""
        return -(-count * self.components * self.width // _BYTE)

    def padding(self, count: int) -> int:
        """Return the number of unused bits after ``count`` packed elements."""
        return -count * self.components * self.width % _BYTE

    def pack(self, elements: Array) -> Array:
        """Pack contiguous elements in native byte order; return uint8."""
        octets = self._octets(elements)
        if self.width == _BYTE * octets.shape[1]:
            return octets.reshape(-1)
        if octets.shape[1] == 1 and self.width in (1, 2, 4):
            return self._pack_few(octets[:, 0])
        return np.concatenate(
            [np.empty(0, np.uint8)]
            + [
                np.packbits(
                    np.unpackbits(octets[at : at + _BLOCK], axis=1, bitorder="little")[
                        :, self.first : self.last + 1
                    ],
                    bitorder="little",
                )
                for at in range(0, len(octets), _BLOCK)
            ]
        )

    def unpack(self, packed: Array, count: int, dtype: np.dtype[Any]) -> Array:
        """Unpack exactly the bytes of ``count`` elements."""
        if self.bits <= _BYTE and self.width in (1, 2, 4):
            return self._unpack_few(packed)[: count * self.components].view(dtype)
        elements = np.empty(count, dtype)
        octets = self._octets(elements)
        if self.width == _BYTE * octets.shape[1]:
            octets[...] = packed.reshape(octets.shape)
        else:
            for at in range(0, len(octets), _BLOCK):
                self._unpack_block(packed[at * self.width // _BYTE :], octets[at : at + _BLOCK])
        if sys.byteorder == "big":
            elements.view(np.uint8).reshape(octets.shape)[...] = octets[:, ::-1].copy()
        return elements

    def _octets(self, elements: Array) -> Array:
        """Return one row of bytes for each component, the lowest byte first."""
        size = elements.itemsize // self.components
        octets: Array = elements.view(np.uint8).reshape(len(elements) * self.components, size)
        return octets if sys.byteorder == "little" else octets[:, ::-1].copy()

    def _pack_few(self, values: Array) -> Array:
        if self.bits == 1:  # bool: bytes other than 0 and 1 are possible in NumPy
            return np.packbits(values, bitorder="little")
        values = values >> np.uint8(self.first)
        values &= np.uint8((1 << self.width) - 1)
        if self.width == 1:
            return np.packbits(values, bitorder="little")
        each = _BYTE // self.width
        if rest := -len(values) % each:
            values = np.concatenate((values, np.zeros(rest, np.uint8)))
        packed: Array = values[::each].copy()
        for index in range(1, each):
            packed |= values[index::each] << np.uint8(index * self.width)
        return packed

    def _unpack_few(self, packed: Array) -> Array:
        shifts = np.arange(0, _BYTE, self.width, dtype=np.uint8)
        if self.width == 1:
            values = np.unpackbits(packed, bitorder="little")
        else:
            values = ((packed[:, None] >> shifts) & np.uint8((1 << self.width) - 1)).reshape(-1)
        if self.signed and self.last + 1 < self.bits:
            up = _BYTE - self.width
            values = ((values << np.uint8(up)).view(np.int8) >> np.int8(up)).view(np.uint8)
        if self.first:
            values = values << np.uint8(self.first)
        if self.signed and self.bits < _BYTE:
            values &= np.uint8((1 << self.bits) - 1)
        return values

    def _unpack_block(self, packed: Array, octets: Array) -> None:
        flat = np.unpackbits(packed, count=len(octets) * self.width, bitorder="little")
        bits = flat.reshape(len(octets), self.width)
        whole = np.zeros((len(octets), _BYTE * octets.shape[1]), np.uint8)
        whole[:, self.first : self.last + 1] = bits
        if self.signed:
            whole[:, self.last + 1 : self.bits] = bits[:, -1:]
        octets[...] = np.packbits(whole, axis=1, bitorder="little")


@lru_cache(maxsize=256)
def layout(data_type: DataType, first: int | None, last: int | None) -> Layout:
    """Return the bits of elements to pack, by default all; ValueError if they do not have them."""
    name = data_type.to_definition().name
    if name in _OTHERS:
        components, bits = _OTHERS[name]
    elif match := _NUMBER(name):
        components, bits = 2 if match[1] else 1, int(match[2])
    else:
        raise ValueError("only bool, integers, floats and complex numbers are supported")
    first = first or 0
    last = bits - 1 if last is None else last
    if not first <= last < bits:
        raise ValueError(
            f"bits {first} to {last} are out of range: an element or component has {bits} bits"
        )
    return Layout(components, bits, first, last, name.startswith("int"))
