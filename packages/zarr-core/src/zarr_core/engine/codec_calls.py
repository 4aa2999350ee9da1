"""Calls of codecs: errors get the name of the codec, results are checked.

Every method of a codec is called by :func:`call`; the other functions check what it returns.
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
    is_ordinary_error,
    reason,
)
from zarr_core.interfaces.byte_reader import ValueReference
from zarr_core.interfaces.codec import ArrayRepresentation

if TYPE_CHECKING:
    from zarr_core.interfaces.byte_reader import Buffer
    from zarr_core.interfaces.store import Buffers

BUFFERS = (bytes, bytearray, memoryview)
_PARTS = (*BUFFERS, ValueReference)
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
            text = str(error) or "out of memory"
            if not text.startswith("codec "):  # of a codec within this one
                text = f"codec {name!r}: {text}"
            raise MemoryError(text) from error
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


def encode(name: str, codec: Any, value: Any, decoded: Any, encoded: Any) -> Any:
    """Encode with a codec from arrays to arrays, or from bytes to bytes.

    ``decoded`` describes the value and ``encoded`` the result: an ArrayRepresentation, or a size.
    """
    result = call(CodecError, name, codec.encode, value, decoded)
    if problem := _difference(result, encoded):
        raise CodecError(f"the codec {name!r} encoded a chunk to {problem}")
    return result


def encode_elements(name: str, codec: Any, *args: Any) -> Buffers | None:
    """Encode a chunk with an array -> bytes codec."""
    return _check_buffers(name, call(CodecError, name, codec.encode, *args))


def partial_encode(name: str, codec: Any, *args: Any) -> Buffers | None:
    """Encode a part of a chunk with an array -> bytes codec."""
    result = call(CodecError, name, codec.partial_encode, *args, passed_on=_OF_STORES)
    return _check_buffers(name, result)


def _check_buffers(name: str, result: Any) -> Buffers | None:
    parts = result if isinstance(result, list | tuple) else [result]
    if result is None or all(issubclass(kind, _PARTS) for kind in set(map(type, parts))):
        buffers: Buffers | None = result
        return buffers
    raise CodecError(f"the codec {name!r} encoded a chunk to {_described(result)} instead of bytes")


def decode_array(name: str, codec: Any, value: Any, decoded: ArrayRepresentation) -> Any:
    """Decode with a codec that returns an array."""
    result = call(ChunkDecodeError, name, codec.decode, value, decoded)
    if problem := _difference(result, decoded):
        raise ChunkDecodeError(f"decodes to {problem}", name)
    return result


def decode_bytes(name: str, codec: Any, data: Buffer, size: int | None, limit: int) -> Any:
    """Decode with a bytes -> bytes codec; to at most ``limit`` bytes if the size is unknown."""
    if size is not None:
        result = call(ChunkDecodeError, name, codec.decode, data, size)
    else:
        result = call(ChunkDecodeError, name, codec.decode_limited, data, limit)
        nbytes = len(result) if isinstance(result, BUFFERS) else result
        if isinstance(nbytes, int) and nbytes > limit:
            raise ChunkDecodeError(f"decodes to {too_large(nbytes, limit)}", name)
    if problem := _difference(result, size):
        raise ChunkDecodeError(f"decodes to {problem}", name)
    return result


def partial_decode(name: str, codec: Any, *args: Any) -> None:
    """Decode a part with an array -> bytes codec."""
    call(ChunkDecodeError, name, codec.partial_decode, *args, passed_on=_OF_STORES)


def too_large(nbytes: int, limit: int) -> str:
    """The reason why encoded bytes are refused."""
    return (
        f"{nbytes} bytes, but at most {limit} are expected for such a chunk; if it is not damaged, "
        "increase the setting encoded_slack_nbytes"
    )


def _difference(result: Any, declared: ArrayRepresentation | int | None) -> str:
    """How a result differs from its description; empty if it does not."""
    if not isinstance(declared, ArrayRepresentation):
        if not isinstance(result, BUFFERS):
            return f"{_described(result)} instead of bytes"
        differs = declared is not None and len(result) != declared
        return f"{len(result)} bytes instead of {declared}" if differs else ""
    dtype = declared.data_type.numpy_dtype
    if (
        isinstance(result, np.ndarray)
        and result.shape == declared.shape
        and (result.dtype == dtype or np.can_cast(result.dtype, dtype, "equiv"))  # byte order
    ):
        return ""
    return f"{_described(result)} instead of shape {declared.shape}, dtype {dtype}"


def _described(result: Any) -> str:
    if isinstance(result, np.ndarray):
        return f"an array of shape {result.shape}, dtype {result.dtype}"
    if isinstance(result, np.generic):  # what NumPy returns for arrays without dimensions
        return f"a scalar of NumPy, dtype {result.dtype} (use numpy.asarray),"
    return "None" if result is None else f"an object of class {type(result).__name__}"
