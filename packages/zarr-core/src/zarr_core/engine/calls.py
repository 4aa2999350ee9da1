"""Calling codecs, which may be anybody's: what they raise is named, what they return is checked.

What they are given to encode cannot be written to: it may be the user's own memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.errors import ChunkDecodeError, CodecChainError, CodecError, ZarrError
from zarr_core.registry.provider import is_fault
from zarr_core.registry.resolve import reason

if TYPE_CHECKING:
    from zarr_core.interfaces.codec import (
        ArrayRepresentation,
        ArrayToArrayCodec,
        ArrayToBytesCodec,
        Buffer,
        BytesToBytesCodec,
    )
    from zarr_core.interfaces.store import Pieces
    from zarr_core.interfaces.value import ValueReader
    from zarr_core.selection.normalised import Selection

    Array = np.ndarray[Any, Any]

BUFFERS = (bytes, bytearray, memoryview)
_BUFFER_TYPES = frozenset(BUFFERS)


# --- opening ---


def asked(name: str, answers: type[Any] | tuple[type[Any], ...], ask: Any, *about: Any) -> Any:
    """Ask a codec about the chunks that it will be given.

    Parameters
    ----------
    name : str
        Of the codec.
    answers : type or tuple of type
        What it may answer.
    ask : callable
        Its method.
    *about
        The arguments.

    Raises
    ------
    CodecChainError
        If it fails, or answers something else.
    """
    try:
        answer = ask(*about)
    except BaseException as error:
        if isinstance(error, ZarrError) or not is_fault(error):
            raise
        raise CodecChainError(f"the codec {name!r} cannot be used: {reason(error)}") from error
    if not isinstance(answer, answers):
        raise CodecChainError(
            f"the codec {name!r} cannot be used: {ask.__name__} gave {_described(answer)}"
        )
    return answer


# --- encoding ---


def frozen(array: Array) -> Array:
    """A view of an array through which it cannot be changed."""
    view = array.view()
    view.flags.writeable = False
    return view


def encode_array(
    name: str, codec: ArrayToArrayCodec, array: Array, encoded: ArrayRepresentation
) -> Array:
    """Encode with an array -> array codec.

    Raises
    ------
    CodecError
        If it fails, or its result is not the array that was promised.
    """
    try:
        result = codec.encode(array)
    except BaseException as error:
        raise _not_encoded(name, error) from error
    if problem := _not_as_promised(result, encoded):
        raise CodecError(f"the codec {name!r} encoded a chunk to {problem}")
    return result


def encode_elements(
    name: str, codec: ArrayToBytesCodec, array: Array, decoded: ArrayRepresentation
) -> Pieces | None:
    """Encode with an array -> bytes codec; errors as for :func:`encode_array`."""
    try:
        result = codec.encode(array, decoded)
    except BaseException as error:
        raise _not_encoded(name, error) from error
    return _pieces(name, result)


def encode_part(
    name: str,
    codec: ArrayToBytesCodec,
    reader: ValueReader | None,
    decoded: ArrayRepresentation,
    selection: Selection,
    value: Array,
) -> Pieces | None:
    """Encode a part with an array -> bytes codec; errors as for :func:`encode_array`."""
    try:
        result = codec.encode_part(reader, decoded, selection, value)
    except BaseException as error:
        if isinstance(error, ZarrError | OSError):  # of the store
            raise
        raise _not_encoded(name, error) from error
    return _pieces(name, result)


def _pieces(name: str, result: Any) -> Pieces | None:
    if (
        result is None
        or isinstance(result, BUFFERS)
        or (isinstance(result, list | tuple) and _BUFFER_TYPES.issuperset(map(type, result)))
    ):
        pieces: Pieces | None = result
        return pieces
    raise CodecError(f"the codec {name!r} encoded a chunk to {_described(result)} instead of bytes")


def encode_bytes(
    name: str, codec: BytesToBytesCodec, data: Buffer, encoded_size: int | None
) -> Buffer:
    """Encode with a bytes -> bytes codec; errors as for :func:`encode_array`."""
    try:
        result = codec.encode(memoryview(data).toreadonly())
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
    return CodecError(f"the codec {name!r} cannot encode a chunk: {type(error).__name__}: {error}")


# --- decoding ---


def decode_bytes(name: str, codec: BytesToBytesCodec, data: Buffer, size: int | None) -> Buffer:
    """Decode with a bytes -> bytes codec.

    Raises
    ------
    ChunkDecodeError
        If it fails, or its result is not the bytes that were promised.
    """
    try:
        result = codec.decode(data, size)
    except BaseException as error:
        raise _not_decoded(name, error) from error
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
        raise type(error)(error.reason, name, error.where) from error
    except BaseException as error:
        raise _not_decoded(name, error) from error


def decode_array(
    name: str,
    codec: ArrayToArrayCodec | ArrayToBytesCodec,
    data: Any,
    decoded: ArrayRepresentation,
) -> Array:
    """Decode with a codec that gives an array; errors as for :func:`decode_bytes`."""
    try:
        result = codec.decode(data, decoded)
    except BaseException as error:
        raise _not_decoded(name, error) from error
    if problem := _not_as_promised(result, decoded):
        raise ChunkDecodeError(f"decodes to {problem}", name)
    return result


def decode_part(
    name: str,
    codec: ArrayToBytesCodec,
    reader: ValueReader,
    decoded: ArrayRepresentation,
    selection: Selection,
    out: Array,
) -> None:
    """Decode a part with an array -> bytes codec; errors as for :func:`decode_bytes`."""
    try:
        codec.decode_part(reader, decoded, selection, out)
    except BaseException as error:
        if isinstance(error, ZarrError | OSError):  # of the store
            raise
        raise _not_decoded(name, error) from error


def _not_decoded(name: str, error: BaseException) -> ChunkDecodeError:
    if isinstance(error, CodecError) or not is_fault(error):
        raise error
    return ChunkDecodeError(f"{type(error).__name__}: {error}", name)


# --- what came back ---


def _not_as_promised(result: Any, promised: ArrayRepresentation) -> str:
    dtype = promised.data_type.numpy_dtype
    if (
        isinstance(result, np.ndarray)
        and result.shape == promised.shape
        and (result.dtype == dtype or _in_other_order(result.dtype, dtype))
    ):
        return ""
    return f"{_described(result)} instead of shape {promised.shape}, dtype {dtype}"


def _in_other_order(dtype: np.dtype[Any], promised: np.dtype[Any]) -> bool:
    """Whether dtypes differ by their byte order alone, of which NumPy handles any."""
    # Those of strings of any length have none, and no such method.
    return dtype.kind == promised.kind != "T" and dtype.newbyteorder("=") == promised


def _described(result: Any) -> str:
    if isinstance(result, np.ndarray):
        return f"an array of shape {result.shape}, dtype {result.dtype}"
    return "None" if result is None else f"an object of class {type(result).__name__}"
