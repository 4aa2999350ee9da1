"""bitround codec (array -> array): numbers of fewer significant bits.

Name:           bitround
Specification:  zarr-extensions, codecs/bitround
Configuration:  {"keepbits": 10}
Schema:         schemas/codec/bitround.json
Partial decode: no
Compatible:     zarrs
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ArrayToArrayCodec

if TYPE_CHECKING:
    from zarr_core.extension import ArrayRepresentation

    Array = np.ndarray[Any, Any]

# Bits of the mantissa, by the name of the data type.  The two components of a
# complex number are rounded each by itself.
_MANTISSA = {
    "float16": 10,
    "float32": 23,
    "float64": 52,
    "bfloat16": 7,
    "complex64": 23,
    "complex128": 52,
    "complex_float16": 10,
    "complex_float32": 23,
    "complex_float64": 52,
    "complex_bfloat16": 7,
}
_SIZE = {7: 2, 10: 2, 23: 4, 52: 8}  # bytes of a float with so many bits of mantissa
_TIMES = ("numpy.datetime64", "numpy.timedelta64")
_INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))


@dataclass(frozen=True, slots=True)
class BitroundCodec(ArrayToArrayCodec):
    """Keep so many bits: of the mantissa of a float, after the leading zeros of an integer.

    Rounds to the nearest, to even in the middle.  NaN stays as it is.  An integer
    that would be rounded beyond the range of its type becomes the largest that has
    so many bits.  Integers with a sign, and times, are rounded as their bits in
    two's complement are, as by zarrs: to keep much of the negative ones takes
    nearly all bits.

    Parameters
    ----------
    keepbits : int
        At least 1; as many as there are, or more, change nothing.
    """

    keepbits: int

    def __post_init__(self) -> None:
        if type(self.keepbits) is not int or self.keepbits < 1:
            raise ValueError(f"keepbits must be an integer of at least 1, not {self.keepbits!r}")

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """The same.

        Raises
        ------
        ValueError
            If the elements have neither mantissa nor integer value.
        """
        name = decoded.data_type.to_definition().name
        if name not in (*_MANTISSA, *_INTEGERS, *_TIMES):
            raise ValueError("only integers, floats, complex numbers and times can be rounded")
        return decoded

    def encode(self, array: Array) -> Array:
        """Round; may return the chunk itself."""
        kind = array.dtype.kind
        if kind in "iumM":
            return self._integers(array)
        mantissa = _mantissa(array.dtype)
        if self.keepbits >= mantissa:
            return array
        rounded = round_mantissa(_words(array, _SIZE[mantissa]), mantissa, self.keepbits)
        return rounded.view(array.dtype).reshape(array.shape)

    def decode(self, array: Array, decoded: ArrayRepresentation) -> Array:
        """The chunk as it is; what was rounded stays so."""
        return array

    def _integers(self, array: Array) -> Array:
        bits = _words(array, array.dtype.itemsize)
        if not bits.size or int(bits.max()).bit_length() <= self.keepbits:
            return array
        width = 8 * bits.itemsize
        one = bits.dtype.type(1)
        drop = np.maximum(_bit_lengths(bits), self.keepbits) - self.keepbits
        drop = drop.astype(bits.dtype)
        exact = drop == 0
        # Half of what is dropped, less one where the last bit that is kept is even.
        half = (one << (np.maximum(drop, one) - one)) - one + ((bits >> drop) & one)
        half[exact] = 0
        rounded: Array = bits + half
        rounded[rounded < bits] = (1 << width) - 1  # beyond the range
        rounded >>= drop
        rounded <<= drop
        return rounded.view(array.dtype).reshape(array.shape)


def round_mantissa(bits: Array, mantissa: int, keepbits: int) -> Array:
    """Round the bits of floats to fewer bits of their mantissa.

    Parameters
    ----------
    bits : ndarray of unsigned integers
        The floats; not changed.
    mantissa : int
        How many bits of them are the mantissa.
    keepbits : int
        How many of these are kept; fewer.

    Returns
    -------
    ndarray
        The bits of the floats nearest, the even one in the middle; those of a NaN unchanged.
    """
    number = bits.dtype.type
    drop = mantissa - keepbits
    rounded: Array = bits >> number(drop)
    rounded &= number(1)
    rounded += number((1 << (drop - 1)) - 1)
    rounded += bits
    rounded >>= number(drop)
    rounded <<= number(drop)
    # The sum would carry the mantissa of some NaNs into the sign, and lose that of others.
    exponent = (1 << (8 * bits.itemsize - 1)) - (1 << mantissa)
    nan = (bits & number(exponent | ((1 << mantissa) - 1))) > number(exponent)
    if nan.any():
        rounded[nan] = bits[nan]
    return rounded


def _mantissa(dtype: np.dtype[Any]) -> int:
    """Bits of the mantissa of floats, or of both components of complex numbers."""
    if dtype.names:  # real part, imaginary part
        dtype = dtype[0]
    elif dtype.subdtype is not None:
        dtype = dtype.base
    if dtype.kind in "fc":
        return {2: 10, 4: 23, 8: 52}[dtype.itemsize // (2 if dtype.kind == "c" else 1)]
    return _MANTISSA[dtype.name]


def _words(array: Array, size: int) -> Array:
    """The memory of a chunk as unsigned integers, in one dimension."""
    return np.ascontiguousarray(array).reshape(-1).view(f"u{size}")


def _bit_lengths(values: Array) -> Array:
    """For each unsigned integer, how many bits it has without leading zeros."""
    lengths = np.zeros(values.shape, np.uint8)
    rest = values.copy()
    step = 4 * values.itemsize
    while step:
        high = rest >= rest.dtype.type(1) << rest.dtype.type(step)
        lengths[high] += step
        rest[high] >>= rest.dtype.type(step)
        step //= 2
    lengths += rest > 0
    return lengths
