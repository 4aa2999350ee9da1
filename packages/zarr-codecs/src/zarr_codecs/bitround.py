"""bitround codec (array -> array): rounding to fewer significant bits.

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

# Number of mantissa bits by data type.  Both components of a complex number are
# rounded separately.
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
_SIZE = {7: 2, 10: 2, 23: 4, 52: 8}  # bytes of a float by its number of mantissa bits
_TIMES = ("numpy.datetime64", "numpy.timedelta64")
_INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))


@dataclass(frozen=True, slots=True)
class BitroundCodec(ArrayToArrayCodec):
    """Keep the first bits of the mantissa of a float, or after the leading zeros of an integer.

    Values are rounded to nearest, ties to even.  NaN is unchanged.  An integer that
    would be rounded beyond the range of its type becomes the largest one with
    ``keepbits`` significant bits.  Signed integers and times are rounded as unsigned
    integers with the same bits, as in zarrs: negative values keep their precision only
    if nearly all bits are kept.

    Parameters
    ----------
    keepbits : int
        Number of bits, at least 1.  Values with no more bits are unchanged.
    """

    keepbits: int

    def __post_init__(self) -> None:
        if type(self.keepbits) is not int or self.keepbits < 1:
            raise ValueError(f"keepbits must be an integer of at least 1, not {self.keepbits!r}")

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """Return the representation unchanged.

        Raises
        ------
        ValueError
            If the data type is not supported.
        """
        name = decoded.data_type.to_definition().name
        if name not in (*_MANTISSA, *_INTEGERS, *_TIMES):
            raise ValueError("only integers, floats, complex numbers and times are supported")
        return decoded

    def encode(self, array: Array, decoded: ArrayRepresentation) -> Array:
        """Round the elements; may return the chunk itself."""
        kind = array.dtype.kind
        if kind in "iumM":
            return self._integers(array)
        mantissa = _mantissa(array.dtype)
        if self.keepbits >= mantissa:
            return array
        rounded = round_mantissa(_words(array, _SIZE[mantissa]), mantissa, self.keepbits)
        return rounded.view(array.dtype).reshape(array.shape)

    def decode(self, array: Array, decoded: ArrayRepresentation) -> Array:
        """Return the chunk unchanged."""
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
        # Half of the dropped unit, less one if the last kept bit is 0 (ties to even).
        half = (one << (np.maximum(drop, one) - one)) - one + ((bits >> drop) & one)
        half[exact] = 0
        rounded: Array = bits + half
        rounded[rounded < bits] = (1 << width) - 1  # beyond the range
        rounded >>= drop
        rounded <<= drop
        return rounded.view(array.dtype).reshape(array.shape)


def round_mantissa(bits: Array, mantissa: int, keepbits: int) -> Array:
    """Round floats, given as bits, to fewer bits of the mantissa.

    Parameters
    ----------
    bits : ndarray of unsigned integers
        The bits of the floats; not modified.
    mantissa : int
        Number of bits of the mantissa.
    keepbits : int
        Number of bits that are kept, less than ``mantissa``.

    Returns
    -------
    ndarray
        The bits of the nearest floats, ties to even; NaN is unchanged.
    """
    number = bits.dtype.type
    drop = mantissa - keepbits
    rounded: Array = bits >> number(drop)
    rounded &= number(1)
    rounded += number((1 << (drop - 1)) - 1)
    rounded += bits
    rounded >>= number(drop)
    rounded <<= number(drop)
    # The sum would change the sign of some NaNs, and make others infinite.
    exponent = (1 << (8 * bits.itemsize - 1)) - (1 << mantissa)
    nan = (bits & number(exponent | ((1 << mantissa) - 1))) > number(exponent)
    if nan.any():
        rounded[nan] = bits[nan]
    return rounded


def _mantissa(dtype: np.dtype[Any]) -> int:
    """Return the mantissa bits of a float, or of a component of a complex number."""
    if dtype.names:  # real part, imaginary part
        dtype = dtype[0]
    elif dtype.subdtype is not None:
        dtype = dtype.base
    if dtype.kind in "fc":
        return {2: 10, 4: 23, 8: 52}[dtype.itemsize // (2 if dtype.kind == "c" else 1)]
    return _MANTISSA[dtype.name]


def _words(array: Array, size: int) -> Array:
    """Return the memory of a chunk as one-dimensional unsigned integers."""
    return np.ascontiguousarray(array).reshape(-1).view(f"u{size}")


def _bit_lengths(values: Array) -> Array:
    """Return the bit length of each unsigned integer."""
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
