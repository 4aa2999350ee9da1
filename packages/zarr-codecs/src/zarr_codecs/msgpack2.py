"""numcodecs.msgpack2 codec (array -> bytes): elements as MessagePack, with their dtype, shape.

Name:           numcodecs.msgpack2
Specification:  numcodecs, "MsgPack"; MessagePack
Configuration:  {"use_single_float": false, "use_bin_type": true, "raw": false}
Schema:         schemas/codec/numcodecs.msgpack2.json
Partial decode: no
Compatible:     zarr-python (version 2)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from zarr_core.extension import ArrayToBytesCodec, ChunkDecodeError

from zarr_codecs import _objects
from zarr_codecs._optional import optional

if TYPE_CHECKING:
    import numpy as np
    from zarr_core.extension import ArrayRepresentation, Buffer

_NAME = "numcodecs.msgpack2"


@dataclass(frozen=True, slots=True)
class MsgPack2Codec(ArrayToBytesCodec):
    """Store elements that MessagePack has words for.

    Parameters
    ----------
    use_single_float : bool
        Whether floats are written in 32 bits.
    use_bin_type : bool
        Whether bytes are distinguished from strings.
    raw : bool
        Whether strings are read as bytes.
    """

    use_single_float: bool = False
    use_bin_type: bool = True
    raw: bool = False

    def check(self, decoded: ArrayRepresentation) -> None:
        """Refuse chunks without dimensions, which numcodecs could not read, and fields."""
        _objects.refuse_records(decoded)
        if not decoded.shape:
            raise ValueError("chunks without dimensions cannot be stored so")

    def encode(self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation) -> Buffer:
        """Write nested lists of elements, then their dtype and the shape."""
        packed: bytes = _library().packb(
            _objects.to_items(array),
            use_single_float=self.use_single_float,
            use_bin_type=self.use_bin_type,
        )
        return packed

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        """Read the elements."""
        library = _library()
        try:
            items = library.unpackb(data, raw=self.raw)
        except (ValueError, RecursionError, library.UnpackException) as error:
            reason = f"{type(error).__name__}: {error}".rstrip(": ")
            raise ChunkDecodeError(f"no MessagePack ({reason})", _NAME) from error
        if self.raw and isinstance(items, list) and len(items) > 1 and type(items[-2]) is bytes:
            items[-2] = items[-2].decode("ascii", "replace")
        return _objects.from_items(items, decoded, _NAME)


@cache
def _library() -> Any:
    return optional("msgpack", "msgpack", _NAME)
