"""Calls of codecs: errors get the name of the codec, results are checked.

Every method of a codec is called by :func:`call`.  Codecs get read-only views to encode, because
these may be views of the user's arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.errors import (
    ChunkDecodeError,
    CodecChainError,
    CodecError,
    CodecFaultError,
    ZarrError,
)
from zarr_core.interfaces.byte_reader import ValueReference
from zarr_core.registry.provider import is_ordinary_error
from zarr_core.registry.resolve import reason

if TYPE_CHECKING:
    from zarr_core.interfaces.byte_reader import Buffer
    from zarr_core.interfaces.codec import (
        ArrayRepresentation,
        ArrayToArrayCodec,
        ArrayToBytesCodec,
        BytesToBytesCodec,
    )
    from zarr_core.interfaces.store import Buffers

    Array = np.ndarray[Any, Any]

BUFFERS = (bytes, bytearray, memoryview)
_BUFFER_TYPES = frozenset(BUFFERS)
_OF_STORES = (ZarrError, OSError)  # errors of the store from which a codec reads
# Errors that a mistake in a codec raises rather than damaged bytes.
_FAULTS = (LookupError, AttributeError, NameError, TypeError, AssertionError, NotImplementedError)


def call(
    kind: type[CodecChainError | CodecError],
    name: str,
    method: Any,
    *args: Any,
    passed_on: type[Exception] | tuple[type[Exception], ...] = CodecError,
) -> Any:
    """Call a method of a codec; an error that is not ``passed_on`` becomes one of a kind."""
    try:
        return method(*args)
    except BaseException as error:
        if isinstance(error, ChunkDecodeError) and not error.codec and passed_on is CodecError:
            raise type(error)(error.reason, name, error.location) from error
        if isinstance(error, passed_on) or not is_ordinary_error(error):
            raise
        if isinstance(error, MemoryError):  # the chunk itself may be intact
            said = str(error)
            named = said if said.startswith("codec ") else ""
            raise MemoryError(named or f"codec {name!r}: {said or 'out of memory'}") from error
        if kind is ChunkDecodeError:
            fault = CodecFaultError if isinstance(error, _FAULTS) else ChunkDecodeError
            raise fault(f"{type(error).__name__}: {error}", name) from error
        raise kind(
            f"the codec {name!r} cannot encode a chunk: {type(error).__name__}: {error}"
            if kind is CodecError
            else f"the codec {name!r} cannot be used: {reason(error)}"
        ) from error


def query(name: str, types: type[Any] | tuple[type[Any], ...], method: Any, *args: Any) -> Any:
    """Call a method of a codec that describes the encoding; its result must be of a type."""
    result = call(CodecChainError, name, method, *args, passed_on=ZarrError)
    if not isinstance(result, types):
        raise CodecChainError(
            f"the codec {name!r} cannot be used: {method.__name__} returned {_described(result)}"
        )
    return result


# --- encoding ---


def read_only_view(array: Array) -> Array:
    """Return a read-only view of an array."""
    view = array.view()
    view.flags.writeable = False
    return view


def encode_array(
    name: str,
    codec: ArrayToArrayCodec,
    array: Array,
    decoded: ArrayRepresentation,
    encoded: ArrayRepresentation,
) -> Array:
    """Encode with an array -> array codec."""
    result: Array = call(CodecError, name, codec.encode, array, decoded)
    if problem := _differs_from(result, encoded):
        raise CodecError(f"the codec {name!r} encoded a chunk to {problem}")
    return result


def encode_elements(
    name: str, codec: ArrayToBytesCodec, array: Array, decoded: ArrayRepresentation
) -> Buffers | None:
    """Encode with an array -> bytes codec."""
    return _checked_buffers(name, call(CodecError, name, codec.encode, array, decoded))


def partial_encode(name: str, codec: Any, *args: Any) -> Buffers | None:
    """Encode a part with an array -> bytes codec."""
    result = call(CodecError, name, codec.partial_encode, *args, passed_on=_OF_STORES)
    if isinstance(result, list | tuple):
        owned = [it for it in result if not isinstance(it, ValueReference)]
        if len(owned) < len(result):
            _checked_buffers(name, owned)
            buffers: Buffers = result
            return buffers
    return _checked_buffers(name, result)


def _checked_buffers(name: str, result: Any) -> Buffers | None:
    if (
        result is None
        or isinstance(result, BUFFERS)
        or (isinstance(result, list | tuple) and _BUFFER_TYPES.issuperset(map(type, result)))
    ):
        buffers: Buffers | None = result
        return buffers
    raise CodecError(f"the codec {name!r} encoded a chunk to {_described(result)} instead of bytes")


def encode_bytes(
    name: str,
    codec: BytesToBytesCodec,
    data: Buffer,
    decoded_size: int | None,
    encoded_size: int | None,
) -> Buffer:
    """Encode with a bytes -> bytes codec."""
    view = memoryview(data).toreadonly()
    result: Any = call(CodecError, name, codec.encode, view, decoded_size)
    problem = ""
    if not isinstance(result, BUFFERS):
        problem = f"{_described(result)} instead of bytes"
    elif encoded_size is not None and len(result) != encoded_size:
        problem = f"{len(result)} bytes instead of {encoded_size}"
    if problem:
        raise CodecError(f"the codec {name!r} encoded a chunk to {problem}")
    buffer: Buffer = result
    return buffer


# --- decoding ---


def too_large(nbytes: int, limit: int) -> str:
    """The reason why encoded bytes are refused."""
    return (
        f"{nbytes} bytes, but at most {limit} are expected for such a chunk; if it is not damaged, "
        "increase the setting encoded_slack_nbytes"
    )


def decode_bytes(
    name: str, codec: BytesToBytesCodec, data: Buffer, size: int | None, limit: int
) -> Buffer:
    """Decode with a bytes -> bytes codec; to at most ``limit`` bytes if the size is unknown."""
    if size is None:
        result = call(ChunkDecodeError, name, codec.decode_limited, data, limit)
        nbytes = len(result) if isinstance(result, BUFFERS) else result
        if isinstance(nbytes, int) and nbytes > limit:
            raise ChunkDecodeError(f"decodes to {too_large(nbytes, limit)}", name)
    else:
        result = call(ChunkDecodeError, name, codec.decode, data, size)
    if not isinstance(result, BUFFERS):
        raise ChunkDecodeError(f"decodes to {_described(result)} instead of bytes", name)
    if size is not None and len(result) != size:
        raise ChunkDecodeError(f"decodes to {len(result)} bytes instead of {size}", name)
    return result


def decode_array(
    name: str,
    codec: ArrayToArrayCodec | ArrayToBytesCodec,
    data: Any,
    decoded: ArrayRepresentation,
) -> Array:
    """Decode with a codec that returns an array."""
    result: Array = call(ChunkDecodeError, name, codec.decode, data, decoded)
    if problem := _differs_from(result, decoded):
        raise ChunkDecodeError(f"decodes to {problem}", name)
    return result


def partial_decode(name: str, codec: Any, *args: Any) -> None:
    """Decode a part with an array -> bytes codec."""
    call(ChunkDecodeError, name, codec.partial_decode, *args, passed_on=_OF_STORES)


# --- results ---


def _differs_from(result: Any, declared: ArrayRepresentation) -> str:
    dtype = declared.data_type.numpy_dtype
    if (
        isinstance(result, np.ndarray)
        and result.shape == declared.shape
        and (result.dtype == dtype or _in_other_order(result.dtype, dtype))
    ):
        return ""
    return f"{_described(result)} instead of shape {declared.shape}, dtype {dtype}"


def _in_other_order(dtype: np.dtype[Any], declared: np.dtype[Any]) -> bool:
    """Whether dtypes differ only in byte order; NumPy handles either."""
    # Dtypes of variable-length strings do not have this method.
    return dtype.kind == declared.kind != "T" and dtype.newbyteorder("=") == declared


def _described(result: Any) -> str:
    if isinstance(result, np.ndarray):
        return f"an array of shape {result.shape}, dtype {result.dtype}"
    if isinstance(result, np.generic):  # what NumPy returns for arrays without dimensions
        return f"a scalar of NumPy, dtype {result.dtype} (use numpy.asarray),"
    return "None" if result is None else f"an object of class {type(result).__name__}"
