"""Calls of codecs: errors get the name of the codec, results are checked.

Codecs get read-only views to encode, because these may be views of the user's arrays.
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
from zarr_core.registry.provider import is_fault
from zarr_core.registry.resolve import reason

if TYPE_CHECKING:
    from zarr_core.interfaces.byte_reader import Buffer, ByteReader
    from zarr_core.interfaces.codec import (
        ArrayRepresentation,
        ArrayToArrayCodec,
        ArrayToBytesCodec,
        BytesToBytesCodec,
        PartialDecodeCodec,
        PartialEncodeCodec,
    )
    from zarr_core.interfaces.selection import Selection
    from zarr_core.interfaces.store import Buffers

    Array = np.ndarray[Any, Any]

BUFFERS = (bytes, bytearray, memoryview)
_BUFFER_TYPES = frozenset(BUFFERS)


# --- preparation ---


def query(name: str, types: type[Any] | tuple[type[Any], ...], method: Any, *args: Any) -> Any:
    """Call a method of a codec that describes the encoding.

    Raises
    ------
    CodecChainError
        If it fails, or its result is not of one of the types.
    """
    try:
        result = method(*args)
    except BaseException as error:
        if isinstance(error, ZarrError) or not is_fault(error):
            raise
        raise CodecChainError(f"the codec {name!r} cannot be used: {reason(error)}") from error
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
    """Encode with an array -> array codec.

    Raises
    ------
    CodecError
        If it fails, or its result is not the declared array.
    """
    try:
        result = codec.encode(array, decoded)
    except BaseException as error:
        raise _not_encoded(name, error) from error
    if problem := _differs_from(result, encoded):
        raise CodecError(f"the codec {name!r} encoded a chunk to {problem}")
    return result


def encode_elements(
    name: str, codec: ArrayToBytesCodec, array: Array, decoded: ArrayRepresentation
) -> Buffers | None:
    """Encode with an array -> bytes codec; errors as for :func:`encode_array`."""
    try:
        result = codec.encode(array, decoded)
    except BaseException as error:
        raise _not_encoded(name, error) from error
    return _checked_buffers(name, result)


def partial_encode(
    name: str,
    codec: PartialEncodeCodec,
    reader: ByteReader | None,
    decoded: ArrayRepresentation,
    selection: Selection,
    value: Array,
) -> Buffers | None:
    """Encode a part with an array -> bytes codec; errors as for :func:`encode_array`."""
    try:
        result = codec.partial_encode(reader, decoded, selection, value)
    except BaseException as error:
        if isinstance(error, ZarrError | OSError):  # from the store
            raise
        raise _not_encoded(name, error) from error
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
    """Encode with a bytes -> bytes codec; errors as for :func:`encode_array`."""
    try:
        result = codec.encode(memoryview(data).toreadonly(), decoded_size)
    except BaseException as error:
        raise _not_encoded(name, error) from error
    if not isinstance(result, BUFFERS):
        raise CodecError(
            f"the codec {name!r} encoded a chunk to {_described(result)} instead of bytes"
        )
    if encoded_size is not None and len(result) != encoded_size:
        raise CodecError(
            f"the codec {name!r} encoded a chunk to {len(result)} bytes instead of {encoded_size}"
        )
    return result


def _not_encoded(name: str, error: BaseException) -> CodecError:
    if isinstance(error, CodecError) or not is_fault(error):
        raise error
    if isinstance(error, MemoryError):
        raise MemoryError(_of_codec(name, error)) from error
    return CodecError(f"the codec {name!r} cannot encode a chunk: {type(error).__name__}: {error}")


def _of_codec(name: str, error: MemoryError) -> str:
    said = str(error)
    return said if said.startswith("codec ") else f"codec {name!r}: {said or 'out of memory'}"


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
    """Decode with a bytes -> bytes codec; to at most ``limit`` bytes if the size is unknown.

    Raises
    ------
    ChunkDecodeError
        If it fails, or its result is not of the declared size, or larger than the limit.
    """
    result: Buffer | int
    try:
        result = codec.decode_limited(data, limit) if size is None else codec.decode(data, size)
    except BaseException as error:
        raise _not_decoded(name, error) from error
    if size is None:
        nbytes = len(result) if isinstance(result, BUFFERS) else result
        if isinstance(nbytes, int) and nbytes > limit:
            raise ChunkDecodeError(f"decodes to {too_large(nbytes, limit)}", name)
    if not isinstance(result, BUFFERS):
        raise ChunkDecodeError(f"decodes to {_described(result)} instead of bytes", name)
    if size is not None and len(result) != size:
        raise ChunkDecodeError(f"decodes to {len(result)} bytes instead of {size}", name)
    return result


def decode_bytes_into(name: str, codec: BytesToBytesCodec, data: Buffer, out: memoryview) -> None:
    """Decode with a bytes -> bytes codec into memory; errors as for :func:`decode_bytes`."""
    try:
        codec.decode_into(data, out)
    except ChunkDecodeError as error:
        if error.codec:
            raise
        raise type(error)(error.reason, name, error.location) from error
    except BaseException as error:
        raise _not_decoded(name, error) from error


def decode_array(
    name: str,
    codec: ArrayToArrayCodec | ArrayToBytesCodec,
    data: Any,
    decoded: ArrayRepresentation,
) -> Array:
    """Decode with a codec that returns an array; errors as for :func:`decode_bytes`."""
    try:
        result = codec.decode(data, decoded)
    except BaseException as error:
        raise _not_decoded(name, error) from error
    if problem := _differs_from(result, decoded):
        raise ChunkDecodeError(f"decodes to {problem}", name)
    return result


def partial_decode(
    name: str,
    codec: PartialDecodeCodec,
    reader: ByteReader,
    decoded: ArrayRepresentation,
    selection: Selection,
    out: Array,
) -> None:
    """Decode a part with an array -> bytes codec; errors as for :func:`decode_bytes`."""
    try:
        codec.partial_decode(reader, decoded, selection, out)
    except BaseException as error:
        if isinstance(error, ZarrError | OSError):  # from the store
            raise
        raise _not_decoded(name, error) from error


def _not_decoded(name: str, error: BaseException) -> ChunkDecodeError:
    if isinstance(error, CodecError) or not is_fault(error):
        raise error
    if isinstance(error, MemoryError):  # the chunk itself may be intact
        raise MemoryError(_of_codec(name, error)) from error
    kind = CodecFaultError if isinstance(error, _FAULTS) else ChunkDecodeError
    return kind(f"{type(error).__name__}: {error}", name)


# Errors that a mistake in a codec raises rather than damaged bytes.
_FAULTS = (LookupError, AttributeError, NameError, TypeError, AssertionError, NotImplementedError)


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
