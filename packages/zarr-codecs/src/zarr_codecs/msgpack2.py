"""numcodecs.msgpack2 codec (array -> bytes): elements, dtype and shape as MessagePack.

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

from zarr_codecs import _nested_lists
from zarr_codecs._optional import import_optional

if TYPE_CHECKING:
    import numpy as np
    from zarr_core.extension import ArrayRepresentation, Buffer

_NAME = "numcodecs.msgpack2"


@dataclass(frozen=True, slots=True)
class MsgPack2Codec(ArrayToBytesCodec):
    """Store elements that MessagePack can represent.

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
        """Raise an error for structured data types and zero-dimensional chunks."""
        _nested_lists.reject_structured(decoded)
        if not decoded.shape:
            raise ValueError("zero-dimensional chunks are not supported by the codec")

    def encode(self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation) -> Buffer:
        """Write nested lists of elements, followed by dtype and shape."""
        packed: bytes = _library().packb(
            _nested_lists.to_items(array),
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
            raise ChunkDecodeError(f"not valid MessagePack ({reason})", _NAME) from error
        if self.raw and isinstance(items, list) and len(items) > 1 and type(items[-2]) is bytes:
            items[-2] = items[-2].decode("ascii", "replace")
        return _nested_lists.from_items(items, decoded, _NAME)


@cache
def _library() -> Any:
    return import_optional("msgpack", "msgpack", _NAME)
