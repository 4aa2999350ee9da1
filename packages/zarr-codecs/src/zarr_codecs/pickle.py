"""numcodecs.pickle codec (array -> bytes): pickled chunks.

Unpickling can run any code that is in the chunk, so the codec has no entry point.  For
trusted data, enable it explicitly:

>>> from zarr_codecs.pickle import PickleCodec
>>> import zarr_core as zarr
>>> with zarr.override_extensions({"codec": {"numcodecs.pickle": PickleCodec}}):
...     pass  # open the array here

Name:           numcodecs.pickle
Specification:  numcodecs, "Pickle"
Configuration:  {"protocol": 5}
Schema:         schemas/codec/numcodecs.pickle.json
Partial decode: no
Compatible:     zarr-python (version 2)
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ArrayToBytesCodec, ChunkDecodeError

if TYPE_CHECKING:
    from zarr_core.extension import ArrayRepresentation, Buffer

_NAME = "numcodecs.pickle"


@dataclass(frozen=True, slots=True)
class PickleCodec(ArrayToBytesCodec):
    """Store any Python objects; decoding can run arbitrary code.

    Parameters
    ----------
    protocol : int
        Version of the pickle protocol that is written.
    """

    protocol: int = pickle.HIGHEST_PROTOCOL

    def __post_init__(self) -> None:
        if type(self.protocol) is not int or not 0 <= self.protocol <= pickle.HIGHEST_PROTOCOL:
            raise ValueError(
                f"protocol must be an integer from 0 to {pickle.HIGHEST_PROTOCOL}, "
                f"not {self.protocol!r}"
            )

    def encode(self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation) -> Buffer:
        """Pickle the chunk."""
        if array.dtype.kind == "T":
            array = array.astype(object)
        # The memory order of an array is pickled too; make it C order.
        return pickle.dumps(np.ascontiguousarray(array).reshape(array.shape), self.protocol)

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        """Unpickle the chunk."""
        try:
            array = pickle.loads(data)
        except Exception as error:  # a pickle can run any code
            raise ChunkDecodeError(f"{type(error).__name__}: {error}", _NAME) from error
        dtype = decoded.data_type.numpy_dtype
        stored = np.dtype(object) if dtype.kind == "T" else dtype
        if not isinstance(array, np.ndarray) or array.size != decoded.size:
            raise ChunkDecodeError(f"not an array of {decoded.size} elements", _NAME)
        if array.dtype != stored and array.dtype.newbyteorder("=") != stored:
            raise ChunkDecodeError(f"elements of dtype {array.dtype} instead of {stored}", _NAME)
        # Chunks of order "F" are pickled with reversed dimensions.
        return array.reshape(-1, order="A").reshape(decoded.shape).astype(dtype, copy=False)
