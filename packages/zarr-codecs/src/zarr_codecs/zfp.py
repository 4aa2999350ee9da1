"""zfp codec (array -> bytes): blocks of numbers compressed with zfp.

Name:           zfp
Specification:  zarr-extensions, codecs/zfp; zfp 1.0
Configuration:  {"mode": "fixed_accuracy", "tolerance": 0.05}
Schema:         schemas/codec/zfp.json
Partial decode: no
Compatible:     zarrs
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from zarr_core.extension import ArrayToBytesCodec, ChunkDecodeError
from zarr_core.registry.hints import other_providers

from zarr_codecs import _libzfp

if TYPE_CHECKING:
    from zarr_core.extension import ArrayRepresentation, Buffer, DataType

    Array = np.ndarray[Any, Any]

_NAME = "zfp"
_MEMBERS = {
    "reversible": (),
    "fixed_accuracy": ("tolerance",),
    "fixed_rate": ("rate",),
    "fixed_precision": ("precision",),
    "expert": ("minbits", "maxbits", "maxprec", "minexp"),
}
_PLAIN = ("int32", "int64", "float32", "float64")
_FLOATS = ("float16", "bfloat16")  # stored as float32
_TIMES = ("numpy.datetime64", "numpy.timedelta64")  # stored as int64
_SMALL_INTEGERS = {f"{sign}int{bits}": bits for sign in ("", "u") for bits in (2, 4, 8, 16)}
_UNSIGNED = {"uint32": "int32", "uint64": "int64"}  # stored as these
_DIMENSIONS = 4
_PROMOTED_BITS = 31  # significant bits of promoted integers


@dataclass(frozen=True, slots=True)
class ZfpCodec(ArrayToBytesCodec):
    """Compress numbers, lossily or losslessly, without a header.

    Integers of less than 32 bits are scaled to int32, and floats of 16 bits are stored as
    float32.  ``uint32`` and ``uint64`` are stored as signed integers, so the upper half of
    their range is not supported.

    Parameters
    ----------
    mode : {"reversible", "fixed_accuracy", "fixed_rate", "fixed_precision", "expert"}
        Compression mode; it determines which of the other parameters is required.
    tolerance : float, optional
        For ``fixed_accuracy``: largest absolute error.
    rate : float, optional
        For ``fixed_rate``: bits per element.
    precision : int, optional
        For ``fixed_precision``: number of bit planes that are kept, at least 1.
    minbits, maxbits, maxprec, minexp : int, optional
        For ``expert``: smallest and largest number of bits of a block, number of bit
        planes that are kept, and exponent of the lowest bit plane.
    """

    mode: Literal["reversible", "fixed_accuracy", "fixed_rate", "fixed_precision", "expert"]
    tolerance: float | None = None
    rate: float | None = None
    precision: int | None = None
    minbits: int | None = None
    maxbits: int | None = None
    maxprec: int | None = None
    minexp: int | None = None
    _mode: _libzfp.Mode = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.mode not in _MEMBERS:
            raise ValueError(f"mode must be one of {', '.join(_MEMBERS)}, not {self.mode!r}")
        needed = _MEMBERS[self.mode]
        for members in _MEMBERS.values():
            for member in members:
                is_set = getattr(self, member) is not None
                if is_set is not (member in needed):
                    raise ValueError(
                        f"mode {self.mode!r} {'does not accept' if is_set else 'requires'} {member}"
                    )
        for member in ("tolerance", "rate"):
            value = getattr(self, member)
            if value is not None and not (isfinite(value) and value >= 0):
                raise ValueError(f"{member} must be finite and at least 0, not {value!r}")
        if self.mode == "fixed_rate" and not self.rate:
            raise ValueError("rate must be greater than 0")
        for member in ("precision", "maxprec"):
            value = getattr(self, member)
            if value is not None and not 1 <= value <= _libzfp.MAX_PLANES:
                raise ValueError(f"{member} must be from 1 to {_libzfp.MAX_PLANES}, not {value!r}")
        object.__setattr__(self, "_mode", self._library_mode())
        if self.mode == "expert":
            _libzfp.check_expert(self._mode[1])

    def check(self, decoded: ArrayRepresentation) -> None:
        """Raise an error for data types and shapes that zfp does not support."""
        name = decoded.data_type.to_definition().name
        known = (*_PLAIN, *_FLOATS, *_TIMES, *_SMALL_INTEGERS, *_UNSIGNED)
        if name not in known:
            raise ValueError(f"only the data types {', '.join(known)} are supported")
        if len(decoded.shape) > _DIMENSIONS:
            raise ValueError(
                f"only chunks with up to {_DIMENSIONS} dimensions are supported; "
                "use the codec reshape before zfp to reduce them"
            )

    def encode(self, array: Array, decoded: ArrayRepresentation) -> Buffer:
        """Compress to one stream."""
        promoted = _promote(array, _name(decoded.data_type))
        elements = np.ascontiguousarray(promoted if promoted.ndim else promoted.reshape(1))
        return _libzfp.compress(elements, self._mode)

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> Array:
        """Decompress the stream."""
        name = _name(decoded.data_type)
        dtype = _promoted_dtype(name)
        if _libzfp.has_header(data, decoded.size, dtype):
            others = other_providers("codec", _NAME, "zarr-codecs")
            raise ChunkDecodeError(
                "begins with a header of zfp, against the specification (zarr-extensions, "
                f"codecs/zfp). {others or 'nd-image-codecs writes such chunks'}",
                _NAME,
            )
        try:
            array = _libzfp.decompress(data, decoded.shape or (1,), dtype, self._mode)
        except ValueError as error:
            raise ChunkDecodeError(str(error), _NAME) from error
        elements = _demote(array, name, decoded.data_type.numpy_dtype)
        return elements if decoded.shape else elements.reshape(())

    def _library_mode(self) -> _libzfp.Mode:
        members = _MEMBERS[self.mode]
        if not members:
            return _libzfp.REVERSIBLE
        if len(members) == 1:
            return members[0], getattr(self, members[0])
        return self.mode, tuple(getattr(self, member) for member in members)


@lru_cache(maxsize=256)
def _name(data_type: DataType) -> str:
    return data_type.to_definition().name


@cache
def _promoted_dtype(name: str) -> np.dtype[Any]:
    """Return the dtype that elements of a data type are promoted to."""
    if name in _SMALL_INTEGERS:
        return np.dtype(np.int32)
    if name in _FLOATS:
        return np.dtype(np.float32)
    if name in _TIMES:
        return np.dtype(np.int64)
    dtype: np.dtype[Any] = np.dtype(_UNSIGNED.get(name, name))
    return dtype


def _promote(array: Array, name: str) -> Array:
    """Promote elements to a dtype that zfp supports ("Compression", step 1)."""
    dtype = _promoted_dtype(name)
    if name in _SMALL_INTEGERS:
        bits = _SMALL_INTEGERS[name]
        wide = (
            array.astype(np.int8 if bits < 8 and name[0] == "i" else np.uint8)
            if bits < 8
            else array
        )
        wide = wide.astype(np.int32)
        if name[0] == "u":
            wide = wide - np.int32(1 << (bits - 1))
        shifted: Array = wide << np.int32(_PROMOTED_BITS - bits)
        return shifted
    if name in _UNSIGNED and array.size and array.max() > np.iinfo(dtype).max:
        raise ValueError(f"{array.max()} is out of range: {name} is stored as {dtype}")
    return array.view(dtype) if name in _TIMES else array.astype(dtype, copy=False)


def _demote(array: Array, name: str, dtype: np.dtype[Any]) -> Array:
    """Convert promoted elements to their own dtype ("Decompression", step 2)."""
    if array.dtype == dtype:
        return array
    if name in _SMALL_INTEGERS:
        bits = _SMALL_INTEGERS[name]
        half = 1 << (bits - 1)
        narrow = np.clip(array >> np.int32(_PROMOTED_BITS - bits), -half, half - 1)
        if name[0] == "u":
            narrow += np.int32(half)
        result: Array = narrow.astype(dtype)
        return result
    if name in _UNSIGNED:
        return np.maximum(array, 0).astype(dtype)
    if name in _TIMES:
        return array.view(dtype)
    with np.errstate(all="ignore"):
        return array.astype(dtype, copy=False)
