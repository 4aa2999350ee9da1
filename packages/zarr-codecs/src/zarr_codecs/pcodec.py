"""numcodecs.pcodec codec (array -> bytes): numbers compressed with pco.

Name:           numcodecs.pcodec
Specification:  numcodecs, "PCodec"; pco, standalone format
Configuration:  {"level": 8, "mode_spec": "auto", "delta_spec": "auto", ...}
Schema:         schemas/codec/numcodecs.pcodec.json
Partial decode: no
Compatible:     zarr-python, zarrs
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from zarr_core.extension import ArrayToBytesCodec, ChunkDecodeError

from zarr_codecs._optional import import_optional

if TYPE_CHECKING:
    from zarr_core.extension import ArrayRepresentation, Buffer

_NAME = "numcodecs.pcodec"
_SIZES = {"i": (2, 4, 8), "u": (2, 4, 8), "f": (2, 4, 8)}


@dataclass(frozen=True, slots=True)
class PcodecCodec(ArrayToBytesCodec):
    """Compress numbers losslessly.

    Parameters
    ----------
    level : int
        Compression level from 0 (fastest) to 12 (smallest).
    mode_spec : {"auto", "classic"}
        Whether pco searches for structure, such as multiples of 0.1.
    delta_spec : {"auto", "none", "no_op", "try_consecutive", "try_lookback"}
        How differences are taken; ``"none"`` and ``"no_op"`` are the same.
    paging_spec : {"equal_pages_up_to"}
        How a chunk is divided into pages.
    delta_encoding_order : int, optional
        Order of the differences, 0 to 7.
    equal_pages_up_to : int
        Largest number of elements of a page.
    """

    level: int = 8
    mode_spec: Literal["auto", "classic"] = "auto"
    delta_spec: Literal["auto", "none", "no_op", "try_consecutive", "try_lookback"] = "auto"
    paging_spec: Literal["equal_pages_up_to"] = "equal_pages_up_to"
    delta_encoding_order: int | None = None
    equal_pages_up_to: int = 262144

    def __post_init__(self) -> None:
        if self.delta_encoding_order is None and self.delta_spec == "try_consecutive":
            raise ValueError('delta_spec "try_consecutive" requires delta_encoding_order')
        if self.delta_encoding_order is not None and self.delta_spec not in (
            "auto",
            "try_consecutive",
        ):
            raise ValueError('delta_encoding_order requires delta_spec "try_consecutive" or "auto"')

    def check(self, decoded: ArrayRepresentation) -> None:
        """Raise an error unless the elements are numbers of 16, 32 or 64 bits."""
        dtype = decoded.data_type.numpy_dtype
        if dtype.itemsize not in _SIZES.get(dtype.kind, ()):
            raise ValueError("only integers and floats of 16, 32 or 64 bits are supported")

    def encode(self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation) -> Buffer:
        """Compress to one pco file."""
        elements = np.ascontiguousarray(array).reshape(-1)
        compressed: bytes = _standalone().simple_compress(elements, _settings(self))
        return compressed

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        """Decompress a pco file; pco validates the data."""
        result = np.empty(decoded.size, decoded.data_type.numpy_dtype)
        try:
            progress = _standalone().simple_decompress_into(bytes(data), result)
        except (RuntimeError, TypeError) as error:
            raise ChunkDecodeError(str(error), _NAME) from error
        if progress.n_processed != decoded.size:
            raise ChunkDecodeError(
                f"decodes to {progress.n_processed} elements instead of {decoded.size}", _NAME
            )
        if not progress.finished:
            raise ChunkDecodeError(f"decodes to more than {decoded.size} elements", _NAME)
        return result.reshape(decoded.shape)


@cache
def _standalone() -> Any:
    return import_optional("pcodec.standalone", "pcodec", _NAME)


@lru_cache(maxsize=64)
def _settings(codec: PcodecCodec) -> Any:
    """Return the configuration as an object of the library."""
    library = import_optional("pcodec", "pcodec", _NAME)
    deltas, order = library.DeltaSpec, codec.delta_encoding_order
    match codec.delta_spec:
        case "auto":
            delta = deltas.auto() if order is None else deltas.try_consecutive(order)
        case "try_consecutive":
            delta = deltas.try_consecutive(order)
        case "try_lookback":
            delta = deltas.try_lookback()
        case _:
            delta = deltas.no_op()
    modes = library.ModeSpec
    return library.ChunkConfig(
        compression_level=codec.level,
        mode_spec=modes.auto() if codec.mode_spec == "auto" else modes.classic(),
        delta_spec=delta,
        paging_spec=library.PagingSpec.equal_pages_up_to(codec.equal_pages_up_to),
    )
